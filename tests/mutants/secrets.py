"""Mutants of the masking of secrets, and of what a runner may learn about the data of others."""

from typing import Final

from tests.mutants.mutant import Mutant

_MASK: Final = "tests/engine/journal/test_secret_mask.py"
_DELTAS: Final = "tests/engine/journal/test_delta_mask.py"
_SPLIT: Final = "test_a_split_secret_is_masked_and_no_other_text_is_lost"
_BEFORE_THE_END: Final = "test_text_that_only_looked_like_a_secret_is_recorded_before_the_end"

MUTANTS: Final = (
    Mutant(
        "engine/journal/secret_mask.py",
        "        if _NUMBER_NAME.search(place):",
        "        if False:",
        "a number of the config is masked",
        f"{_MASK}::test_a_number_of_the_config_is_masked_wherever_it_is_recorded",
    ),
    Mutant(
        "engine/journal/secret_mask.py",
        "return self._mark_of.get(str(value), value)",
        "return value",
        "a secret number is masked where it is recorded as a number",
        f"{_MASK}::test_a_number_of_the_config_is_masked_wherever_it_is_recorded",
    ),
    Mutant(
        "engine/journal/secret_mask.py",
        "    for pattern in _CREDENTIALS:",
        "    for pattern in _CREDENTIALS[:0]:",
        "a credential inside a value is masked whatever the value's name",
        f"{_MASK}::test_a_password_in_an_address_of_the_environment_is_masked",
    ),
    Mutant(
        "engine/journal/secret_mask.py",
        "end = max(done, len(text) - self._open_length(text[open_from:]))",
        "end = len(text)",
        "the beginning of a secret is not recorded before the rest of it is known",
        f"{_DELTAS}::test_a_secret_split_over_two_deltas_is_masked_in_journal_and_transcript",
    ),
    Mutant(
        "engine/journal/delta_mask.py",
        '"content": _with_text(content, new), "all_content": shown}',
        '"content": _with_text(content, new)}',
        "masked snapshots are still read as snapshots",
        f"{_DELTAS}::{_SPLIT}[snapshots]",
    ),
    Mutant(
        "engine/journal/delta_mask.py",
        "if shown and not self._is_clear:",
        "if False:",
        "changed fragments are not read as snapshots",
        f"{_DELTAS}::{_SPLIT}[fragments]",
    ),
    Mutant(
        "engine/run/live.py",
        "if self._delta_mask.holds_text and checked.kind != ResultType.MESSAGE_DELTA:",
        "if False:",
        "text that is held back is recorded before the next result",
        f"{_DELTAS}::{_BEFORE_THE_END}[completed]",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        "live.record_held_text()",
        "pass",
        "text that is held back is recorded before the end of the run",
        f"{_DELTAS}::{_BEFORE_THE_END}[no end]",
    ),
    Mutant(
        "engine/access/calls/artifact.py",
        "    except NotFound:\n        raise not_found(",
        "    except NotFound:\n        raise KeyError(",
        "a foreign id looks like one that does not exist",
        "tests/engine/access/test_guards.py::test_a_foreign_id_and_one_that_does_not_exist_look_the_same",
    ),
    Mutant(
        "engine/run/normalise.py",
        '{"value": _shortened(redact(value))}',
        '{"value": _shortened(value)}',
        "a result without a type is recorded without inline base64",
        "tests/engine/run/test_results.py::test_a_result_without_a_type_is_recorded_without_inline_base64",
    ),
)
