"""What a run may touch: manifest permissions ∩ binding policy ∩ config and scope, decided once and then frozen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

from engine.facts.scopes import ScopeIdentity
from engine.intake.agents import AgentBinding
from engine.intake.envelope import EventEnvelope
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
from engine.resources.files import is_there
from engine.run.apis import Clause, available, decide_apis
from engine.run.scopes import identities
from engine.runners.descriptor import RunnerDescriptor
from engine.runners.forms import ConfigForm

_LANGUAGE: Final = ("invoke", "stream")


@dataclass(frozen=True, slots=True)
class Grants:
    """The authorization snapshot: the only truth while the run lives."""

    resources: Resources
    apis: Mapping[str, Clause]
    """Every call of the run-scoped API, whether it may be made, and what decided that."""
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
    """The scopes that are on and have an identity."""
    scopes_off: Mapping[str, str]
    """Every other scope, and why it cannot be used."""
    operations: Mapping[str, frozenset[str]]
    """`model:ID`, `tool:NAME` … to the operations granted on it."""
    clauses: Mapping[str, str]
    """The same names to what granted them, in the author's words."""

    def snapshot(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return {
            "resources": self.resources.model_dump(mode="json"),
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
            "operations": {name: sorted(operations) for name, operations in self.operations.items()},
            "clauses": dict(self.clauses),
        }


def grant(
    runner: RunnerDescriptor,
    binding: AgentBinding,
    envelope: EventEnvelope,
    config: Mapping[str, Any],
    catalog: Catalog,
    file_roots: tuple[Path, ...] = (),
) -> tuple[Grants, tuple[str, ...]]:
    """The grants of one run, and a warning for every id that does not exist. Of files it is looked at on disk."""
    manifest = runner.manifest
    desk = _Desk(manifest, binding, ConfigForm(manifest), config, catalog, file_roots)
    resources = Resources(
        models=list(desk.models()),
        tools=list(desk.tools()),
        knowledge_bases=list(desk.knowledge_bases()),
        skills=list(desk.skills()),
        files=list(desk.files()),
        storage=desk.storage(),
        platform_capabilities={},
    )
    on, off = identities(envelope, binding)
    apis = decide_apis(manifest, binding, envelope)
    grants = Grants(
        resources=resources,
        apis=apis,
        available_apis=available(apis),
        plugin=runner.id.plugin_id,
        runner_id=str(runner.id),
        binding_id=binding.binding_id,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        state_scopes=on,
        scopes_off=off,
        operations=desk.operations,
        clauses=desk.clauses,
    )
    return grants, tuple(desk.warnings)


class _Desk:
    """Goes through one kind of resource after another, noting operations, clauses and warnings."""

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
        language = [operation for operation in _LANGUAGE if operation in permitted]
        chosen = self._named(self._form.language_models(self._config), "the runner's config")
        extra = self._named(self._policy.allowed_model_uuids, "resource_policy.allowed_model_uuids")
        for model_id, clause in _first_named(chosen, extra).items():
            yield from self._model(model_id, clause, "llm", language)
        rerank = ["rerank"] if "rerank" in permitted else []
        for model_id, clause in self._named(self._form.rerank_models(self._config), "the runner's config"):
            yield from self._model(model_id, clause, "rerank", rerank)

    def tools(self) -> Iterator[ToolResource]:
        names = self._policy.allowed_tool_names or ()
        if not self._needs("tool_calling", names):
            return
        operations: list[str] = list(self._manifest.permissions.tools)
        for name, clause in self._named(names, "resource_policy.allowed_tool_names"):
            fact = self._catalog.tools.get(name)
            if self._note(f"tool:{name}", operations, clause, "permissions.tools", exists=fact is not None) and fact:
                yield ToolResource(
                    tool_name=name, tool_type=fact.tool_type, description=fact.description, operations=operations
                )

    def knowledge_bases(self) -> Iterator[KnowledgeBaseResource]:
        chosen = self._named(self._form.knowledge_bases(self._config), "the runner's config")
        extra = self._named(self._policy.allowed_kb_uuids, "resource_policy.allowed_kb_uuids")
        wanted = _first_named(chosen, extra)
        if not self._needs("knowledge_retrieval", tuple(wanted)):
            return
        operations: list[str] = list(self._manifest.permissions.knowledge_bases)
        for kb_id, clause in wanted.items():
            fact = self._catalog.knowledge_bases.get(kb_id)
            name = f"knowledge_base:{kb_id}"
            if self._note(name, operations, clause, "permissions.knowledge_bases", exists=fact is not None) and fact:
                yield KnowledgeBaseResource(
                    kb_id=kb_id, kb_name=fact.kb_name, kb_type=fact.kb_type, operations=operations
                )

    def skills(self) -> Iterator[SkillResource]:
        if not self._manifest.capabilities.skill_authoring:
            return
        allowed = self._policy.allowed_skill_names
        for name in allowed if allowed is not None else tuple(self._catalog.skills):
            fact = self._catalog.skills.get(name)
            clause = "resource_policy.allowed_skill_names" if allowed is not None else "every visible skill"
            if self._note(f"skill:{name}", ["activate"], clause, "", exists=fact is not None) and fact:
                yield SkillResource(
                    skill_name=name, display_name=fact.display_name or name, description=fact.description
                )

    def files(self) -> Iterator[FileResource]:
        operations = ["config"] if "config" in self._manifest.permissions.files else []
        for chosen in self._form.files(self._config):
            file = _file(chosen, operations)
            if file is None:
                self.warnings.append("a file, named by the runner's config, has no file_key; left out")
            elif not is_there(file.file_id, self._file_roots):
                self.warnings.append(f"file {file.file_id!r:.200}, named by the runner's config, {self._no_file()}")
            elif self._note(f"file:{file.file_id}", operations, "the runner's config", "permissions.files"):
                yield file

    def _no_file(self) -> str:
        if self._file_roots:
            return "does not exist under the project's file_roots; left out"
        return "is left out: name the folder that it lies in under `file_roots` in trackside.yaml"

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
        fact = self._catalog.models.get(model_id)
        exists = fact is not None and fact.model_type == kind
        if self._note(f"model:{model_id}", operations, clause, "permissions.models", exists=exists) and fact:
            yield ModelResource(model_id=model_id, model_type=kind, provider=fact.provider, operations=operations)

    def _note(self, name: str, operations: Sequence[str], clause: str, permission: str, *, exists: bool = True) -> bool:
        """Whether the resource is granted; one that does not exist is left out with a warning."""
        if not exists:
            kind, _, ident = name.partition(":")
            self.warnings.append(f"{kind.replace('_', ' ')} {ident!r}, named by {clause}, does not exist; left out")
            return False
        if not operations:
            return False
        self.operations[name] = frozenset(operations) | self.operations.get(name, frozenset())
        self.clauses[name] = f"{permission} and {clause}" if permission else clause
        return True

    def _needs(self, capability: str, wanted: Sequence[str]) -> bool:
        if getattr(self._manifest.capabilities, capability):
            return True
        if wanted:
            self.warnings.append(f"{', '.join(wanted)} not granted: the manifest's capabilities have no {capability}")
        return False

    @staticmethod
    def _named(ids: Iterable[str] | None, clause: str) -> list[tuple[str, str]]:
        return [(ident, clause) for ident in dict.fromkeys(ids or ())]


def _first_named(*named: list[tuple[str, str]]) -> dict[str, str]:
    """Every id once, with the first clause that names it."""
    wanted: dict[str, str] = {}
    for ident, clause in chain.from_iterable(named):
        wanted.setdefault(ident, clause)
    return wanted


def _file(chosen: object, operations: list[str]) -> FileResource | None:
    """A file field's value: a key, or an object with one and what is known of the file."""
    known = cast("dict[str, object]", chosen) if isinstance(chosen, dict) else {"file_key": chosen}
    name, kind = known.get("file_name"), known.get("mime_type", known.get("mimetype"))
    key = known.get("file_key")
    if not isinstance(key, str) or not key:
        return None
    return FileResource(
        file_id=key,
        file_name=name if isinstance(name, str) else None,
        mime_type=kind if isinstance(kind, str) else None,
        source="config",
        operations=operations,
    )
