"""Keeps the unsent text of the prompt in a file while the console runs."""

from typing import TYPE_CHECKING, Final

from console.data.prompt_drafts import Draft, PromptDrafts
from console.model.text.safe import one_line

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.send import MessageSender
    from console.ui.prompt.prompt import Prompt
    from console.ui.shared.services import AppServices

SAVE_SECONDS: Final = 0.5
"""Seconds after which typed text is in the file."""
FIRST_MESSAGE: Final = "Plan a day in Kyoto"
"""The message that the prompt proposes to a new user. Nobody typed it, so it is not kept."""
MAX_TITLE_CHARACTERS: Final = 60


class DraftKeeper:
    """Saves the draft of this process, and restores the one that an earlier process left behind."""

    def __init__(
        self, services: "AppServices", active_session: "ActiveSession", prompt: "Prompt", sender: "MessageSender"
    ) -> None:
        self._services = services
        self._session = active_session
        self._prompt = prompt
        self._sender = sender
        self._file: PromptDrafts | None = None
        self._is_changed = False

    @property
    def is_open(self) -> bool:
        """Whether drafts are saved: only after the engine is open."""
        return self._file is not None

    @property
    def unsent(self) -> str:
        """Everything that was typed and is not on disk yet."""
        typed, early = self._prompt.unsent_text, (message.typed for message in self._sender.early)
        return "\n".join(filter(None, [*self._sender.sending, *early, "" if typed == FIRST_MESSAGE else typed]))

    def open(self) -> None:
        """Restore the draft of an earlier process into the prompt, and save drafts from now on."""
        self._file = PromptDrafts(self._session.engine.database_path)
        if (draft := self._file.take()) is not None:
            self._prompt.attachments.restore(draft.text, draft.files)
            self._services.run_in_background(self._show_restored(draft.session))

    async def _show_restored(self, session_id: str) -> None:
        """Show that a draft is restored, and its session if that is another one."""
        from console.data.session_names import names_of  # noqa: PLC0415
        from console.model.text.units import has_name, short_session  # noqa: PLC0415  (a restored draft is rare)

        text, title = "Your unsent text is back in the prompt", ""
        if session_id and session_id != self._session.session_id:
            titles = await names_of(self._session.engine, [session_id])
            title = titles.get(session_id) or (short_session(session_id) if has_name(session_id, None) else "")
        whose = f" (from the session “{one_line(title, MAX_TITLE_CHARACTERS)}”)" if title else ""
        self._services.show_toast(f"{text}{whose}.")

    def mark_changed(self) -> None:
        """The prompt has a new text."""
        self._is_changed = True

    def save(self, *, is_forced: bool = False) -> None:
        """Write the draft if it may have changed since the last call."""
        sending = bool(self._sender.sending)
        if self._file is not None and (self._is_changed or sending or is_forced):
            self._is_changed = sending
            files = self._prompt.attachments.tokens.files_in(self.unsent)
            self._file.save(Draft(self.unsent, files, self._session.session_id))

    def release(self) -> None:
        """Leave the draft to the next process."""
        if self._file is not None:
            self._file.release()
