"""Changes of state by the user, which can be undone, the last one first."""

import asyncio
from typing import TYPE_CHECKING

from console.model.text.units import number

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from console.data.active_session import ActiveSession
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices
    from engine.api import StateEdit


class StateController:
    """Opens the state browser, and remembers what was changed in it."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", clipboard: "Clipboard") -> None:
        self._services = services
        self._session = active_session
        self._clipboard = clipboard
        self._edits: tuple[tuple[str, str], ...] = ()
        """Id and place of each change that can be undone, the last one at the end."""
        self._undo_order = asyncio.Lock()

    def action_states(self) -> None:
        from console.ui.state.screen import StateScreen  # noqa: PLC0415

        if self._services.check_can("app.states") and not isinstance(self._services.screen, StateScreen):
            screen = StateScreen(self._services, self, self._clipboard, self._session.session_id)
            self._services.push_screen(screen)

    @property
    def can_undo(self) -> bool:
        return bool(self._edits)

    async def edit(self, change: "Awaitable[StateEdit]", place: str) -> "StateEdit":
        """Carry out a change and remember it for undo; `place` is the row that it was made at."""
        edit = await change
        self._edits = (*self._edits, (edit.edit_id, place))
        return edit

    async def undo(self) -> str | None:
        """Undo the last change and return its place. Keys that were written since stay as they are.

        A change that cannot be undone now stays the last one.
        """
        from console.data.errors import NotFound, StateRefused  # noqa: PLC0415  (loads the engine)

        async with self._undo_order:  # otherwise a key pressed twice undoes the same change twice
            if not self._edits:
                return None
            edit_id, place = self._edits[-1]
            try:
                edit = await self._session.engine.state.restore(edit_id)
            except (NotFound, StateRefused):  # it can never be undone, but earlier changes can
                self._forget(edit_id)
                raise
            self._forget(edit_id)
        left = f"; {number(len(edit.left), 'key')} changed since then, not undone" if edit.left else ""
        self._services.show_toast(f"Undone: {number(edit.count, 'key')}{left}.")
        return place

    def _forget(self, edit_id: str) -> None:
        self._edits = tuple(each for each in self._edits if each[0] != edit_id)
