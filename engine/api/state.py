"""State of runners: values per scope and key, their history, and edits by the user."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection

from engine.api.core import EngineCore
from engine.events import Expected
from engine.journal.secret_mask import SecretMask
from engine.store import entries, runs, state, state_edits, state_pages
from engine.store.async_reader import run_query
from engine.store.errors import NotFound
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import Kept, Written
from engine.store.state_edits import EditOrigin, StateEdit
from engine.store.state_pages import StateChange, StateRow


class StateApi:
    """Read and edit state. A run in progress sees an edit with its next call; the event log records each edit.

    Values are read with their secrets masked.
    """

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    # Read

    async def read(
        self, *, conversation_id: str | None = None, runner_id: str | None = None, limit: int = 1_000
    ) -> list[Kept]:
        """The values of all scopes; for a conversation, everything that its runs can see."""
        return await self._core.read(
            lambda conn: state.browse(conn, conversation_id=conversation_id, runner_id=runner_id, limit=limit)
        )

    async def read_at(self, run_id: str, position: int) -> dict[str, dict[str, Written]]:
        """The scopes of a run as they were at an entry, with the writer of each key."""
        return await self._core.read(lambda conn: _state_at(conn, run_id, position))

    async def browse(
        self,
        *,
        scope: Scope | None = None,
        runner_id: str | None = None,
        conversation_id: str | None = None,
        text: str = "",
        after: StateRow | None = None,
        limit: int = 100,
    ) -> list[StateRow]:
        """A page of keys with the beginning of each value, after `after`, the last row of the previous page.

        `conversation_id` selects everything that its runs can see; `text` must be in the key or its owner.
        """
        return await self._core.read(
            lambda conn: state_pages.page(
                conn,
                scope=scope,
                runner_id=runner_id,
                conversation_id=conversation_id,
                text=text,
                after=after,
                limit=limit,
            )
        )

    async def value(self, scope: ScopeIdentity, key: str, *, change: int | None = None) -> Any:
        """The whole value of a key: the current one, or the one that a change left."""
        return await self._core.read(lambda conn: state_pages.value(conn, scope, key, change=change))

    async def history(
        self, scope: ScopeIdentity, key: str, *, before: int | None = None, limit: int = 100
    ) -> list[StateChange]:
        """The changes of a key with their origins, newest first, before a change's number."""
        return await self._core.read(lambda conn: state_pages.changes(conn, scope, key, before=before, limit=limit))

    async def scopes_of_run(self, name: str) -> dict[Scope, ScopeIdentity]:
        """The scopes that a run was granted, including empty ones."""
        run = await self._core.find_run(name)
        return await self._core.read(lambda conn: state_pages.scopes_of_run(conn, run.run_id))

    async def find_scope(self, scope_key: str) -> ScopeIdentity:
        """A scope that holds a value, by its key or a unique beginning of the key."""
        return await self._core.read(lambda conn: state_pages.find_scope(conn, scope_key))

    # Edit

    async def set(
        self, scope: ScopeIdentity, key: str, value: object, *, expected: object = Expected.ANYTHING
    ) -> StateEdit:
        """Write a value; raises StateRefused if a key, a value or the scope is over its limit.

        A value that was read with a secret masked gets the secret back; a mark that the user changed is saved as typed.

        `expected` is the value that the user has seen, a listed row, or `Expected.NOTHING`. Raises StateConflict, and
        writes nothing, if the stored value is no longer `expected`.
        """
        limits, known = self._core.workspace.project.state_limits(), await self._core.secret_mask()
        state.refuse_secret(known.secret_in_name(key))

        def write(conn: Connection, origin: EditOrigin) -> StateEdit:
            former, secrets = run_query(conn, state.get_clear_query(scope, key))
            clear, mask = SecretMask(secrets).put_back(value, former), SecretMask({**known.secrets, **secrets})
            seen, masked = mask.cover_value(expected), mask.masked_json(clear)
            return state_edits.put(conn, scope, key, clear, origin, expected=seen, limits=limits, masked=masked)

        return await self._edit(write)

    async def delete(self, scope: ScopeIdentity, key: str, *, expected: object = Expected.ANYTHING) -> StateEdit:
        """Delete a key; `expected` as in `set`."""
        return await self._edit(lambda conn, origin: state_edits.delete(conn, scope, key, origin, expected=expected))

    async def clear(self, scope: ScopeIdentity) -> StateEdit:
        """Delete every key of a scope."""
        return await self._edit(lambda conn, origin: state_edits.clear(conn, scope, origin))

    async def restore(self, edit_id: str) -> StateEdit:
        """Undo an edit, also one of an earlier session or another process, and also one that was itself an undo.

        Values that were written since the edit stay; raises StateRefused if nothing is left to undo.
        """
        limits = self._core.workspace.project.state_limits()
        return await self._edit(lambda conn, origin: state_edits.restore(conn, edit_id, origin, limits=limits))

    async def _edit(self, change: Callable[[Connection, EditOrigin], StateEdit]) -> StateEdit:
        origin = EditOrigin(self._core.ids.new("evt"), self._core.now())
        return await self._core.edit(lambda tx: change(tx.connection, origin))


def _state_at(conn: Connection, run_id: str, position: int) -> dict[str, dict[str, Written]]:
    run = runs.get(conn, run_id)
    row = entries.row_of(conn, run_id, position)
    if row is None:
        raise NotFound(f"run {run_id} has no entry at position {position}")
    scopes: Mapping[str, str] = (run.authorization or {}).get("state_scopes", {})
    found = state.at(conn, scopes.values(), row)
    return {scope: found[key] for scope, key in scopes.items()}
