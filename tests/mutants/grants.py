"""Mutants of effective access: permissions ∩ policy ∩ config and scope."""

from typing import Final

from tests.mutants.mutant import Mutant

_FILE: Final = "engine/run/grants.py"
_TESTS: Final = "tests/engine/run/test_grants.py"

MUTANTS: Final = (
    Mutant(
        _FILE,
        "language = [operation for operation in _LANGUAGE_MODEL_OPERATIONS if operation in permitted]",
        "language = list(_LANGUAGE_MODEL_OPERATIONS)",
        "a language model has only the operations that the manifest permits",
        f"{_TESTS}::test_a_model_has_only_the_operations_that_the_manifest_permits",
    ),
    Mutant(
        _FILE,
        'rerank = ["rerank"] if "rerank" in permitted else []',
        'rerank = ["rerank"]',
        "a rerank model needs the permission rerank",
        f"{_TESTS}::test_each_kind_of_resource_has_only_the_operations_that_the_manifest_permits",
    ),
    Mutant(
        _FILE,
        "exists = resource is not None and resource.model_type == kind",
        "exists = resource is not None",
        "rerank models come only from rerank selectors",
        f"{_TESTS}::test_the_policys_extra_models_are_language_models_with_invoke_and_stream",
    ),
    Mutant(
        _FILE,
        'if not self._has_capability("tool_calling", names):',
        'if not self._has_capability("tool_calling", names) and not names:',
        "tools need the capability tool_calling",
        f"{_TESTS}::test_tools_need_the_capability_tool_calling",
    ),
    Mutant(
        _FILE,
        "operations: list[str] = list(self._manifest.permissions.tools)",
        'operations: list[str] = ["detail", "call"]',
        "a tool has only the operations that the manifest permits",
        f"{_TESTS}::test_each_kind_of_resource_has_only_the_operations_that_the_manifest_permits",
    ),
    Mutant(
        _FILE,
        'if not self._has_capability("knowledge_retrieval", tuple(wanted)):',
        'if not self._has_capability("knowledge_retrieval", tuple(wanted)) and not wanted:',
        "knowledge bases need the capability knowledge_retrieval",
        f"{_TESTS}::test_knowledge_bases_need_the_capability_knowledge_retrieval",
    ),
    Mutant(
        _FILE,
        "operations: list[str] = list(self._manifest.permissions.knowledge_bases)",
        'operations: list[str] = ["list", "retrieve"]',
        "a knowledge base has only the operations that the manifest permits",
        f"{_TESTS}::test_each_kind_of_resource_has_only_the_operations_that_the_manifest_permits",
    ),
    Mutant(
        _FILE,
        "if not self._manifest.capabilities.skill_authoring:",
        "if not self._manifest.capabilities:",
        "skills need the capability skill_authoring",
        f"{_TESTS}::test_skills_have_no_operations_and_need_the_capability_skill_authoring",
    ),
    Mutant(
        _FILE,
        "for name in allowed if allowed is not None else tuple(self._catalog.skills):",
        "for name in allowed or tuple(self._catalog.skills):",
        "an empty list of skills grants none",
        f"{_TESTS}::test_an_empty_list_of_skills_grants_none",
    ),
    Mutant(
        _FILE,
        '["config"] if "config" in self._manifest.permissions.files else []',
        '["config"]',
        "files need the permission",
        f"{_TESTS}::test_files_need_the_permission",
    ),
    Mutant(
        _FILE,
        '"plugin" in permitted and self._policy.allow_plugin_storage',
        '"plugin" in permitted',
        "plugin storage needs the policy",
        "tests/engine/run/test_context.py::test_storage_needs_permission_and_policy",
    ),
    Mutant(
        _FILE,
        '"workspace" in permitted and self._policy.allow_workspace_storage',
        "self._policy.allow_workspace_storage",
        "workspace storage needs the permission",
        "tests/engine/run/test_context.py::test_storage_needs_permission_and_policy",
    ),
    Mutant(
        _FILE,
        "self.warnings.append(f\"{kind.replace('_', ' ')} {ident!r}, named by {clause}",
        "str(f\"{kind.replace('_', ' ')} {ident!r}, named by {clause}",
        "an id that does not exist is left out with a warning",
        f"{_TESTS}::test_an_id_that_does_not_exist_is_left_out_with_a_warning",
    ),
    Mutant(
        "engine/run/prepare.py",
        "move_large_data_out(envelope.model_copy(deep=True), ",
        "move_large_data_out(envelope, ",
        "the input of a run is frozen by a deep copy",
        "tests/engine/run/test_context.py::test_changes_after_submitting_do_not_affect_the_run",
    ),
)
