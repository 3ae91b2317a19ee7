"""Breakpoints and copies of entries, as the stream pane asks for them."""

from typing import TYPE_CHECKING

from console.model.commands.key_labels import key_of

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices


class StreamController:
    """Actions on the entries of the run shown."""

    def __init__(
        self, services: "AppServices", active_session: "ActiveSession", main: "MainScreen", clipboard: "Clipboard"
    ) -> None:
        self._services = services
        self._session = active_session
        self._main = main
        self._clipboard = clipboard

    def action_time_mode(self) -> None:
        self._main.stream.action_time()

    def open_entry(self, run_id: str, position: int) -> None:
        """Show an entry of a run in the stream."""
        self._services.run_in_background(self._open_entry(run_id, position))

    async def _open_entry(self, run_id: str, position: int) -> None:
        updater = self._services.updater
        if updater.view is None or updater.view.run_id != run_id:
            await updater.show_run(run_id)
        if updater.view is not None and updater.view.run_id == run_id:  # else the user went elsewhere meanwhile
            self.go_to_entry(position)

    def go_to_entry(self, position: int) -> None:
        """Select an entry of the run shown."""
        self._main.show_pane("stream")
        self._main.stream.go_to(position)
        self._main.stream.focus()

    def toggle_breakpoint(self, kind: str, position: int) -> None:
        """Set or remove a breakpoint at entries like this one."""
        view = self._services.updater.view
        if self._services.check_can("stream.breakpoint") and view is not None:
            self._services.run_in_background(self._toggle_breakpoint(view.run_id, kind, position))

    async def _toggle_breakpoint(self, run_id: str, kind: str, position: int) -> None:
        from console.data.breakpoint_at import breakpoint_at  # noqa: PLC0415

        engine = self._session.engine
        location = await breakpoint_at(engine, run_id, kind, position)
        if any(str(breakpoint_.location) == location for breakpoint_ in await engine.breakpoints.list(run_id)):
            await engine.breakpoints.remove(run_id, location)
            self._services.show_toast(f"Breakpoint removed: {location}.")
        else:
            await engine.breakpoints.set(run_id, location)
            again = key_of("stream.breakpoint")
            self._services.show_toast(
                f"Breakpoint set: the run pauses before each {location}. {again} again removes it."
            )

    def copy_entry(self, what: str, position: int) -> None:
        """Copy a part of an entry to the clipboard."""
        view = self._services.updater.view
        if view is not None:
            self._services.run_in_background(self._copy_entry(view.run_id, what, position))

    async def _copy_entry(self, run_id: str, what: str, position: int) -> None:
        from console.data.entry_copy import copied_text  # noqa: PLC0415

        self._clipboard.copy(await copied_text(self._session.engine, run_id, what, position), what)
