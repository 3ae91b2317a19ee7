"""Reads runners and trackside.yaml again as soon as their files are saved."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from console.data.health import error_text
from console.model.commands.key_labels import key_of
from console.model.runners.code_changes import CodeStatus, change_notice, load_error_text

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.runners.controller import RunnersController
    from console.ui.shared.services import AppServices, Severity


class CodeWatcher:
    """Watches the files of the runners, and knows whether the code of the run shown is current."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", runners: "RunnersController") -> None:
        self._services = services
        self._session = active_session
        self._runners = runners
        self._status = CodeStatus()
        self._watch_task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._watch_task = asyncio.ensure_future(self._watch())

    @property
    def header_text(self) -> str | None:
        """The header's remark on the code, or on why no run can start."""
        view = self._services.updater.view
        text = self._status.label(view and view.run_id, is_over=view is None or view.status.is_over)
        if text is None and self._session.not_ready_reason is not None:
            if self._session.has_invalid_settings:
                return f"invalid settings · {key_of('app.settings')}"
            return f"no runner · {key_of('app.runners')}"
        return text

    def action_reload_code(self) -> None:
        if self._services.check_can("app.reload_code"):
            self._services.run_in_background(self._reload(), "Runners and trackside.yaml are reloaded.")

    async def _watch(self) -> None:
        # Loaded now, so that opening the form does not wait for it (15 to 60 ms on a slow machine).
        await asyncio.to_thread(import_module, "console.ui.settings_form.screen")
        try:
            async for _ in self._session.engine.runners.watch():
                await self._reload_changed()
        except Exception as error:  # noqa: BLE001  (watching is not worth a crash)
            self._services.show_toast(error_text(error), severity="warning")

    async def _reload_changed(self) -> None:
        try:
            await self._reload()
        except Exception as error:  # noqa: BLE001  (the next change may be valid)
            self._services.show_toast(load_error_text(error), severity="error")

    async def _reload(self) -> None:
        """Read the files again and show what changed for the chosen runner. Raises if they are invalid."""
        from console.data.errors import ConfigError  # noqa: PLC0415  (loads the engine)
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        runners, session, status = self._session.engine.runners, self._session, self._status
        view = self._services.updater.view
        before, was_broken, was_project_broken = runners.problems(), status.is_broken, status.is_project_broken
        invalid_before = {(agent.agent_id, agent.key) for agent in await asyncio.to_thread(runners.invalid_agents)}
        try:
            reloaded = await runners.reload()
        except ConfigError:
            status.is_project_broken = True
            raise
        except Exception:
            status.is_broken = True
            raise
        invalid = await asyncio.to_thread(runners.invalid_agents)
        run_id = view.run_id if view is not None else None
        is_old = run_id is not None and await runners.has_stale_code(run_id)
        runner_id, agent_id = session.runner_id, session.agent_id
        if runner_id in (*reloaded.changed, *reloaded.gone):
            status.set_changed(run_id, is_old=is_old)
        await session.refresh_runner()
        is_out = session.not_ready_reason is not None and not session.has_invalid_settings
        status.is_broken, status.is_project_broken = runner_id in reloaded.gone or (was_broken and is_out), False
        notice = change_notice(
            reloaded, before, runner_id, is_old=is_old, can_run_again=self._services.situation.can_run_again,
            was_broken=(was_broken or was_project_broken) and not status.is_broken, agent_id=agent_id,
            is_listed=self._services.screen is self._runners.picker,
            invalid_agents=[agent for agent in invalid if (agent.agent_id, agent.key) not in invalid_before],
        )  # fmt: skip
        if notice is not None:
            self._services.show_toast(notice.words, severity=cast("Severity", notice.severity))
        for text in reloaded.notes:
            self._services.show_toast(text)
        await self._runners.refresh_picker()
        if (form := self._services.find_screen(FormScreen)) is not None:
            await form.reload()
