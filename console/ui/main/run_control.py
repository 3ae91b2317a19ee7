"""Controls the run in progress: continue, pause, step, edit its reply, stop."""

from typing import TYPE_CHECKING, Final

from console.model.commands.key_labels import key_of

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.model.commands.situation import Situation
    from console.ui.shared.services import AppServices

_PAUSE_REQUESTED: Final = "The run will pause at its next steering point."


class RunControl:
    """The commands of the group "The run"."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession") -> None:
        self._services = services
        self._session = active_session
        self._has_pause_toast = False

    def tick(self, now: "Situation") -> None:
        """Remove the toast of a requested pause when the run has paused or ended."""
        if self._has_pause_toast and (now.is_paused or not now.is_running):
            self._has_pause_toast = False
            self._services.dismiss_toasts([_PAUSE_REQUESTED])

    def has_key(self, action: str) -> bool:
        """Whether a key works for this action. If pause and continue share a key, the state of the run decides."""
        if action not in ("pause", "continue_run"):
            return True
        keys = {command.id: set(command.keys.split(",")) for command in self._services.commands}
        is_shared = bool(keys["app.pause"] & keys["app.continue"])
        return not is_shared or (action == "continue_run") == self._services.situation.is_paused

    def action_continue_run(self) -> None:
        if (run_id := self._active_run_for("app.continue")) is not None:
            self._services.run_in_background(self._session.engine.runs.continue_run(run_id))

    def action_run_again(self) -> None:
        if self._services.check_can("app.run_again") and (view := self._services.updater.view) is not None:
            self._services.run_in_background(self._session.run_again(view.run_id))

    def run_again(self, run_id: str) -> bool:
        """Send the input of any run again. Returns False, and shows why, if that is not possible now."""
        is_possible = self._services.check_can("app.run_again")
        if is_possible:
            self._services.run_in_background(self._session.run_again(run_id))
        return is_possible

    def action_pause(self) -> None:
        if (run_id := self._active_run_for("app.pause")) is not None:
            self._services.run_in_background(self._pause(run_id))

    async def _pause(self, run_id: str) -> None:
        await self._session.engine.breakpoints.set(run_id, "steering", once=True)
        self._services.show_toast(_PAUSE_REQUESTED)
        self._has_pause_toast = True

    def action_step(self) -> None:
        if (run_id := self._active_run_for("app.step")) is not None:
            self._services.run_in_background(self._session.engine.runs.step(run_id))

    def action_edit_reply(self) -> None:
        if (run_id := self._active_run_for("app.edit_reply")) is not None:
            self._services.run_in_background(self._edit_reply(run_id))

    async def _edit_reply(self, run_id: str) -> None:
        from console.model.state.json_text import MAX_EDITED_BYTES, is_too_large  # noqa: PLC0415
        from console.ui.main.edit_reply import EditReply  # noqa: PLC0415

        pause = await self._session.engine.runs.current_pause(run_id)
        if pause is None:
            self._services.show_toast("The run is no longer paused.", severity="warning")
            return
        if is_too_large(pause.edit or pause.original):
            limit = f"{MAX_EDITED_BYTES >> 10} KiB"
            text = f"The reply is larger than {limit}, too large to edit. {key_of('app.continue')} sends it as it is."
            self._services.show_toast(text, severity="warning")
            return
        reply = await self._services.ask(EditReply(pause))
        if reply is not None:
            done_text = f"The reply is replaced. {key_of('app.continue')} continues the run."
            self._services.run_in_background(self._session.engine.runs.edit_reply(run_id, reply), done_text)

    def action_stop(self) -> None:
        if (run_id := self._active_run_for("app.stop")) is None:
            return
        if self._services.situation.is_stopping:
            self._services.show_toast("The run is being stopped. A runner that does not react is killed shortly.")
        else:
            self._services.run_in_background(self._stop(run_id))

    async def _stop(self, run_id: str) -> None:
        updater = self._services.updater
        updater.mark_stopping(run_id, self._session.engine.now())
        try:
            stopped = await self._session.engine.runs.stop(run_id)
        except Exception:
            updater.mark_stopping(run_id, None)
            raise
        updater.refresh("queue", "rail")
        if stopped.undelivered:
            count = len(stopped.undelivered)
            what, one = ("1 message was", "it") if count == 1 else (f"{count} messages were", "one")
            keys = f"{key_of('prompt.earlier')}, then {key_of('queue.edit')}"
            self._services.show_toast(f"{what} not delivered. Press {keys} to edit {one} in the prompt.")

    def _active_run_for(self, command_id: str) -> str | None:
        """The run in progress, if the command is available; else a toast shows why it is not."""
        active = self._services.updater.active_run if self._services.check_can(command_id) else None
        return active[0] if active is not None else None
