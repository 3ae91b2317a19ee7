"""What runners keep, changed by a person: each change can be taken back, the last one first."""

import asyncio
from collections.abc import Awaitable
from functools import cached_property
from typing import TYPE_CHECKING

from console.model.text.units import number

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App

    from console.data.active_session import ActiveSession
    from engine.api import StateEdit

    _App = App[None]
else:
    _App = object


class StateController(_App):
    """The part of the app that opens the state browser and knows what was changed there."""

    stage: "ActiveSession"
    _edits: tuple[tuple[str, str], ...] = ()
    """Their ids, each with where it was made; the last at the end."""

    if TYPE_CHECKING:

        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...
        def can(self, command_id: str) -> bool: ...

    def action_states(self) -> None:
        from console.ui.state.screen import StateScreen  # noqa: PLC0415

        if self.can("app.states") and not isinstance(self.screen, StateScreen):
            self.push_screen(StateScreen(self.stage.session))

    @property
    def has_edited_state(self) -> bool:
        """There is something that can be taken back."""
        return bool(self._edits)

    async def edit_state(self, act: "Awaitable[StateEdit]", place: str) -> "StateEdit":
        """Change state, so that it can be taken back; `place` names what the cursor is on."""
        edit = await act
        self._edits = (*self._edits, (edit.edit_id, place))
        return edit

    async def take_state_back(self) -> str | None:
        """Undo the last of them, and give its place; what was written since stays.

        One that could not be undone yet is still the last.
        """
        from engine.api import NotFound, StateRefused  # noqa: PLC0415

        async with self._in_order:  # else a key that is pressed twice undoes the same twice
            if not self._edits:
                return None
            last, place = self._edits[-1]
            try:
                edit = await self.stage.engine.state.restore(last)
            except (NotFound, StateRefused):  # it never can be: those before it can
                self._forget(last)
                raise
            self._forget(last)
        left = f"; {number(len(edit.left), 'key')} written since stay as they are" if edit.left else ""
        self.tell(f"undone: {number(edit.count, 'key')}{left}")
        return place

    @cached_property
    def _in_order(self) -> asyncio.Lock:
        return asyncio.Lock()

    def _forget(self, edit_id: str) -> None:
        self._edits = tuple(each for each in self._edits if each[0] != edit_id)
