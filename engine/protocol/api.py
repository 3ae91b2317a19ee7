"""The run-scoped API: the calls that a runner may make to its host during its run."""

import base64
import binascii
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol, TypeVar, cast

from pydantic import BaseModel, ValidationError

from engine.protocol.content import Message, MessageChunk
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.protocol.faults import sentence
from engine.protocol.pages import (
    ArtifactMetadata,
    ArtifactRead,
    EventPage,
    EventRecord,
    HistoryPage,
    KeyPage,
    RunEventPage,
    RunPage,
    RunRecord,
    SearchResult,
    SteeringPull,
)
from engine.protocol.plain import plain

Said = Message | Mapping[str, Any]
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Caller(Protocol):
    """Sends calls to the host. Both methods raise `AgentAPIException` if the host refuses."""

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        """Return the data of the reply."""
        ...

    def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        """Yield the data of each reply; closing it early tells the host to stop."""
        ...


class RunnerAPI:
    """`ctx.api`. Every call carries the run's id, and fails only with `AgentAPIException`."""

    def __init__(self, caller: Caller, run_id: str) -> None:
        self._caller = caller
        self._run_id = run_id

    # models

    async def invoke_llm(
        self,
        model_id: str,
        messages: Sequence[Said],
        funcs: Sequence[Any] | None = None,
        extra_args: Mapping[str, Any] | None = None,
    ) -> Message:
        """Return the model's complete reply."""
        arguments = {"model_id": model_id, "messages": messages, "funcs": funcs, "extra_args": extra_args}
        return _parsed("invoke_llm", Message, await self._value("message", "invoke_llm", arguments))

    async def invoke_llm_stream(
        self,
        model_id: str,
        messages: Sequence[Said],
        funcs: Sequence[Any] | None = None,
        extra_args: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[MessageChunk, None]:
        """Yield the model's reply in chunks."""
        action = "invoke_llm_stream"
        arguments = {"model_id": model_id, "messages": messages, "funcs": funcs, "extra_args": extra_args}
        async with aclosing(self._caller.stream(action, self._request(action, arguments))) as replies:
            async for reply in replies:
                # A frame may tell of usage only.
                if (chunk := _object(action, reply).get("chunk")) is not None:
                    yield _parsed(action, MessageChunk, chunk)

    async def invoke_rerank(
        self, model_id: str, query: str, documents: Sequence[str], top_k: int | None = None
    ) -> list[dict[str, Any]]:
        """Return `{index, relevance_score}` of each document, best first."""
        arguments = {"model_id": model_id, "query": query, "documents": documents, "top_k": top_k}
        return _objects("invoke_rerank", await self._value("results", "invoke_rerank", arguments))

    async def count_tokens(self, model_id: str, messages: Sequence[Said], funcs: Sequence[Any] | None = None) -> int:
        """Return the number of tokens of the request."""
        arguments = {"model_id": model_id, "messages": messages, "funcs": funcs}
        return _typed("count_tokens", int, await self._value("tokens", "count_tokens", arguments))

    # tools

    async def get_tool_detail(self, tool_name: str) -> dict[str, Any]:
        """Return name, description and parameters (JSON Schema) of a tool."""
        return _object("get_tool_detail", await self._value("tool", "get_tool_detail", {"tool_name": tool_name}))

    async def call_tool(self, tool_name: str, parameters: Mapping[str, Any]) -> Any:
        """Call a tool and return its result."""
        return await self._value("result", "call_tool", {"tool_name": tool_name, "parameters": parameters})

    # knowledge

    async def retrieve_knowledge(
        self, kb_id: str, query_text: str, top_k: int = 5, filters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the passages nearest to the query, best first."""
        arguments = {"kb_id": kb_id, "query_text": query_text, "top_k": top_k, "filters": filters}
        return _objects("retrieve_knowledge", await self._value("results", "retrieve_knowledge", arguments))

    async def list_knowledge_bases(self) -> list[dict[str, Any]]:
        """Return the knowledge bases that this run may use."""
        return _objects("list_knowledge_bases", await self._value("knowledge_bases", "list_knowledge_bases", {}))

    # history and events

    async def history_page(
        self,
        conversation_id: str | None = None,
        before_cursor: str | None = None,
        after_cursor: str | None = None,
        limit: int = 50,
        direction: str = "backward",
        include_artifacts: bool = False,
    ) -> HistoryPage:
        """Return lines of the run's own conversation."""
        arguments = {
            "conversation_id": conversation_id,
            "before_cursor": before_cursor,
            "after_cursor": after_cursor,
            "limit": limit,
            "direction": direction,
            "include_artifacts": include_artifacts,
        }
        return await self._model(HistoryPage, "history_page", arguments)

    async def history_search(
        self, query: str, filters: Mapping[str, Any] | None = None, top_k: int = 10
    ) -> SearchResult:
        """Return lines that match the query; filters are `roles` and `item_types`."""
        return await self._model(SearchResult, "history_search", {"query": query, "filters": filters, "top_k": top_k})

    async def event_get(self, event_id: str) -> EventRecord:
        """Return one event of the log."""
        return await self._model(EventRecord, "event_get", {"event_id": event_id})

    async def event_page(self, before_cursor: str | None = None, limit: int = 50) -> EventPage:
        """Return events of the run's own conversation, newest first."""
        return await self._model(EventPage, "event_page", {"before_cursor": before_cursor, "limit": limit})

    # steering

    async def steering_pull(self, mode: str = "all", limit: int | None = None) -> SteeringPull:
        """Take the queued steering messages: `all`, or `one-at-a-time`."""
        return await self._model(SteeringPull, "steering_pull", {"mode": mode, "limit": limit})

    # artifacts

    async def artifact_metadata(self, artifact_id: str) -> ArtifactMetadata:
        """Return the metadata of an artifact."""
        return await self._model(ArtifactMetadata, "artifact_metadata", {"artifact_id": artifact_id})

    async def artifact_read(self, artifact_id: str, offset: int = 0, limit: int | None = None) -> ArtifactRead:
        """Return an artifact's content, up to the limit of one read."""
        arguments = {"artifact_id": artifact_id, "offset": offset, "limit": limit}
        return await self._model(ArtifactRead, "artifact_read", arguments)

    async def artifact_read_range(self, artifact_id: str, offset: int = 0, length: int = 65536) -> ArtifactRead:
        """Return exactly this range of bytes of an artifact."""
        arguments = {"artifact_id": artifact_id, "offset": offset, "length": length}
        return await self._model(ArtifactRead, "artifact_read_range", arguments)

    # state

    async def state_get(self, scope: str, key: str) -> Any:
        """Return a value of the state; a missing one is None."""
        return await self._value("value", "state_get", {"scope": scope, "key": key})

    async def state_set(self, scope: str, key: str, value: Any) -> None:
        """Store a value in the state. It is on disk when this returns."""
        await self._ask("state_set", {"scope": scope, "key": key, "value": value})

    async def state_delete(self, scope: str, key: str) -> bool:
        """Delete a value of the state. Returns whether it existed."""
        return _typed("state_delete", bool, await self._value("deleted", "state_delete", {"scope": scope, "key": key}))

    async def state_list(self, scope: str, prefix: str | None = None) -> KeyPage:
        """Return the keys of a scope, sorted."""
        return await self._model(KeyPage, "state_list", {"scope": scope, "prefix": prefix})

    # storage

    async def get_plugin_storage(self, key: str) -> bytes:
        """Return the bytes that the plugin stored under a key."""
        return _bytes("get_plugin_storage", await self._value("value_base64", "get_plugin_storage", {"key": key}))

    async def set_plugin_storage(self, key: str, value: bytes) -> None:
        """Store bytes for the plugin."""
        await self._ask("set_plugin_storage", {"key": key, "value_base64": _base64("set_plugin_storage", value)})

    async def delete_plugin_storage(self, key: str) -> None:
        """Delete the plugin's bytes under a key."""
        await self._ask("delete_plugin_storage", {"key": key})

    async def get_plugin_storage_keys(self) -> list[str]:
        """Return the plugin's storage keys."""
        return (await self._model(KeyPage, "get_plugin_storage_keys", {})).keys

    async def get_workspace_storage(self, key: str) -> bytes:
        """Return the bytes that the workspace stored under a key."""
        return _bytes("get_workspace_storage", await self._value("value_base64", "get_workspace_storage", {"key": key}))

    async def set_workspace_storage(self, key: str, value: bytes) -> None:
        """Store bytes for the workspace."""
        await self._ask("set_workspace_storage", {"key": key, "value_base64": _base64("set_workspace_storage", value)})

    async def delete_workspace_storage(self, key: str) -> None:
        """Delete the workspace's bytes under a key."""
        await self._ask("delete_workspace_storage", {"key": key})

    async def get_workspace_storage_keys(self) -> list[str]:
        """Return the workspace's storage keys."""
        return (await self._model(KeyPage, "get_workspace_storage_keys", {})).keys

    # files and host

    async def get_file(self, file_key: str) -> bytes:
        """Return the content of a file that the config names, or the body of a granted skill: `skill:NAME`."""
        return _bytes("get_file", await self._value("file_base64", "get_file", {"file_key": file_key}))

    async def get_langbot_version(self) -> str:
        """Return the host's version."""
        return _typed("get_langbot_version", str, await self._value("version", "get_langbot_version", {}))

    async def get_prompt(self) -> list[Message]:
        """Return the prompt that the host holds for this run."""
        prompt = _objects("get_prompt", await self._value("prompt", "get_prompt", {}))
        return [_parsed("get_prompt", Message, message) for message in prompt]

    # the run itself

    async def run_get(self) -> RunRecord:
        """Return the run's status; `cancel_requested_at` is set once a stop was requested."""
        return await self._model(RunRecord, "run_get", {})

    async def run_events_page(
        self,
        before_cursor: str | None = None,
        after_cursor: str | None = None,
        limit: int = 50,
        direction: str = "forward",
    ) -> RunEventPage:
        """Return entries of the run's own journal."""
        arguments = {
            "before_cursor": before_cursor,
            "after_cursor": after_cursor,
            "limit": limit,
            "direction": direction,
        }
        return await self._model(RunEventPage, "run_events_page", arguments)

    async def run_list(
        self,
        conversation_id: str | None = None,
        statuses: list[str] | None = None,
        before_cursor: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        """Return runs of this runner in the run's own conversation, thread, bot and workspace, newest first."""
        arguments = {
            "conversation_id": conversation_id,
            "statuses": statuses,
            "before_cursor": before_cursor,
            "limit": limit,
        }
        return await self._model(RunPage, "run_list", arguments)

    async def run_cancel(self, run_id: str | None = None, reason: str | None = None) -> RunRecord:
        """Stop a run that `run_list` lists, or this run itself. Returns it; a run that has ended stays as it is."""
        return await self._model(RunRecord, "run_cancel", {"target_run_id": run_id, "reason": reason})

    def _request(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"run_id": self._run_id, **plain(action, arguments)}

    async def _ask(self, action: str, arguments: Mapping[str, Any]) -> Any:
        return await self._caller.call(action, self._request(action, arguments))

    async def _value(self, key: str, action: str, arguments: Mapping[str, Any]) -> Any:
        reply = _object(action, await self._ask(action, arguments))
        if key not in reply:
            raise _unreadable(action, f"it has no {key!r}")
        return reply[key]

    async def _model(self, model: type[M], action: str, arguments: Mapping[str, Any]) -> M:
        return _parsed(action, model, await self._ask(action, arguments))


def _parsed(action: str, model: type[M], reply: object) -> M:
    try:
        return model.model_validate(reply)
    except ValidationError as error:
        raise _unreadable(action, sentence(error, "reply")) from error


def _typed(action: str, kind: type[T], value: object) -> T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _unreadable(action, f"{type(value).__name__} in place of {kind.__name__}")
    return value


def _object(action: str, value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", _typed(action, dict, value))


def _objects(action: str, value: object) -> list[dict[str, Any]]:
    return [_object(action, item) for item in cast("list[object]", _typed(action, list, value))]


def _bytes(action: str, value: object) -> bytes:
    try:
        return base64.b64decode(_typed(action, str, value), validate=True)
    except binascii.Error as error:
        raise _unreadable(action, f"bad base64, {error}") from error


def _base64(action: str, value: object) -> str:
    if not isinstance(value, bytes | bytearray):
        raise AgentAPIException.of(
            ErrorCode.INVALID_ARGUMENT, f"{action}: value: bytes are stored, not {type(value).__name__}"
        )
    return base64.b64encode(value).decode()


def _unreadable(action: str, why: str) -> AgentAPIException:
    return AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"the host's answer to {action} cannot be read: {why}")
