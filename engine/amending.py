"""The facade's changes by hand: state is edited and edits are taken back, events are put together, files attached."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection

from engine.controlling import Controlling
from engine.facts import state_edits
from engine.facts.scopes import ScopeIdentity
from engine.facts.state_edits import Expected, Hand, StateEdit
from engine.intake import composing
from engine.intake.attaching import attachment_of
from engine.intake.composing import Draft
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment


class Amending(Controlling):
    """What a person does with their own hands."""

    # State: a run at work sees it with its next call. Each edit is noted in the event log.

    async def set_state(
        self, scope: ScopeIdentity, key: str, value: object, *, expected: object = Expected.ANYTHING
    ) -> StateEdit:
        """Write a value; raises StateRefused over the limits of keys and values.

        Whoever has seen what is there says so by `expected`: the value, a row that was listed, or `Expected.NOTHING`.
        Where it is something else by then nothing is written, and StateMoved says what it is.
        """
        return await self._amend(lambda conn, hand: state_edits.put(conn, scope, key, value, hand, expected=expected))

    async def delete_state(self, scope: ScopeIdentity, key: str, *, expected: object = Expected.ANYTHING) -> StateEdit:
        """Delete a key; `expected` as in `set_state`."""
        return await self._amend(lambda conn, hand: state_edits.delete(conn, scope, key, hand, expected=expected))

    async def clear_state(self, scope: ScopeIdentity) -> StateEdit:
        """Delete every key of a scope."""
        return await self._amend(lambda conn, hand: state_edits.clear(conn, scope, hand))

    async def restore_state(self, edit_id: str) -> StateEdit:
        """Take an edit back, also one of another day or process, and also one that took another back.

        What was written since, by whomever, stays; raises StateRefused where that is all of it.
        """
        return await self._amend(lambda conn, hand: state_edits.restore(conn, edit_id, hand))

    # Events

    def compose(self, draft: Draft) -> EventEnvelope:
        """The event that was put together, under an id of its own; raises DraftProblem with what is wrong per field."""
        return composing.compose(draft, self._setting.ids)

    async def attachment_of(self, path: Path) -> Attachment:
        """A file as it can come with an event; raises AttachmentProblem in words."""
        roots, ids = self._setting.project.file_roots(), self._setting.ids
        return await asyncio.to_thread(attachment_of, path, lambda: ids.new("art"), roots)

    # Inside

    async def _amend(self, change: Callable[[Connection, Hand], StateEdit]) -> StateEdit:
        hand = Hand(self._setting.ids.new("evt"), self._clock.now())
        return await self._edit(lambda tx: change(tx.connection, hand))
