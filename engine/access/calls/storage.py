"""Calls for the storage of the plugin and of the workspace. The grants decide the owner, never the call."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

from engine.access.call import Arguments, CallType, NoArguments
from engine.access.services import Services
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.grants import Grants
from engine.run.live import LiveRun
from engine.store import storage
from engine.store.batch import Transaction
from engine.store.errors import NotFound
from engine.store.storage import QuotaExceeded, StorageRefused


class KeyArguments(Arguments):
    key: str


class SetArguments(Arguments):
    key: str
    value_base64: str


GetOwner = Callable[[Grants], str]


def _plugin_owner(grants: Grants) -> str:
    return storage.plugin_owner(grants.plugin)


def _workspace_owner(grants: Grants) -> str:
    return storage.workspace_owner(grants.workspace_id)


def _calls(kind: str, owner: GetOwner) -> tuple[CallType, ...]:
    async def get(services: Services, run: LiveRun, arguments: KeyArguments) -> dict[str, Any]:
        try:
            value = await services.read(run, lambda conn: storage.get(conn, owner(run.order.grants), arguments.key))
        except NotFound as error:
            raise AgentAPIException.of(ErrorCode.NOT_FOUND, str(error)) from None
        return {"value_base64": base64.b64encode(value).decode()}

    async def put(services: Services, run: LiveRun, arguments: SetArguments) -> dict[str, Any]:
        try:
            value = base64.b64decode(arguments.value_base64, validate=True)
        except ValueError:
            raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, "value_base64 is not valid base64") from None
        change, run_parts = services.change_origin(run), run.recorder.parts
        if (secret := run.order.secret_mask.secret_in_name(arguments.key)) is not None:
            problem = f"the storage key contains the secret {secret}. Use a key without it."
            raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, problem)

        def write(tx: Transaction) -> None:
            with run_parts.undone_on_error():
                storage.put(tx.connection, owner(run.order.grants), arguments.key, value, change, run_parts)

        try:
            await services.write(write)
        except StorageRefused as error:
            raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, str(error)) from None
        except QuotaExceeded as error:
            raise AgentAPIException.of(ErrorCode.PAYLOAD_TOO_LARGE, str(error)) from None
        return {}

    async def delete(services: Services, run: LiveRun, arguments: KeyArguments) -> dict[str, Any]:
        change, key = services.change_origin(run), arguments.key
        deleted = await services.write(
            lambda tx: storage.delete(tx.connection, owner(run.order.grants), key, change, run.recorder.parts)
        )
        return {"deleted": deleted}

    async def keys(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
        return {"keys": await services.read(run, lambda conn: storage.keys(conn, owner(run.order.grants)))}

    handlers: tuple[tuple[str, type[Arguments], Callable[..., Awaitable[dict[str, Any]]]], ...] = (
        (f"get_{kind}_storage", KeyArguments, get),
        (f"set_{kind}_storage", SetArguments, put),
        (f"delete_{kind}_storage", KeyArguments, delete),
        (f"get_{kind}_storage_keys", NoArguments, keys),
    )
    return tuple(
        CallType(name, arguments, (), handler, reads_much=handler is get) for name, arguments, handler in handlers
    )


CALLS = _calls("plugin", _plugin_owner) + _calls("workspace", _workspace_owner)
