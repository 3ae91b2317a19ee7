"""Changes queued messages as the queue pane asks for it."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from console.model.commands.key_labels import key_of
from console.model.text.units import number

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.shared.services import AppServices


class QueueController:
    """Remembers which messages were withdrawn together, so that one undo restores them all."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", main: "MainScreen") -> None:
        self._services = services
        self._session = active_session
        self._main = main
        self._withdrawn_together: tuple[str, ...] = ()

    def action_queue(self) -> None:
        if self._services.check_can("app.queue"):
            self._main.show_pane("chat")
            self._main.queue.enter_from_below()

    def edit(self, item_id: str) -> None:
        """Load a message into the prompt."""
        text = self._services.updater.item_text(item_id)
        if text is not None:
            self._main.prompt.begin_editing(item_id, text)
            self._main.prompt.focus()

    def withdraw(self, item_id: str) -> None:
        self._change(self._session.engine.queue.withdraw(item_id))

    def withdraw_all(self, item_ids: tuple[str, ...]) -> None:
        self._change(self._withdraw_all(item_ids))

    async def _withdraw_all(self, item_ids: tuple[str, ...]) -> None:
        """Withdraw one after another; messages that were delivered meanwhile stay delivered."""
        from console.data.errors import AlreadyDecided  # noqa: PLC0415  (loads the engine)

        withdrawn: list[str] = []
        for item_id in item_ids:
            with suppress(AlreadyDecided):
                await self._session.engine.queue.withdraw(item_id)
                withdrawn.append(item_id)
            self._withdrawn_together = tuple(withdrawn)
        undo = f"{key_of('queue.undo')} in the queue restores them"
        text = f"Withdrew {number(len(withdrawn), 'message')}; {undo}"
        delivered = len(item_ids) - len(withdrawn)
        self._services.show_toast(f"{text} · {delivered} already delivered" if delivered else text)

    def undo(self, item_id: str) -> None:
        """Restore a withdrawn message, with those that were withdrawn together with it."""
        together = self._withdrawn_together
        self._change(self._restore(together if item_id in together else (item_id,)))

    async def _restore(self, item_ids: tuple[str, ...]) -> None:
        for item_id in item_ids:
            await self._session.engine.queue.restore(item_id)
        self._withdrawn_together = ()

    def dismiss(self, item_id: str) -> None:
        self._change(self._session.engine.queue.dismiss(item_id))

    def move(self, item_id: str, before: str | None) -> None:
        self._change(self._session.engine.queue.move(item_id, before))

    def set_mode(self, item_id: str, mode: str) -> None:
        self._change(self._session.set_item_mode(item_id, mode))

    def pause(self, item_id: str) -> None:
        self._change(self._session.engine.queue.pause(item_id))

    def resume(self, item_id: str) -> None:
        self._change(self._session.engine.queue.resume(item_id))

    def _change(self, change: "Awaitable[Any]") -> None:
        async def carry_out() -> None:
            try:
                await change
            finally:
                self._services.updater.refresh("queue")

        self._services.run_in_background(carry_out())
