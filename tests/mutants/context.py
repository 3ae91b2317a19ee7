"""Mutants of the context that a runner gets."""

from typing import Final

from tests.mutants.mutant import Mutant

_APIS: Final = "engine/run/call_permissions.py"
_TESTS: Final = "tests/engine/run/test_context.py"

MUTANTS: Final = (
    # The event
    Mutant(
        "engine/run/run_start.py",
        "cursors.history(order.conversation_key, before + 1)",
        "cursors.history(order.conversation_key, before)",
        "latest_cursor is after all earlier lines",
        f"{_TESTS}::test_the_latest_cursor_is_after_all_lines_before_this_event",
    ),
    Mutant(
        "engine/store/row_mapping.py",
        "for each in fields(self)))",
        "for each in fields(self)[:2]))",
        "latest_cursor ignores other bots and workspaces",
        f"{_TESTS}::test_latest_cursor_ignores_other_threads_bots_and_workspaces",
    ),
    Mutant(
        "engine/run/run_start.py",
        "trace_id=order.run_id,",
        "trace_id=envelope.event_id,",
        "trace_id is the run id",
        f"{_TESTS}::test_the_trace_id_is_the_run_id_and_the_context_has_the_hosts_version",
    ),
    Mutant(
        "engine/run/run_start.py",
        "timestamp=epoch_seconds(envelope.time if envelope.time is not None else clock.now())",
        "timestamp=epoch_seconds(clock.now())",
        "the trigger has the event's time",
        f"{_TESTS}::test_trigger_time_is_the_event_time_or_now",
    ),
    Mutant(
        "engine/run/run_start.py",
        'update={"content": None}',
        "update={}",
        "the runner gets references to attachments, not their bytes",
        "tests/engine/intake/test_events.py::test_the_bytes_of_an_attachment_are_read_as_an_artifact_only",
    ),
    # Available calls
    Mutant(
        _APIS,
        'yield "history_page", self._in_conversation(self._permitted("history", "page"))',
        'yield "history_page", self._permitted("history", "page")',
        "history_page needs a conversation",
        f"{_TESTS}::test_available_apis_require_their_permission_and_some_a_conversation",
    ),
    Mutant(
        _APIS,
        'self._permitted("history", "search")',
        'self._permitted("history", "page")',
        "history_search needs its own permission",
        f"{_TESTS}::test_each_permission_allows_its_own_call",
    ),
    Mutant(
        _APIS,
        'yield "event_get", self._permitted("events", "get")',
        'yield "event_get", self._in_conversation(self._permitted("events", "get"))',
        "event_get needs no conversation",
        f"{_TESTS}::test_available_apis_require_their_permission_and_some_a_conversation",
    ),
    Mutant(
        _APIS,
        'self._in_conversation(self._capable("steering"))',
        'self._in_conversation(Clause(True, ""))',
        "steering_pull needs the capability",
        f"{_TESTS}::test_without_permissions_only_state_and_calls_for_runs_are_there",
    ),
    Mutant(
        _APIS,
        "if not policy.state_scopes:",
        "if policy.state_scopes is None:",
        "the state calls need a policy with at least one scope",
        f"{_TESTS}::test_the_state_call_needs_a_policy_with_at_least_one_scope",
    ),
    # Delivery and config
    Mutant(
        "engine/run/run_start.py",
        "delivery.supports_streaming and policy.enable_streaming",
        "policy.enable_streaming",
        "a policy cannot add streaming that the surface lacks",
        f"{_TESTS}::test_a_policy_cannot_add_streaming_that_the_surface_lacks",
    ),
    Mutant(
        "engine/run/run_start.py",
        "min(sizes, default=None)",
        "max(sizes, default=None)",
        "the smaller message size of envelope and policy applies",
        f"{_TESTS}::test_delivery_combines_envelope_and_policy",
    ),
    Mutant(
        "engine/run/prepare.py",
        "{**binding.runner_config, **options.config}",
        "{**options.config, **binding.runner_config}",
        "settings of the user override the agent's config",
        f"{_TESTS}::test_config_is_that_of_the_binding_with_defaults_of_the_form",
    ),
    # Deadline
    Mutant(
        "engine/run/run_order.py",
        "DEFAULT_TIMEOUT_SECONDS: Final = 300.0",
        "DEFAULT_TIMEOUT_SECONDS: Final = 600.0",
        "the default deadline is 300 s",
        f"{_TESTS}::test_deadline_is_the_configured_timeout_or_300_s_and_none_for_other_values",
    ),
    Mutant(
        "engine/run/run_order.py",
        "not 0 < value < _MAX_TIMEOUT_SECONDS",
        "not 0 <= value < _MAX_TIMEOUT_SECONDS",
        "a timeout of 0 means no deadline",
        f"{_TESTS}::test_deadline_is_the_configured_timeout_or_300_s_and_none_for_other_values",
    ),
    Mutant(
        "engine/run/run_order.py",
        "if isinstance(value, bool) or not isinstance",
        "if not isinstance",
        "a timeout that is not a number means no deadline",
        f"{_TESTS}::test_deadline_is_the_configured_timeout_or_300_s_and_none_for_other_values",
    ),
    Mutant(
        "engine/run/run_start.py",
        "now + int(order.timeout * 1_000_000)",
        "now + int(order.timeout * 1_000)",
        "the context has the deadline",
        f"{_TESTS}::test_deadline_is_in_the_context_and_in_the_run_row",
    ),
)
