"""Storage of the plugin and of the workspace. Who owns what follows from the grants, never from the call."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

from engine.access.action import Action, Arguments, NoArguments
from engine.access.room import Room
from engine.facts import storage
from engine.facts.errors import NotFound
from engine.facts.storage import QuotaExceeded, StorageRefused
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.grants import Grants
from engine.run.live import LiveRun


class KeyArguments(Arguments):
    key: str


class SetArguments(Arguments):
    key: str
    value_base64: str


Owner = Callable[[Grants], str]


def _plugin(grants: Grants) -> str:
    return f"plugin:{grants.plugin}"


def _workspace(grants: Grants) -> str:
    return f"workspace:{grants.workspace_id or ''}"


def _calls(kind: str, owner: Owner) -> tuple[Action, ...]:
    async def get(room: Room, run: LiveRun, given: KeyArguments) -> dict[str, Any]:
        try:
            value = await room.read(run, lambda conn: storage.get(conn, owner(run.order.grants), given.key))
        except NotFound as error:
            raise AgentAPIException.of(ErrorCode.NOT_FOUND, str(error)) from None
        return {"value_base64": base64.b64encode(value).decode()}

    async def put(room: Room, run: LiveRun, given: SetArguments) -> dict[str, Any]:
        try:
            value = base64.b64decode(given.value_base64, validate=True)
        except ValueError:
            raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, "value_base64 is not base64") from None
        now = room.clock.now()
        try:
            await room.write(lambda tx: storage.put(tx.connection, owner(run.order.grants), given.key, value, at=now))
        except StorageRefused as error:
            raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, str(error)) from None
        except QuotaExceeded as error:
            raise AgentAPIException.of(ErrorCode.PAYLOAD_TOO_LARGE, str(error)) from None
        return {}

    async def delete(room: Room, run: LiveRun, given: KeyArguments) -> dict[str, Any]:
        gone = await room.write(lambda tx: storage.delete(tx.connection, owner(run.order.grants), given.key))
        return {"deleted": gone}

    async def keys(room: Room, run: LiveRun, given: NoArguments) -> dict[str, Any]:  # noqa: ARG001
        return {"keys": await room.read(run, lambda conn: storage.keys(conn, owner(run.order.grants)))}

    answers: tuple[tuple[str, type[Arguments], Callable[..., Awaitable[dict[str, Any]]]], ...] = (
        (f"get_{kind}_storage", KeyArguments, get),
        (f"set_{kind}_storage", SetArguments, put),
        (f"delete_{kind}_storage", KeyArguments, delete),
        (f"get_{kind}_storage_keys", NoArguments, keys),
    )
    return tuple(Action(name, arguments, (), answer) for name, arguments, answer in answers)


CALLS = _calls("plugin", _plugin) + _calls("workspace", _workspace)
