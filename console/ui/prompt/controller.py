"""Tools of the prompt: attachments, an external editor, and the history of sent messages."""

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from console.model.prompt.mentions import find_mentioned_files
from console.model.text.paths import Candidate, candidates, pasted_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.prompt.attachments import PromptAttachments
    from console.ui.shared.services import AppServices


class NoTerminal(Exception):
    """The screen is not drawn on a terminal, for example in a browser."""


class PromptController:
    """Carries out what the prompt asks for."""

    def __init__(
        self, app: "App[None]", services: "AppServices", active_session: "ActiveSession", main: "MainScreen"
    ) -> None:
        self._app = app
        self._services = services
        self._session = active_session
        self._main = main
        self.is_editor_open = False
        """An external editor has the terminal."""

    # Attachments

    def action_attach(self) -> None:
        if self._services.check_can("app.attach"):
            self._main.focus_pane("chat")
            self._main.prompt.action_attach()

    def complete_path(self, typed: str) -> None:
        """Offer the paths that begin as typed."""

        async def complete() -> None:
            self._main.prompt.attachments.offer_paths(typed, await asyncio.to_thread(candidates, typed))

        self._services.run_in_background(complete())

    def attach_typed_path(self, path: str) -> None:
        """Attach a path that was typed to its end, if the file exists."""

        async def attach() -> None:
            found = (await asyncio.to_thread(find_mentioned_files, [path]))[path]
            if isinstance(found, Candidate):
                self._main.prompt.attachments.attach_mentioned({path: found})

        self._services.run_in_background(attach())

    def attach_pasted_paths(self, pasted: "PromptAttachments.PathsPasted") -> None:
        """Attach pasted paths; other text stays as it is."""

        async def attach() -> None:
            files, problem = await asyncio.to_thread(pasted_files, pasted.readings)
            if files:
                self._main.prompt.attachments.attach(files, instead_of=pasted.text)
            elif problem:
                self._services.show_toast(f"{problem}. The path stays in the message as text.")

        self._services.run_in_background(attach())

    def read_attached_file(self, attached: "PromptAttachments.Attached") -> None:
        """Read a file when it is attached, so that a problem is shown now and not only when it is sent."""
        if not self._session.is_open:
            return

        async def read() -> None:
            try:
                await self._session.attach(attached.file.path, is_new=attached.is_new)
            except Exception:
                self._main.prompt.attachments.detach(attached.token)
                raise

        self._services.run_in_background(read())

    # External editor

    def action_editor(self) -> None:
        self._services.run_in_background(self._edit_in_editor())

    async def _edit_in_editor(self) -> None:
        from console.ui.terminal.editor import edit_text, editor_command  # noqa: PLC0415

        prompt, command = self._main.prompt, editor_command()
        before = prompt.full_text
        with self._lend_terminal():
            text = await edit_text(command, before)
        returned = "" if prompt.full_text == before else prompt.full_text.removesuffix(before).removesuffix("\n")
        prompt.load(text)
        if returned:  # a message that could not be sent meanwhile
            prompt.restore_text(returned)
        self._main.go_to("prompt")

    @contextmanager
    def _lend_terminal(self) -> "Iterator[None]":
        """Leave the terminal to another program. Runs continue, and nothing is drawn."""
        driver = self._app._driver  # noqa: SLF001
        if driver is None or not driver.can_suspend:
            raise NoTerminal("An editor needs a terminal. Write the message in the prompt instead.")
        failed: BaseException | None = None
        with self._app.suspend():
            self.is_editor_open = True
            # Textual would wait for ever for its writer thread, which has ended.
            setattr(driver, "write", discard_output)  # noqa: B010
            try:
                yield
            except BaseException as error:  # noqa: BLE001  (Textual does not resume if it is raised in here)
                failed = error
            del driver.write
            self.is_editor_open = False
        self._app.screen.refresh(layout=True)
        if failed is not None:
            raise failed

    # History

    def action_history(self) -> None:
        from console.ui.shared.finder import Finder  # noqa: PLC0415

        newest_first = self._main.prompt.sent[::-1]
        finder = Finder("Sent before", newest_first, no_match="No sent message matches.", empty="No earlier message.")
        self._services.push_screen(finder, self._recall)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._main.prompt.recall(text)
            self._main.go_to("prompt")

    async def load_history(self) -> None:
        """Add the messages that were sent in all sessions before the console was opened."""
        from console.data.prompt_history import load_sent_messages  # noqa: PLC0415

        self._main.prompt.set_history(await load_sent_messages(self._session.engine))


def discard_output(data: str) -> None:
    """Takes the place of a driver's `write` while nothing may be written to the terminal."""
