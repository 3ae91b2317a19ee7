"""Which calls of the run-scoped API a run may make, each with the clause that decides it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from engine.intake.envelope import EventEnvelope
from engine.project.agents import AgentBinding
from engine.protocol.context import AvailableApis
from engine.protocol.manifest import AgentRunnerManifest


class Clause(NamedTuple):
    """Whether a call is allowed, and the manifest or policy clause that decides it."""

    allowed: bool
    words: str


def decide_call_permissions(
    manifest: AgentRunnerManifest, binding: AgentBinding, envelope: EventEnvelope
) -> Mapping[str, Clause]:
    """Return a clause for every call. A call that names a resource also needs a grant of that resource."""
    return dict(_PermissionBuilder(manifest, binding, envelope).clauses())


def available_apis(apis: Mapping[str, Clause]) -> AvailableApis:
    """Return the permissions as the runner's context shows them."""
    return AvailableApis(
        history_page=apis["history_page"].allowed,
        history_search=apis["history_search"].allowed,
        event_get=apis["event_get"].allowed,
        event_page=apis["event_page"].allowed,
        artifact_metadata=apis["artifact_metadata"].allowed,
        artifact_read=apis["artifact_read"].allowed,
        state=apis["state_get"].allowed,
        storage=apis["get_plugin_storage"].allowed or apis["get_workspace_storage"].allowed,
        steering_pull=apis["steering_pull"].allowed,
        run_get=apis["run_get"].allowed,
        run_list=apis["run_list"].allowed,
        run_cancel=apis["run_cancel"].allowed,
    )


class _PermissionBuilder:
    def __init__(self, manifest: AgentRunnerManifest, binding: AgentBinding, envelope: EventEnvelope) -> None:
        self._manifest = manifest
        self._binding = binding
        self._has_conversation = envelope.conversation_id is not None

    def clauses(self) -> Iterator[tuple[str, Clause]]:
        yield "history_page", self._in_conversation(self._permitted("history", "page"))
        yield "history_search", self._in_conversation(self._permitted("history", "search"))
        yield "event_get", self._permitted("events", "get")
        yield "event_page", self._in_conversation(self._permitted("events", "page"))
        yield "artifact_metadata", self._permitted("artifacts", "metadata")
        for call in ("artifact_read", "artifact_read_range"):
            yield call, self._permitted("artifacts", "read")
        for call in ("state_get", "state_set", "state_delete", "state_list"):
            yield call, self._state()
        for kind in ("plugin", "workspace"):
            for call in ("get_{}_storage", "set_{}_storage", "delete_{}_storage", "get_{}_storage_keys"):
                yield call.format(kind), self._storage(kind)
        yield "steering_pull", self._in_conversation(self._capable("steering"))
        for call, kind, operation in (
            ("invoke_llm", "models", "invoke"),
            ("invoke_llm_stream", "models", "stream"),
            ("invoke_rerank", "models", "rerank"),
            ("get_tool_detail", "tools", "detail"),
            ("call_tool", "tools", "call"),
            ("retrieve_knowledge", "knowledge_bases", "retrieve"),
            ("list_knowledge_bases", "knowledge_bases", "list"),
            ("get_file", "files", "config"),
        ):
            yield call, self._permitted(kind, operation)
        yield "count_tokens", self._count_tokens()
        for call in ("run_get", "run_events_page", "get_langbot_version", "get_prompt"):
            yield call, Clause(True, "every run may make this call")
        for call in ("run_list", "run_cancel"):
            yield call, self._in_conversation(Clause(True, "every run in a conversation may make this call"))

    def _permitted(self, kind: str, operation: str) -> Clause:
        if operation in getattr(self._manifest.permissions, kind):
            return Clause(True, f'permissions.{kind} has "{operation}"')
        return Clause(False, f"{kind}.{operation} is not in the manifest's permissions")

    def _capable(self, capability: str) -> Clause:
        if getattr(self._manifest.capabilities, capability):
            return Clause(True, f"capabilities.{capability} is true")
        return Clause(False, f"{capability} is not in the manifest's capabilities")

    def _in_conversation(self, clause: Clause) -> Clause:
        if clause.allowed and not self._has_conversation:
            return Clause(False, "the event has no conversation")
        return clause

    def _state(self) -> Clause:
        policy = self._binding.state_policy
        if not policy.enable_state:
            return Clause(False, "state is off: state_policy.enable_state is false")
        if not policy.state_scopes:
            return Clause(False, "state_policy.state_scopes is empty")
        return Clause(True, f"state_policy.state_scopes has {', '.join(policy.state_scopes)}")

    def _storage(self, kind: str) -> Clause:
        clause = self._permitted("storage", kind)
        if not clause.allowed:
            return clause
        if not getattr(self._binding.resource_policy, f"allow_{kind}_storage"):
            return Clause(False, f"resource_policy.allow_{kind}_storage is false")
        return Clause(True, f"{clause.words} and resource_policy.allow_{kind}_storage")

    def _count_tokens(self) -> Clause:
        either = (self._permitted("models", "invoke"), self._permitted("models", "stream"))
        allowed = next((clause for clause in either if clause.allowed), None)
        return allowed or Clause(False, "neither models.invoke nor models.stream is in the manifest's permissions")
