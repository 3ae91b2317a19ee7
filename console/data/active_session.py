"""The engine as the screen uses it: one session and one chosen runner."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from console.launch import LaunchOptions
from console.model.text.sentence import as_sentence

if TYPE_CHECKING:
    from engine.api import Attachment, Engine, Entry, EventEnvelope, QueueItem, RunOptions, RunRow, Ticket

OpenEngine = Callable[[], Awaitable["Engine"]]
MAX_HELD_FILES: Final = 16
"""Attached files that are kept in memory until they are sent, of up to 1 MiB each; larger ones stay on disk."""
RETRY_SECONDS = 1.0
"""Seconds until something that failed is tried again."""
UPGRADE_RETRY_SECONDS = 60.0
"""Seconds until an upgrade that failed is tried again, because each attempt may take minutes."""


class MessageTarget(NamedTuple):
    """The session that a message goes to, and the runner that answers it."""

    session_id: str
    options: "RunOptions"


class ActiveSession:
    """Opened after the first frame, because the engine takes longer to load than the screen."""

    def __init__(self, options: LaunchOptions, open_engine: OpenEngine | None = None) -> None:
        self._options = options
        self._open_engine = open_engine
        """Opens the engine of a test, with its clock and ids."""
        self._new_entries: deque[Entry] = deque()
        self._subscription: asyncio.Task[None] | None = None
        self._engine: Engine | None = None
        self.subscription_error: Exception | None = None
        """Why new entries cannot be read."""
        self.session_id = ""
        self._remark = ("", "")
        """The id of a session without messages, and a remark on it."""
        self._held_files: dict[str, Attachment] = {}
        """Files as they were when they were attached, by path."""
        self.runner_choice: str | None = options.runner
        """The name of the chosen agent or runner; None if the project decides."""
        self.runner_id = ""
        self.agent_id: str | None = None
        """The chosen agent, if trackside.yaml has one."""
        self.not_ready_reason: str | None = None
        """Why no run can start: no runner is chosen, or its settings are invalid."""
        self.has_invalid_settings = False
        self.cannot_steer: str | None = None
        """Why the chosen runner cannot be steered; None if it can."""
        self.is_first_time = False
        """The database has no runs."""
        self.upgrade_percent: int | None = None
        """The progress of an upgrade of the database; None if there is none."""
        self.has_tried_upgrade = False
        """Whether the last attempt to open the engine began an upgrade."""

    @property
    def engine(self) -> "Engine":
        if self._engine is None:
            raise RuntimeError("the engine is not open yet")
        return self._engine

    @property
    def is_open(self) -> bool:
        return bool(self.session_id)

    @property
    def retry_seconds(self) -> float:
        """Seconds until opening the engine is tried again."""
        return UPGRADE_RETRY_SECONDS if self.has_tried_upgrade else RETRY_SECONDS

    @property
    def empty_text(self) -> str:
        """The remark on this session while it has no messages; mostly empty."""
        from console.model.commands.key_labels import key_of  # noqa: PLC0415

        session_id, text = self._remark
        rest = f"The session starts with your first message; {key_of('app.sessions')} lists all sessions."
        return f"{text} {rest}" if text and session_id == self.session_id else ""

    async def open(self, on_upgrade: Callable[[], None] | None = None) -> None:
        """Load the engine, choose the runner and subscribe to new entries. Raises the engine's own errors.

        `on_upgrade` is called when `upgrade_percent` has changed.
        """
        api = await asyncio.to_thread(_import_api)
        loop = asyncio.get_running_loop()

        shown = -1

        def report(done: int, total: int) -> None:
            nonlocal shown
            percent = 100 * done // max(total, 1)
            if percent != shown:  # much work is done in small steps
                shown = percent
                loop.call_soon_threadsafe(self._set_upgrade, percent, on_upgrade)

        try:
            if self._open_engine is not None:
                self._engine = await self._open_engine()
            else:
                options = self._options
                self._engine = await api.Engine.open(options.target, db=options.db, on_progress=report)
        finally:
            self.has_tried_upgrade = shown >= 0
            self._set_upgrade(None, None)
        try:
            await self._start()
        except BaseException:
            await self.close()
            self._engine = None
            raise

    def _set_upgrade(self, percent: int | None, on_upgrade: Callable[[], None] | None) -> None:
        self.upgrade_percent = percent
        if on_upgrade is not None:
            on_upgrade()

    async def _start(self) -> None:
        session_id = await self._first_session()
        await self.engine.runners.discover()
        await self.refresh_runner(session_id)  # without a usable runner, the user chooses one on the screen
        self.is_first_time = not await self.engine.runs.list(limit=1)
        self._subscription = asyncio.ensure_future(self._read_new_entries(await self.engine.last_row()))
        self.session_id = session_id

    async def close(self) -> None:
        """Stop the runs of this process and close the engine."""
        if self._subscription is not None:
            self._subscription.cancel()
        if self._engine is not None:
            await self._engine.close()

    # The runner

    async def choose_runner(self, name: str, session_id: str = "") -> None:
        """Use this agent or runner from the next run on. Raises, and changes nothing, if it cannot be used."""
        before, self.runner_choice = self.runner_choice, name
        try:
            await self.check_runner(session_id)
        except BaseException:
            self.runner_choice = before
            raise

    async def refresh_runner(self, session_id: str = "") -> None:
        """Like `check_runner`, but sets `not_ready_reason` instead of raising.

        If several runners could run, the one that answered last in the session is chosen.
        """
        from console.data.health import error_text  # noqa: PLC0415
        from engine.api import ConfigError, IntakeError, RunnersError  # noqa: PLC0415

        try:
            await self.check_runner(session_id)
        except (ConfigError, IntakeError, RunnersError) as error:
            self.not_ready_reason, self.has_invalid_settings = error_text(error), False
            if self.runner_choice is None:
                await self._choose_last_runner(session_id or self.session_id)

    async def _choose_last_runner(self, session_id: str) -> None:
        """Choose the runner that answered last in a session, if it still exists and is valid."""
        from engine.api import ConfigError, IntakeError, RunnersError  # noqa: PLC0415

        before = self.not_ready_reason, self.runner_id, self.agent_id, self.cannot_steer
        for run in await self.engine.runs.list(conversation_id=session_id, limit=1):
            with suppress(ConfigError, IntakeError, RunnersError):
                await self.choose_runner(run.agent_id or run.runner_id, session_id)
        if self.not_ready_reason is not None:
            self.runner_choice, self.has_invalid_settings = None, False
            self.not_ready_reason, self.runner_id, self.agent_id, self.cannot_steer = before

    async def enter(self, session_id: str) -> None:
        """Continue another session. If no runner is chosen yet, use the one that answered there."""
        self.session_id = session_id
        if self.runner_choice is None and not self.runner_id:
            await self.refresh_runner()

    async def check_runner(self, session_id: str = "") -> None:
        """Read what the chosen runner is and can do; again after its files or settings have changed."""
        from engine.api import FormError  # noqa: PLC0415

        try:
            order = self._prepare("…", MessageTarget(session_id or self.session_id, self._run_options()))
        except FormError as error:
            form = await self.engine.settings.form(self.runner_choice)
            self.runner_id, self.agent_id, self.cannot_steer = form.runner_id, form.agent_id, None
            self.not_ready_reason, self.has_invalid_settings = as_sentence(str(error)), True
            return
        clause = order.grants.apis["steering_pull"]
        self.runner_id, self.agent_id = order.binding.runner_id, order.binding.agent_id
        self.cannot_steer = None if clause.allowed else clause.words
        self.not_ready_reason = None
        if self.agent_id is None:
            self.runner_choice = self.runner_id  # another runner may be added to the project later

    def take_new_entries(self) -> "list[Entry]":
        """The entries committed since the last call."""
        entries = list(self._new_entries)
        self._new_entries.clear()
        return entries

    # Sending

    @property
    def message_target(self) -> MessageTarget:
        """The target of a message that is sent now, however long sending takes."""
        return MessageTarget(self.session_id, self._run_options())

    async def send(
        self,
        text: str,
        to: MessageTarget,
        *,
        after: bool = False,
        continues: bool = False,
        files: Sequence[str] = (),
        dropped: str | None = None,
    ) -> "Ticket":
        """Send a message with files, given by their paths; or resend a dropped message, given by its item id.

        A run in progress of another process is steered too. If it cannot receive the message, the message waits here.
        Raises SessionDeleted if the message `continues` a session that another process has deleted.
        """
        whole = text.encode(errors="replace").decode()  # half a surrogate pair cannot be stored
        if dropped is not None:
            return await self.engine.queue.resend(dropped, to.options, text=whole, after=after, ask_elsewhere=True)
        attached = {
            path: self._held_files.pop(path, None) or await self.engine.runs.attach(Path(path)) for path in files
        }
        try:
            order = self._prepare(whole, to, [*attached.values()])
            return await self.engine.runs.submit(order, after=after, continues=continues, ask_elsewhere=True)
        except Exception:
            self._held_files |= attached
            raise

    async def attach(self, path: str, *, is_new: bool = True) -> None:
        """Read a file now, so that it is sent as it is now. Raises if it cannot be sent.

        A file that is not new may have been read when it was first attached; then it is not read again.
        """
        if is_new:
            self._held_files.pop(path, None)
        if path not in self._held_files:
            self._held_files[path] = await self.engine.runs.attach(Path(path))
        while len(self._held_files) > MAX_HELD_FILES:
            del self._held_files[next(iter(self._held_files))]

    async def submit(self, envelope: "EventEnvelope", *, continues: bool = False) -> "Ticket":
        """Send a composed event. Raises SessionDeleted if it `continues` a session that another process has deleted."""
        order = self.engine.runs.prepare(envelope, self._run_options())
        return await self.engine.runs.submit(order, continues=continues, ask_elsewhere=True)

    async def run_again(self, run_id: str) -> "Ticket":
        """Send the input of a run again, as a new event of this session."""
        return await self.engine.runs.run_again(run_id, self._run_options())

    async def set_item_mode(self, item_id: str, mode: str) -> None:
        """Deliver a queued message to the run in progress, or after it."""
        from engine.api import Mode  # noqa: PLC0415

        await self.engine.queue.set_mode(item_id, Mode(mode))

    def start_session(self, remark: str = "") -> None:
        """Start a new session. The remark is shown while it has no messages."""
        self.session_id = self.engine.ids.new("ses")
        self._remark = (self.session_id, remark)

    # Reading

    async def load_queue(self) -> "list[QueueItem]":
        """The queued messages of this session, and the dropped and withdrawn ones that can be restored."""
        from console.model.queue.items import UNDO_US  # noqa: PLC0415  (not before the first frame)

        since = self.engine.now() - UNDO_US
        # In this order: an item that is dropped between the two reads appears in both, not in neither.
        items = await self.engine.queue.list(self.session_id)
        lost = await self.engine.queue.list_resendable(self.session_id, withdrawn_since=since)
        lost_ids = {item.item_id for item in lost}
        return [*(item for item in items if item.item_id not in lost_ids), *lost]

    async def load_run(self, run_id: str) -> "tuple[RunRow, list[Entry], int]":
        """A run to show: its row, its outline and the last position of its journal.

        The outline of a long run has its first entry and the last part.
        """
        run, outline = await self.engine.runs.get(run_id), await self.engine.runs.outline(run_id)
        if outline and outline[0].position > 1:
            outline = [*await self.engine.runs.journal(run_id, after=0, limit=1), *outline]
        return run, outline, await self.engine.runs.last_position(run_id)

    async def _first_session(self) -> str:
        options = self._options
        # Not by the name `last`, which may be the id of another session.
        if options.continue_last and (sessions := await self.engine.sessions.list(limit=1)):
            return sessions[0].session_id
        if options.session is None:
            return self.engine.ids.new("ses")
        from console.data.session_names import session_named  # noqa: PLC0415

        session_id, remark = await session_named(self.engine, options.session)
        self._remark = (session_id, remark)
        return session_id

    def _prepare(self, text: str, to: MessageTarget, attachments: "Sequence[Attachment]" = ()) -> Any:
        from engine.api import message  # noqa: PLC0415

        envelope = message(self.engine.ids.new("evt"), text, conversation_id=to.session_id)
        if attachments:
            given = envelope.input.model_copy(update={"attachments": [*attachments]})
            envelope = envelope.model_copy(update={"input": given})
        return self.engine.runs.prepare(envelope, to.options)

    def _run_options(self) -> "RunOptions":
        from engine.api import RunOptions  # noqa: PLC0415

        options = self._options
        return RunOptions(runner=self.runner_choice, env=options.env, breakpoints=options.breakpoints, kept=True)

    async def _read_new_entries(self, since: int) -> None:
        """Collect new entries until the engine is closed. After an error, continue behind the last one read."""
        while True:
            try:
                await self.engine.last_row()  # raises while the database cannot be read
                self.subscription_error = None
                async with self.engine.subscribe(since) as subscription:
                    async for batch in subscription:
                        self._new_entries.extend(committed.entry for committed in batch)
                        since = batch[-1].row
            except Exception as error:  # noqa: BLE001  (the screen shows whatever it was)
                self.subscription_error = error
            else:
                return
            await asyncio.sleep(RETRY_SECONDS)


def _import_api() -> Any:
    import engine.api  # noqa: PLC0415

    return engine.api
