"""Mutants of envelopes, agents and the binding of an event."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/project/binding.py",
        "if len(candidates) > 1:",
        "if len(candidates) > 2:",
        "more than one binding is an error, never a silent choice",
        "tests/engine/project/test_binding.py::test_several_matching_agents_raise_an_error_with_their_names",
    ),
    Mutant(
        "engine/project/agents.py",
        "return self.enabled and self.event_filter",
        "return self.event_filter",
        "a disabled agent handles no event",
        "tests/engine/project/test_binding.py::test_disabled_agent_handles_nothing",
    ),
    Mutant(
        "engine/project/event_filter.py",
        "if envelope.event_type not in self.event_types:",
        "if not self.event_types:",
        "an agent handles only its event types",
        "tests/engine/project/test_binding.py::test_the_one_agent_that_handles_the_event_is_chosen",
    ),
    Mutant(
        "engine/project/agents.py",
        "f\"agent_{agent.agent_id or 'default'}_{agent.runner_id}\"",
        'f"agent_{agent.agent_id or id(agent)}_{agent.runner_id}"',
        "a binding id is stable, so that state survives a restart",
        "tests/engine/project/test_binding.py::test_binding_id_is_derived_from_agent_and_runner",
    ),
    Mutant(
        "engine/project/agents.py",
        "runner_config=runner_config or {}, event_types=ALL_EVENT_TYPES)",
        "runner_config=runner_config or {})",
        "an implicit agent handles all six event types",
        "tests/engine/project/test_binding.py::test_implicit_agent_handles_all_six_event_types",
    ),
    Mutant(
        "engine/project/agents.py",
        "allow_workspace_storage: bool = False",
        "allow_workspace_storage: bool = True",
        "workspace storage is off unless the policy allows it",
        "tests/engine/project/test_binding.py::test_policies_have_the_default_values_of_the_contract",
    ),
    Mutant(
        "engine/intake/envelope.py",
        "return self.event_type is EventType.MESSAGE_RECEIVED",
        "return bool(self.input.to_text())",
        "an event that is not a message writes no user line",
        "tests/engine/intake/test_events.py::test_an_event_that_is_no_message_writes_no_user_line",
    ),
    Mutant(
        "engine/intake/envelope.py",
        'ConfigDict(extra="forbid", frozen=True)',
        'ConfigDict(extra="ignore", frozen=True)',
        "an envelope has the fields of the contract and no others",
        "tests/engine/intake/test_envelope.py::test_a_bad_event_names_the_file_and_the_field",
    ),
    Mutant(
        "engine/intake/envelope.py",
        "event_type: EventType\n",
        "event_type: str\n",
        "a platform's name for an event never becomes an event type",
        "tests/engine/intake/test_envelope.py::test_platform_names_never_become_event_types_or_sources",
    ),
    Mutant(
        "engine/intake/envelope.py",
        "if SESSION_ID.fullmatch(text) is None:",
        "if SESSION_ID.match(text) is None:",
        "a session id has no control characters",
        "tests/engine/intake/test_envelope.py::test_conversation_id_has_1_to_255_characters_and_no_control_characters",
    ),
    Mutant(
        "engine/intake/envelope.py",
        "return yaml.safe_load(text)",
        "return yaml.unsafe_load(text)",
        "YAML of the user is loaded safely",
        "tests/engine/intake/test_envelope.py::test_yaml_is_loaded_safely",
    ),
    Mutant(
        "engine/intake/attachments.py",
        "if content is not None and len(content) > INLINE_LIMIT:",
        "if content is not None and len(content) > 2 * INLINE_LIMIT:",
        "an inline attachment has at most 1 MiB",
        "tests/engine/intake/test_events.py::test_an_attachment_that_cannot_be_kept_is_refused_before_anything_is_recorded",
    ),
    Mutant(
        "engine/intake/attachments.py",
        "if len(raw) <= DATA_LIMIT:",
        "if raw:",
        "a large raw payload goes to an artifact and raw_ref, never into data",
        "tests/engine/intake/test_events.py::test_a_large_raw_payload_goes_to_an_artifact_and_raw_ref",
    ),
    Mutant(
        "engine/run/store_event.py",
        "elif attachment.url:",
        "elif attachment.url and not attachment.id:",
        "an attachment is a blob, else a url, else a platform reference",
        "tests/engine/intake/test_events.py::test_an_attachment_becomes_a_blob_else_a_url_else_a_reference_else_metadata",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "if known is not None or error is not None:",
        "if (known is not None and known.run_id is None) or error is not None:",
        "an event id that was seen before is answered with its first run",
        "tests/engine/intake/test_events.py::test_a_repeated_event_id_is_answered_with_its_first_run",
    ),
    Mutant(
        "engine/store/event_log.py",
        "WHERE event_id = ? AND run_id IS NULL",
        "WHERE event_id = ?",
        "an event keeps its first run",
        "tests/engine/store/test_event_log_and_transcript.py::test_an_event_keeps_its_first_run",
    ),
)
