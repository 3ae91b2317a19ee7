"""Mutants of the models of the contract."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/protocol/payloads.py",
        "key: str = Field(min_length=1, max_length=255)",
        "key: str = Field(min_length=1, max_length=256)",
        "the key of state.updated has at most 255 characters",
        "tests/engine/run/test_results.py::test_invalid_payload_is_dropped_with_a_reason_and_the_run_continues",
    ),
    Mutant(
        "engine/protocol/payloads.py",
        "model = PAYLOADS.get(type)",
        "model = PAYLOADS.get(type, MessageDelta)",
        "payloads of tool.call.* are not checked",
        "tests/engine/protocol/test_results.py::test_payloads_of_tool_calls_and_unknown_types_are_not_checked",
    ),
    Mutant(
        "engine/protocol/base.py",
        'ConfigDict(extra="forbid")',
        'ConfigDict(extra="ignore")',
        "unknown keys are refused at payload level",
        "tests/engine/run/test_results.py::test_unknown_keys_are_refused_at_payload_level",
    ),
    Mutant(
        "engine/protocol/base.py",
        'ConfigDict(extra="allow")',
        'ConfigDict(extra="forbid")',
        "unknown keys are allowed inside message and chunk",
        "tests/engine/run/test_results.py::test_unknown_keys_are_allowed_inside_message_and_chunk",
    ),
    Mutant(
        "engine/protocol/manifest.py",
        "class RunnerCapabilities(StrictModel):",
        "class RunnerCapabilities(Model):",
        "unknown capability keys are refused",
        "tests/engine/protocol/test_manifest.py::test_unknown_capability_and_permission_keys_are_refused",
    ),
    Mutant(
        "engine/protocol/manifest.py",
        "steering: StrictBool = False",
        "steering: StrictBool = True",
        "every capability is off until it is declared",
        "tests/engine/protocol/test_manifest.py::test_all_capabilities_are_off_by_default",
    ),
    Mutant(
        "engine/protocol/manifest.py",
        '"select-knowledge-bases": FieldType.KNOWLEDGE_BASES',
        '"select-knowledge-bases": FieldType.STRINGS',
        "select-knowledge-bases is an alias of knowledge-base-multi-selector",
        "tests/engine/protocol/test_manifest.py::test_type_aliases_resolve_to_their_types",
    ),
    Mutant(
        "engine/events.py",
        'frozenset({"", "__none__", "__none"})',
        'frozenset({"", "__none__"})',
        "'', __none__ and __none mean no choice",
        "tests/engine/protocol/test_manifest.py::test_three_values_mean_no_choice",
    ),
    Mutant(
        "engine/protocol/event.py",
        'return "webui" if source is EventSource.CONSOLE else source.value',
        "return source.value",
        "the trigger source of the console is webui",
        "tests/engine/protocol/test_context.py::test_trigger_source_is_webui_for_the_console_and_the_event_source_otherwise",
    ),
    Mutant(
        "engine/protocol/context.py",
        '"summary_tail"] = "current_event"',
        '"summary_tail"] = "none"',
        "the mode of the inline policy is current_event",
        "tests/engine/protocol/test_context.py::test_inline_policy_is_current_event_only",
    ),
    Mutant(
        "engine/protocol/content.py",
        "return text_of(self.contents) if self.text is None",
        'return text_of(self.contents, " ") if self.text is None',
        "the user's text parts join without a space",
        "tests/engine/protocol/test_content.py::test_text_parts_of_user_input_are_joined_without_a_space",
    ),
)
