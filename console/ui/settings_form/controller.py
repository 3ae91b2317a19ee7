"""Opens the settings of a runner."""

from typing import TYPE_CHECKING

from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line
from console.model.text.units import short_runner

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.data.form_store import FormStore
    from console.ui.runners.controller import RunnersController
    from console.ui.shared.services import AppServices


class SettingsFormController:
    """Opens the form, and keeps the store of each form that was open."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", runners: "RunnersController") -> None:
        self._services = services
        self._session = active_session
        self._runners = runners
        self._stores: dict[str, FormStore] = {}
        """By the name of the agent or runner."""

    def action_settings(self) -> None:
        """Open the settings of the runner selected in the picker, else of the chosen one."""
        if not self._services.check_can("app.settings"):
            return
        picker = self._runners.picker
        choice = picker.choice if picker is not None else None
        if choice is not None and choice.kind == "place":
            self._services.show_toast("Press enter to open this path first. Then its settings can be edited.")
            return
        if choice is not None and choice.kind == "problem":
            self._services.show_toast(f"{choice.path} is left out: {choice.label}", severity="warning")
            return
        name = self._session.agent_id or self._session.runner_id
        if choice is not None:
            name = choice.name if choice.kind == "agent" else choice.runner_id
        if not name:
            text = f"No runner is chosen. {key_of('app.runners')} lists them."
            self._services.show_toast(text, severity="warning")
            return
        self._services.run_in_background(self._open(name))

    async def _open(self, name: str) -> None:
        from console.data.form_store import FormStore  # noqa: PLC0415
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        store = self._stores.setdefault(name, FormStore(self._session.engine, name))
        reading = store.load()
        draft = await self._services.wait_with_toast(reading, f"Reading the settings of {short_runner(name)}…")
        if self._services.find_screen(FormScreen) is None:
            if reason := self._session.not_ready_reason:
                self._services.dismiss_toasts([one_line(reason, 60).rstrip("…")])  # the form shows it at its field
            self._services.push_screen(FormScreen(self._services, self._runners, store, draft))
