"""Mutants of usage by origin, the format number of recordings, the table of entry kinds, and older records."""

from typing import Final

from tests.mutants.mutant import Mutant

_RESOURCES: Final = "tests/engine/access/test_resources.py"
_NEVER_ADDED: Final = f"{_RESOURCES}::test_usage_seen_by_the_host_and_claimed_by_the_runner_are_never_added"
_RESULTS: Final = "tests/engine/run/test_results.py"
_KEPT: Final = f"{_RESULTS}::test_result_keeps_its_usage_as_the_runner_sent_it"
_LARGE: Final = f"{_RESULTS}::test_usage_that_is_too_large_is_not_recorded_and_its_result_says_so"
_BY_ORIGIN: Final = (
    "tests/engine/journal/test_kinds.py::test_usage_is_read_by_origin_and_amounts_without_an_origin_are_a_sum"
)
_PANE: Final = "tests/console/inspector/test_inspector_pane.py"
_READING: Final = "tests/console/cli/test_reading.py"
_RECORDING: Final = "tests/engine/journal/test_recording.py"
_MISSING: Final = "tests/engine/journal/test_missing_facts.py"

MUTANTS: Final = (
    Mutant(
        "engine/access/calls/model.py",
        "run.usage_seen.add(reply.usage)",
        "run.usage_claimed.add(reply.usage)",
        "usage seen by the host and claimed by the runner are never added",
        _NEVER_ADDED,
    ),
    Mutant(
        "engine/access/calls/run.py",
        '"usage": Usage.read(row.usage).claimed or None',
        '"usage": row.usage',
        "a runner reads the usage that it claims, as a flat object",
        _NEVER_ADDED,
    ),
    Mutant(
        "engine/access/calls/run.py",
        '"usage": dict(run.usage.claimed) or None',
        '"usage": dict(run.usage.seen) or None',
        "a runner does not read the usage that the host has seen",
        _NEVER_ADDED,
    ),
    Mutant(
        "engine/run/live.py",
        "if checked.applies:\n            self.usage_claimed.add(claim)",
        "if checked is not None:\n            self.usage_claimed.add(claim)",
        "the usage of a result that is not applied does not count",
        _KEPT,
    ),
    Mutant(
        "engine/journal/recorder.py",
        "usage = self._marks.cover(usage)",
        "usage = str(usage)",
        "secrets are masked in the usage of a result",
        _KEPT,
    ),
    Mutant(
        "engine/run/live.py",
        "usage=checked.usage,",
        "usage=None,",
        "a result keeps its usage",
        _KEPT,
    ),
    Mutant(
        "engine/run/normalise.py",
        "if refusal is None and size > MAX_USAGE_BYTES:",
        "if refusal is None and size > MAX_RESULT_BYTES:",
        "the recorded usage of a result is bounded",
        _LARGE,
    ),
    Mutant(
        "engine/run/live.py",
        "return checked._replace(outcome=checked.outcome or Outcome.WARNED, reason=reason)",
        "return checked",
        "a result says that its usage is not recorded",
        _LARGE,
    ),
    Mutant(
        "engine/journal/kinds.py",
        "return cls(combined=found)",
        "return cls(claimed=found)",
        "the usage of an older run is a sum of both figures",
        _BY_ORIGIN,
    ),
    Mutant(
        "engine/store/migrations/versions/v0013_record.py",
        "json_object('sum', json(usage))",
        "json_object('claimed', json(usage))",
        "the usage of an older run is upgraded to a sum",
        "tests/engine/store/test_upgrade.py::test_usage_of_an_older_run_becomes_a_sum",
    ),
    Mutant(
        "console/model/journal/usage_words.py",
        '("claimed", usage.claimed)',
        '("seen", usage.claimed)',
        "the end of a run names both figures of its usage",
        "tests/console/cli/test_narrator.py::test_end_of_a_run_has_both_figures_of_its_usage",
    ),
    Mutant(
        "console/data/inspector_loader.py",
        "Usage() if entry.usage is None else Usage(claimed=parse_data(entry.usage))",
        "Usage()",
        "the Event tab shows the usage that a result claims",
        f"{_PANE}::test_event_tab_shows_what_a_result_claims_and_what_the_run_used",
    ),
    # Recordings
    Mutant(
        "console/cli/show.py",
        'recording_header(facts, facts.pop("authorization"), missing)',
        'facts | {"missing": missing}',
        "a recording begins with its format, run and grants",
        f"{_READING}::test_recording_begins_with_its_format_run_and_grants",
    ),
    Mutant(
        "engine/journal/recording.py",
        "if number > FORMAT:",
        "if number > FORMAT + 1:",
        "a recording of a newer format is refused",
        f"{_RECORDING}::test_recording_of_a_newer_format_is_refused",
    ),
    Mutant(
        "engine/journal/recording.py",
        "if type(number) is not int or number < 1:",
        "if not isinstance(number, int):",
        "a line without a format number is no recording",
        f"{_RECORDING}::test_line_without_a_format_is_no_recording",
    ),
    # The record and its versions
    Mutant(
        "engine/run/orchestrator.py",
        '"record": RECORD_VERSION,',
        '"record": RECORD_VERSION - 1,',
        "the first entry of a run has the version of its record",
        f"{_READING}::test_recording_begins_with_its_format_run_and_grants",
    ),
    Mutant(
        "engine/journal/kinds.py",
        'self.record = _optional_integer(data.get("record")) or 1',
        'self.record = _optional_integer(data.get("version")) or 1',
        "the table of kinds has the fields that are read",
        "tests/engine/journal/test_documented_kinds.py::test_table_has_the_fields_that_each_payload_reads",
    ),
    Mutant(
        "engine/journal/missing_facts.py",
        "if started.record < fact.since",
        "if started.record <= fact.since",
        "a record of this version lacks nothing",
        f"{_MISSING}::test_record_of_this_version_lacks_nothing",
    ),
    Mutant(
        "engine/journal/missing_facts.py",
        "and not (started.is_external and fact.is_of_process)",
        "and not started.is_external",
        "an older record of an external run lacks what its results could have had",
        f"{_MISSING}::test_older_record_lacks_what_the_run_could_have_had",
    ),
    Mutant(
        "engine/journal/missing_facts.py",
        "and (fact is not _SUM or usage.combined)",
        "",
        "a run without usage does not lack its figures",
        f"{_MISSING}::test_older_record_lacks_what_the_run_could_have_had",
    ),
    Mutant(
        "console/cli/show.py",
        "elif missing:",
        "elif not missing:",
        "a run of an older version says what it lacks",
        f"{_READING}::test_run_of_an_older_version_is_shown_and_says_what_it_lacks",
    ),
    Mutant(
        "console/ui/inspector/tabs.py",
        "[self._missing(data.missing)] if data.missing else []",
        "[]",
        "the Context tab lists what an older record lacks",
        f"{_PANE}::test_context_tab_lists_what_an_older_record_lacks",
    ),
)
