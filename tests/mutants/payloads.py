"""Mutants of what a runner receives: times, references to artifacts, search filters and parameters."""

from typing import Final

from tests.mutants.mutant import Mutant

_CLOCK: Final = "engine/clock.py"
_START: Final = "engine/run/run_start.py"
_CALLS: Final = "engine/access/calls"
_KINDS: Final = "engine/journal/kinds.py"
_TRANSCRIPT: Final = "engine/store/transcript.py"
_PARAMS: Final = "engine/run/params.py"
_CONTRACT: Final = "tests/engine/protocol/test_payloads.py::TestPayloads::test_each_is_of_the_contract"
_OLD_CONTEXT: Final = "tests/engine/journal/test_kinds.py"
_REFERENCES: Final = "tests/engine/access/test_artifact_references.py"
_UNREADABLE: Final = f"{_REFERENCES}::test_a_reference_to_an_artifact_that_the_run_cannot_read_has_only_its_id"
_PARAM_TESTS: Final = "tests/engine/run/test_params.py"
_PAGING: Final = "tests/engine/access/test_paging.py"

MUTANTS: Final = (
    # Times
    Mutant(
        _CLOCK,
        "else microseconds // 1_000_000",
        "else microseconds // 1_000",
        "a runner gets times in seconds",
        _CONTRACT,
    ),
    Mutant(
        _CLOCK,
        "else microseconds / 1_000_000",
        "else microseconds / 1_000",
        "the deadline is in seconds",
        "tests/engine/run/test_context.py::test_deadline_is_in_the_context_and_in_the_run_row",
    ),
    Mutant(
        f"{_CALLS}/run.py",
        '"deadline_at": exact_epoch_seconds(run.deadline_at)',
        '"deadline_at": epoch_seconds(run.deadline_at)',
        "run_get has the deadline as a float",
        _CONTRACT,
    ),
    Mutant(
        f"{_CALLS}/run.py",
        '"at": epoch_seconds(entry.at)',
        '"at": entry.at',
        "an entry has its time in seconds in run_events_page",
        _CONTRACT,
    ),
    Mutant(
        f"{_CALLS}/history.py",
        '"created_at": epoch_seconds(line.created_at)',
        '"created_at": line.created_at',
        "a line has its time in seconds",
        _CONTRACT,
    ),
    Mutant(
        f"{_CALLS}/event.py",
        '"event_time": epoch_seconds(row.event_time)',
        '"event_time": row.event_time',
        "an event record has its time in seconds",
        _CONTRACT,
    ),
    Mutant(
        f"{_CALLS}/artifact.py",
        '"created_at": epoch_seconds(row.created_at)',
        '"created_at": row.created_at',
        "artifact metadata has its time in seconds",
        _CONTRACT,
    ),
    Mutant(
        f"{_CALLS}/steering.py",
        '"claimed_at": epoch_seconds(item.created_at)',
        '"claimed_at": item.created_at',
        "a steering item has its time in seconds",
        _CONTRACT,
    ),
    *(
        Mutant(f"engine/queue/{name}.py", '"claimed_at": epoch_seconds(', '"claimed_at": int(', rule, test)
        for name, rule, test in (
            ("claims", "the event of a claimed message has claimed_at in seconds", _CONTRACT),
            ("pulls", "the event of an injected message has claimed_at in seconds", _CONTRACT),
            (
                "leftovers",
                "the event of a dropped message has claimed_at in seconds",
                "tests/engine/queue/test_leftovers.py"
                "::test_messages_still_queued_when_a_run_ends_are_dropped_with_the_reason",
            ),
        )
    ),
    Mutant(
        _START,
        "else rfc3339(event.event_time * 1_000_000)",
        "else event.event_time * 1_000",
        "the event of a past run has its time again",
        "tests/engine/api/test_state_and_events.py::test_past_event_is_read_back_with_its_bytes",
    ),
    Mutant(
        _KINDS,
        "if isinstance(written := values.get(name), str):",
        "if isinstance(written := values.get(name), bytes):",
        "times of a context that was recorded as text are read as numbers",
        f"{_OLD_CONTEXT}::test_times_of_a_context_that_was_recorded_as_text_are_read_as_numbers",
    ),
    Mutant(
        "engine/api/past_event.py",
        "AgentRunContext.model_validate(restored.context)",
        "AgentRunContext.model_validate(orjson.loads(found[0].data)['context'])",
        "the event of a run that was recorded with times as text is read back",
        "tests/engine/api/test_state_and_events.py"
        "::test_event_of_a_run_that_was_recorded_with_times_as_text_is_read_back",
    ),
    Mutant(
        "engine/store/event_log.py",
        'func.json_type(column, _CLAIMED_AT) == "text"',
        'func.json_type(column, _CLAIMED_AT) == "blob"',
        "claimed_at of an older event is sent as a number",
        f"{_PAGING}::TestEvents::test_a_claim_that_was_stored_with_its_time_as_text_is_read_with_a_number",
    ),
    # References to artifacts
    Mutant(
        _TRANSCRIPT,
        "yield _references().label(column.name)",
        "yield column",
        "references to artifacts are objects",
        f"{_REFERENCES}::test_a_reference_has_the_facts_of_its_artifact_in_the_order_of_the_line",
    ),
    Mutant(
        _TRANSCRIPT,
        "for each in fields(ConversationKey)),\n        or_",
        "for each in fields(ConversationKey)[1:]),\n        or_",
        "a reference has no facts of an artifact of another conversation",
        f"{_UNREADABLE}[conversation]",
    ),
    Mutant(
        _TRANSCRIPT,
        "artifacts.c.expires_at > bindparam",
        "artifacts.c.expires_at >= bindparam",
        "a reference has no facts of an expired artifact",
        f"{_UNREADABLE}[expired]",
    ),
    Mutant(
        _TRANSCRIPT,
        "        is_not_internal(),",
        "        artifacts.c.source.is_not(None),",
        "a reference has no facts of an artifact of the host",
        f"{_UNREADABLE}[internal]",
    ),
    Mutant(
        _TRANSCRIPT,
        "func.substr(column, 1, MAX_REFERENCE_CHARS)",
        "func.substr(column, 1)",
        "long names are cut in references",
        f"{_REFERENCES}::test_long_names_are_cut_in_references",
    ),
    # Search filters and cursors
    Mutant(
        f"{_CALLS}/history.py",
        "    if unknown and not run.has_ended:",
        "    if len(unknown) > 1 and not run.has_ended:",
        "unknown filters are ignored with a warning",
        "tests/engine/access/test_search.py::test_unknown_filters_are_ignored_with_a_warning_that_names_them",
    ),
    Mutant(
        "engine/protocol/pages.py",
        "    cursor: str | None = None\n\n\nclass RunEventPage",
        "    place: str | None = None\n\n\nclass RunEventPage",
        "an entry of run_events_page has its cursor for the author",
        f"{_PAGING}::TestOwnJournal::test_a_page_without_a_cursor_starts_at_the_first_entry",
    ),
    # Parameters
    Mutant(
        _PARAMS,
        'if name.startswith("_"):',
        'if name.startswith("__"):',
        "a runner does not see parameters whose names begin with _",
        f"{_PARAM_TESTS}::test_internal_and_secret_names_are_left_out_with_a_warning[_internal]",
    ),
    Mutant(
        _PARAMS,
        "    if is_secret_name(name):",
        "    if name in ():",
        "a runner does not see parameters with secret-like names",
        f"{_PARAM_TESTS}::test_internal_and_secret_names_are_left_out_with_a_warning[api_key]",
    ),
    Mutant(
        _PARAMS,
        'passed |= plain("params", {name: value}, _LEVEL)',
        "passed |= {name: value}",
        "a runner does not see parameters that are not JSON",
        f"{_PARAM_TESTS}::test_a_value_that_is_not_json_is_left_out_with_a_warning",
    ),
    Mutant(
        "engine/run/prepare.py",
        "*left_out, *unpassed)",
        "*left_out)",
        "each parameter that is left out has a warning",
        f"{_PARAM_TESTS}::test_each_parameter_that_is_left_out_has_its_own_warning",
    ),
    Mutant(
        "console/cli/options.py",
        "if (reason := reason_not_passed(name)) is not None:",
        "if (reason := reason_not_passed(name)) is not None and not name:",
        "--param refuses a name that no runner sees",
        "tests/console/cli/test_run.py::test_parameters_that_a_runner_never_sees_are_refused",
    ),
    Mutant(
        "console/cli/scheduled_messages.py",
        "replace(run_options, params={})",
        "run_options",
        "parameters belong to the first event only",
        "tests/console/cli/test_run.py::test_parameters_are_json_or_text_and_reach_the_runner",
    ),
    # For authors who come from LangBot
    Mutant(
        "engine/protocol/runner.py",
        "    def get_run_api(self",
        "    def get_api(self",
        "a runner has get_run_api",
        "tests/engine/protocol/test_surface.py::test_get_run_api_of_the_runner_is_the_api_of_its_context",
    ),
)
