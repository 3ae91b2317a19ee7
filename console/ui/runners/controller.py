"""Chooses the runner, from the list or by a path."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line
from console.model.text.sentence import as_sentence
from console.model.text.units import short_runner

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.model.runners.choices import RunnerChoice
    from console.ui.main.screen import MainScreen
    from console.ui.runners.screen import RunnerList, RunnersScreen
    from console.ui.shared.services import AppServices


class RunnersController:
    """Opens the runner picker, and uses the runner that is chosen in it."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", main: "MainScreen") -> None:
        self._services = services
        self._session = active_session
        self._main = main

    def ask_if_not_ready(self) -> None:
        """After the start: show why no run can start, and open the picker if no runner is chosen."""
        if self._session.not_ready_reason is None:
            return
        if self._services.full_screen is None:  # an open settings form shows the reason at its field
            self._services.show_toast(self._session.not_ready_reason, severity="warning")
        if not self._session.runner_id:
            self.action_runners()

    def action_runners(self) -> None:
        if self._services.check_can("app.runners"):
            from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415

            self._services.push_screen(RunnersScreen(self._services, self))

    async def load_choices(self) -> "RunnerList":
        """Everything that can be chosen now."""
        from console.model.runners.choices import list_choices  # noqa: PLC0415
        from console.model.text.paths import short_path  # noqa: PLC0415
        from console.ui.runners.screen import RunnerList  # noqa: PLC0415

        runners = self._session.engine.runners
        summaries = await runners.summaries()
        shown_path = partial(short_path, here=str(Path.cwd()), home=str(Path.home()))
        recent, last_used = await runners.recent_places(), await runners.agents_last_used()
        found = list_choices(
            runners.agents(),
            summaries,
            runners.problems(),
            runners.invalid_agents(),
            shown_path,
            recent,
            last_used,
        )
        return RunnerList(found, self._key_in_use(found), self._session.engine.now())

    def _key_in_use(self, found: "tuple[RunnerChoice, ...]") -> str:
        """The key of the chosen runner in the list."""
        agent_id, runner_id = self._session.agent_id, self._session.runner_id
        kind, name = ("runner", runner_id) if agent_id is None else ("agent", agent_id)
        return next((one.key for one in found if one.kind == kind and name in (one.name, one.runner_id)), "")

    @property
    def picker(self) -> "RunnersScreen | None":
        """The runner picker, if it is open."""
        from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415

        return self._services.find_screen(RunnersScreen)

    async def refresh_picker(self) -> None:
        """Read the list again, if the picker is open."""
        if (picker := self.picker) is not None:
            await picker.reload()

    # Choosing

    def choose(self, choice: "RunnerChoice") -> None:
        """Use a runner or an agent of the list from the next run on."""
        name = choice.name if choice.kind == "agent" else choice.runner_id
        choosing = self._services.wait_with_toast(self._choose(name), f"Reading {short_runner(name)}…")
        self._services.run_in_background(choosing)

    async def _choose(self, name: str) -> None:
        from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        session = self._session
        form = self._services.find_screen(FormScreen)
        if form is not None and not self._services.save_inputs([form]):
            return
        await session.choose_runner(name)
        self._services.close_full_screens(RunnersScreen, FormScreen)
        self._main.show_card(is_shown=False)  # it is about the bundled runner
        self._main.prompt.remove_proposal()
        if session.not_ready_reason is not None:
            text = f"{session.not_ready_reason} {key_of('app.settings')} opens its settings."
            self._services.show_toast(text, severity="warning")
        else:
            name = session.agent_id or short_runner(session.runner_id)
            rest = "; the run in progress continues unchanged" if self._services.situation.is_running else ""
            self._services.show_toast(f"{name} answers from the next message on{rest}.")

    def open_path(self, path: str, *, is_recent: bool) -> None:
        """Use the runner of a file or folder, typed or from the list of recent places."""
        opening = self._open_path(Path(path), is_recent=is_recent)
        self._services.run_in_background(self._services.wait_with_toast(opening, f"Reading {one_line(path, 80)}…"))

    async def _open_path(self, path: Path, *, is_recent: bool) -> None:
        from console.data.errors import RunnersError, TargetNotFound  # noqa: PLC0415  (loads the engine)

        runners = self._session.engine.runners
        try:
            found = await runners.add_place(path)
        except RunnersError as error:
            if is_recent and isinstance(error, TargetNotFound):
                await runners.forget_recent_place(str(path))
                await self.refresh_picker()
                self._services.show_toast(f"{path} no longer exists and is removed from the list.", severity="warning")
            elif is_recent or self.picker is None:
                raise
            else:
                self.picker.show_path_error(as_sentence(str(error)))
            return
        # In the background: the runner can run even if the place cannot be stored.
        self._services.run_in_background(runners.add_recent_place(path))
        if len(found) == 1:
            await self._choose(str(found[0].id))
            return
        await self.refresh_picker()
        if (picker := self.picker) is not None:
            picker.search.value = ""
        self._services.show_toast(f"Found {len(found)} runners there: choose one.")
