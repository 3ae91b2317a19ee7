"""The grants of a run: manifest permissions ∩ binding policy ∩ config and scope, decided once and then frozen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask
from engine.project.agents import AgentBinding
from engine.protocol.context import AvailableApis
from engine.protocol.manifest import AgentRunnerManifest
from engine.protocol.resources import (
    FileResource,
    KnowledgeBaseResource,
    ModelResource,
    Resources,
    SkillResource,
    StorageResource,
    ToolResource,
)
from engine.resources.catalog import Catalog
from engine.resources.files import file_exists
from engine.run.call_permissions import Clause, available_apis, decide_call_permissions
from engine.run.scopes_of_run import resolve_scopes
from engine.runners.config_form import ConfigForm
from engine.runners.descriptor import RunnerDescriptor
from engine.store.scope_identity import ScopeIdentity

_LANGUAGE_MODEL_OPERATIONS: Final = ("invoke", "stream")


@dataclass(frozen=True, slots=True)
class Grants:
    """The frozen authorization of a run. Nothing else decides what the run may do."""

    resources: Resources
    apis: Mapping[str, Clause]
    """For every call of the run-scoped API: whether it is allowed, and the clause that decides."""
    available_apis: AvailableApis
    plugin: str
    """`author/name`; the connection must belong to it."""
    runner_id: str
    binding_id: str
    conversation_id: str | None
    thread_id: str | None
    bot_id: str | None
    workspace_id: str | None
    state_scopes: Mapping[str, ScopeIdentity]
    """The scopes that are enabled and have an identity."""
    scopes_off: Mapping[str, str]
    """Every other scope, with the reason why it cannot be used."""
    operations: Mapping[str, frozenset[str]]
    """Operations granted on each resource, by `model:ID`, `tool:NAME` …"""
    clauses: Mapping[str, str]
    """The clause that granted each resource, by the same names."""

    def snapshot(self, mask: SecretMask) -> dict[str, Any]:
        """Return the grants as they are stored with the run and shown.

        Ids and keys of state scopes are not masked: they contain no secret, and later reads look for them.
        """
        return {
            "resources": mask.cover_value(self.resources.model_dump(mode="json")),
            "available_apis": self.available_apis.model_dump(mode="json"),
            "apis": {name: {"allowed": allowed, "clause": words} for name, (allowed, words) in self.apis.items()},
            "plugin": self.plugin,
            "runner_id": self.runner_id,
            "binding_id": self.binding_id,
            "conversation_id": self.conversation_id,
            "thread_id": self.thread_id,
            "bot_id": self.bot_id,
            "workspace_id": self.workspace_id,
            "state_scopes": {scope: identity.key for scope, identity in self.state_scopes.items()},
            "scopes_off": dict(self.scopes_off),
            "operations": {mask.cover_words(name): sorted(each) for name, each in self.operations.items()},
            "clauses": mask.cover_value(dict(self.clauses)),
        }


def compute_grants(
    runner: RunnerDescriptor,
    binding: AgentBinding,
    envelope: EventEnvelope,
    config: Mapping[str, Any],
    catalog: Catalog,
    file_roots: tuple[Path, ...] = (),
) -> tuple[Grants, tuple[str, ...]]:
    """Return the grants of a run, and a warning for every id that does not exist. Files are checked on disk."""
    manifest = runner.manifest
    builder = _GrantBuilder(manifest, binding, ConfigForm(manifest), config, catalog, file_roots)
    resources = Resources(
        models=list(builder.models()),
        tools=list(builder.tools()),
        knowledge_bases=list(builder.knowledge_bases()),
        skills=list(builder.skills()),
        files=list(builder.files()),
        storage=builder.storage(),
        platform_capabilities={},
    )
    on, off = resolve_scopes(envelope, binding)
    apis = decide_call_permissions(manifest, binding, envelope)
    grants = Grants(
        resources=resources,
        apis=apis,
        available_apis=available_apis(apis),
        plugin=runner.id.plugin_id,
        runner_id=str(runner.id),
        binding_id=binding.binding_id,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        state_scopes=on,
        scopes_off=off,
        operations=builder.operations,
        clauses=builder.clauses,
    )
    return grants, tuple(builder.warnings)


class _GrantBuilder:
    """Collects operations, clauses and warnings, one kind of resource after another."""

    def __init__(
        self,
        manifest: AgentRunnerManifest,
        binding: AgentBinding,
        form: ConfigForm,
        config: Mapping[str, Any],
        catalog: Catalog,
        file_roots: tuple[Path, ...],
    ) -> None:
        self._manifest = manifest
        self._policy = binding.resource_policy
        self._form = form
        self._config = config
        self._catalog = catalog
        self._file_roots = file_roots
        self.operations: dict[str, frozenset[str]] = {}
        self.clauses: dict[str, str] = {}
        self.warnings: list[str] = []

    def models(self) -> Iterator[ModelResource]:
        permitted = self._manifest.permissions.models
        language = [operation for operation in _LANGUAGE_MODEL_OPERATIONS if operation in permitted]
        chosen = self._with_clause(self._form.language_models(self._config), "the runner's config")
        extra = self._with_clause(self._policy.allowed_model_uuids, "resource_policy.allowed_model_uuids")
        for model_id, clause in _merge(chosen, extra).items():
            yield from self._model(model_id, clause, "llm", language)
        rerank = ["rerank"] if "rerank" in permitted else []
        for model_id, clause in self._with_clause(self._form.rerank_models(self._config), "the runner's config"):
            yield from self._model(model_id, clause, "rerank", rerank)

    def tools(self) -> Iterator[ToolResource]:
        names = self._policy.allowed_tool_names or ()
        if not self._has_capability("tool_calling", names):
            return
        operations: list[str] = list(self._manifest.permissions.tools)
        for name, clause in self._with_clause(names, "resource_policy.allowed_tool_names"):
            resource = self._catalog.tools.get(name)
            if (
                self._grant(f"tool:{name}", operations, clause, "permissions.tools", exists=resource is not None)
                and resource
            ):
                yield ToolResource(
                    tool_name=name,
                    tool_type=resource.tool_type,
                    description=resource.description,
                    operations=operations,
                )

    def knowledge_bases(self) -> Iterator[KnowledgeBaseResource]:
        chosen = self._with_clause(self._form.knowledge_bases(self._config), "the runner's config")
        extra = self._with_clause(self._policy.allowed_kb_uuids, "resource_policy.allowed_kb_uuids")
        wanted = _merge(chosen, extra)
        if not self._has_capability("knowledge_retrieval", tuple(wanted)):
            return
        operations: list[str] = list(self._manifest.permissions.knowledge_bases)
        for kb_id, clause in wanted.items():
            resource = self._catalog.knowledge_bases.get(kb_id)
            name = f"knowledge_base:{kb_id}"
            if (
                self._grant(name, operations, clause, "permissions.knowledge_bases", exists=resource is not None)
                and resource
            ):
                yield KnowledgeBaseResource(
                    kb_id=kb_id, kb_name=resource.kb_name, kb_type=resource.kb_type, operations=operations
                )

    def skills(self) -> Iterator[SkillResource]:
        if not self._manifest.capabilities.skill_authoring:
            return
        allowed = self._policy.allowed_skill_names
        for name in allowed if allowed is not None else tuple(self._catalog.skills):
            resource = self._catalog.skills.get(name)
            clause = "resource_policy.allowed_skill_names" if allowed is not None else "every visible skill"
            if self._grant(f"skill:{name}", ["activate"], clause, "", exists=resource is not None) and resource:
                yield SkillResource(
                    skill_name=name, display_name=resource.display_name or name, description=resource.description
                )

    def files(self) -> Iterator[FileResource]:
        operations = ["config"] if "config" in self._manifest.permissions.files else []
        for chosen in self._form.files(self._config):
            file = _file_resource(chosen, operations)
            if file is None:
                self.warnings.append("a file in the runner's config has no file_key; left out")
            elif not file_exists(file.file_id, self._file_roots):
                self.warnings.append(
                    f"file {file.file_id!r:.200}, named by the runner's config, {self._missing_file_text()}"
                )
            elif self._grant(f"file:{file.file_id}", operations, "the runner's config", "permissions.files"):
                yield file

    def _missing_file_text(self) -> str:
        if self._file_roots:
            return "does not exist under the project's file_roots; left out"
        return "is left out: add its folder to `file_roots` in trackside.yaml"

    def storage(self) -> StorageResource:
        permitted = self._manifest.permissions.storage
        granted = {
            "plugin": "plugin" in permitted and self._policy.allow_plugin_storage,
            "workspace": "workspace" in permitted and self._policy.allow_workspace_storage,
        }
        for kind, is_granted in granted.items():
            if is_granted:
                self.operations[f"storage:{kind}"] = frozenset({"get", "set", "delete", "keys"})
                self.clauses[f"storage:{kind}"] = f"permissions.storage and resource_policy.allow_{kind}_storage"
        return StorageResource(plugin_storage=granted["plugin"], workspace_storage=granted["workspace"])

    def _model(self, model_id: str, clause: str, kind: str, operations: list[str]) -> Iterator[ModelResource]:
        resource = self._catalog.models.get(model_id)
        exists = resource is not None and resource.model_type == kind
        if self._grant(f"model:{model_id}", operations, clause, "permissions.models", exists=exists) and resource:
            yield ModelResource(model_id=model_id, model_type=kind, provider=resource.provider, operations=operations)

    def _grant(
        self, name: str, operations: Sequence[str], clause: str, permission: str, *, exists: bool = True
    ) -> bool:
        """Grant a resource. Returns False, with a warning, if it does not exist; False if no operation is permitted."""
        if not exists:
            kind, _, ident = name.partition(":")
            self.warnings.append(f"{kind.replace('_', ' ')} {ident!r}, named by {clause}, does not exist; left out")
            return False
        if not operations:
            return False
        self.operations[name] = frozenset(operations) | self.operations.get(name, frozenset())
        self.clauses[name] = f"{permission} and {clause}" if permission else clause
        return True

    def _has_capability(self, capability: str, names: Sequence[str]) -> bool:
        if getattr(self._manifest.capabilities, capability):
            return True
        if names:
            self.warnings.append(f"{', '.join(names)} not granted: the manifest's capabilities have no {capability}")
        return False

    @staticmethod
    def _with_clause(ids: Iterable[str] | None, clause: str) -> list[tuple[str, str]]:
        return [(ident, clause) for ident in dict.fromkeys(ids or ())]


def _merge(*named: list[tuple[str, str]]) -> dict[str, str]:
    """Return every id once, with the first clause that names it."""
    merged: dict[str, str] = {}
    for ident, clause in chain.from_iterable(named):
        merged.setdefault(ident, clause)
    return merged


def _file_resource(chosen: object, operations: list[str]) -> FileResource | None:
    """Read the value of a file field: a key, or an object with a key and details."""
    fields = cast("dict[str, object]", chosen) if isinstance(chosen, dict) else {"file_key": chosen}
    name, kind = fields.get("file_name"), fields.get("mime_type", fields.get("mimetype"))
    key = fields.get("file_key")
    if not isinstance(key, str) or not key:
        return None
    return FileResource(
        file_id=key,
        file_name=name if isinstance(name, str) else None,
        mime_type=kind if isinstance(kind, str) else None,
        source="config",
        operations=operations,
    )
