"""The engine as the screen uses it: one session, one choice of runner, and all that a person can ask for."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from console.launch import LaunchOptions

if TYPE_CHECKING:
    from engine.api import Attachment, Engine, Entry, EventEnvelope, QueueItem, RunOptions, RunRow, Ticket

OpenEngine = Callable[[], Awaitable["Engine"]]
HELD = 16
"""Files that are held until they are sent, of up to 1 MiB each; larger ones stay where they are."""
AGAIN = 1.0
"""Seconds until what failed is tried again."""


class MessageTarget(NamedTuple):
    """Where something is said, and who is to answer."""

    session: str
    choice: "RunOptions"


class ActiveSession:
    """Opened after the first frame is drawn: the engine costs more to load than the screen."""

    def __init__(self, opening: LaunchOptions, open_engine: OpenEngine | None = None) -> None:
        self._opening = opening
        self._open_engine = open_engine
        """How a test opens its own engine, with its clock and ids."""
        self._fresh: deque[Entry] = deque()
        self._hearing: asyncio.Task[None] | None = None
        self._engine: Engine | None = None
        self.deafness: Exception | None = None
        """Why what is new cannot be heard."""
        self.session = ""
        self._remark = ("", "")
        """A session in which nothing was said yet, and what is to be said of it."""
        self._held: dict[str, Attachment] = {}
        """By their paths, files as they were when they were attached."""
        self.runner: str | None = opening.runner
        """What was chosen, by its name; none where the project says enough."""
        self.runner_id = ""
        self.agent_id: str | None = None
        """Its agent, where trackside.yaml has one."""
        self.unready: str | None = None
        """Why nothing can be run yet: no runner is chosen, or the one that is lacks settings."""
        self.lacks_settings = False
        """It is that its form does not fit."""
        self.cannot_steer: str | None = None
        """Why the chosen runner cannot be steered."""
        self.is_first_time = False
        """Nothing ever ran in this database."""

    @property
    def engine(self) -> "Engine":
        if self._engine is None:
            raise RuntimeError("the engine is not open yet")
        return self._engine

    @property
    def is_open(self) -> bool:
        return bool(self.session)

    @property
    def nothing_said(self) -> str:
        """What is to be said of a session in which nothing was; mostly there is nothing to say."""
        from console.model.commands.key_labels import key_of  # noqa: PLC0415

        session, words = self._remark
        rest = f"It begins with your first message; {key_of('app.sessions')} lists all sessions."
        return f"{words} {rest}" if words and session == self.session else ""

    async def open(self) -> None:
        """Load the engine, find the runner, and begin to listen. Raises what the engine says in a sentence."""
        api = await asyncio.to_thread(_load)
        opening = self._opening
        if self._open_engine is not None:
            self._engine = await self._open_engine()
        else:
            self._engine = await api.Engine.open(opening.target, db=opening.db)
        try:
            await self._enter()
        except BaseException:
            await self.close()
            self._engine = None
            raise

    async def _enter(self) -> None:
        session = await self._first_session()
        await self.engine.runners.discover()
        await self.look_again(session)  # where nobody can run, one can be chosen at the screen
        self.is_first_time = not await self.engine.runs.list(limit=1)
        self._hearing = asyncio.ensure_future(self._hear(await self.engine.last_row()))
        self.session = session

    async def close(self) -> None:
        """Stop what runs here and leave nothing behind."""
        if self._hearing is not None:
            self._hearing.cancel()
        if self._engine is not None:
            await self._engine.close()

    # Who runs

    async def choose(self, name: str, session: str = "") -> None:
        """Have this agent or runner from the next run on; raises in words where that cannot be, and nothing changes."""
        before, self.runner = self.runner, name
        try:
            await self.appraise(session)
        except BaseException:
            self.runner = before
            raise

    async def look_again(self, session: str = "") -> None:
        """The same as `appraise`; where nobody can run, `unready` says why.

        Where several could, it is who answered last in the session.
        """
        from console.data.health import words_of  # noqa: PLC0415
        from engine.api import ConfigError, IntakeError, RunnersError  # noqa: PLC0415

        try:
            await self.appraise(session)
        except (ConfigError, IntakeError, RunnersError) as error:
            self.unready, self.lacks_settings = words_of(error), False
            if self.runner is None:
                await self._choose_the_last(session or self.session)

    async def _choose_the_last(self, session: str) -> None:
        """Have who answered last in a session, if that one is still there and fits; else nothing changes."""
        from engine.api import ConfigError, IntakeError, RunnersError  # noqa: PLC0415

        before = self.unready, self.runner_id, self.agent_id, self.cannot_steer
        for run in await self.engine.runs.list(conversation_id=session, limit=1):
            with suppress(ConfigError, IntakeError, RunnersError):
                await self.choose(run.agent_id or run.runner_id, session)
        if self.unready is not None:
            self.runner, self.lacks_settings = None, False
            self.unready, self.runner_id, self.agent_id, self.cannot_steer = before

    async def go_into(self, session: str) -> None:
        """Go on with another session; where nobody was chosen yet, with who answered there."""
        self.session = session
        if self.runner is None and not self.runner_id:
            await self.look_again()

    async def appraise(self, session: str = "") -> None:
        """See what the chosen runner is and can do; again when its files or settings have changed."""
        from engine.api import FormError  # noqa: PLC0415

        try:
            order = self._order("…", MessageTarget(session or self.session, self._choice()))
        except FormError as error:
            form = await self.engine.settings.form(self.runner)
            self.runner_id, self.agent_id, self.cannot_steer = form.runner_id, form.agent_id, None
            self.unready, self.lacks_settings = str(error), True
            return
        clause = order.grants.apis["steering_pull"]
        self.runner_id, self.agent_id = order.binding.runner_id, order.binding.agent_id
        self.cannot_steer = None if clause.allowed else clause.words
        self.unready = None
        if self.agent_id is None:
            self.runner = self.runner_id  # the only one there is need not stay so

    def drain(self) -> "list[Entry]":
        """What was committed since the last look."""
        entries = list(self._fresh)
        self._fresh.clear()
        return entries

    # What is said

    @property
    def address(self) -> MessageTarget:
        """Where what is said now belongs, however long it takes to be sent."""
        return MessageTarget(self.session, self._choice())

    async def send(
        self,
        text: str,
        to: MessageTarget,
        *,
        after: bool = False,
        files: Sequence[str] = (),
        dropped: str | None = None,
    ) -> "Ticket":
        """Say something, with files by their paths; with an item that was dropped, it is said again where it was."""
        whole = text.encode(errors="replace").decode()  # half a character cannot be written anywhere
        if dropped is not None:
            return await self.engine.queue.resend(dropped, to.choice, text=whole, after=after)
        attached = {path: self._held.pop(path, None) or await self.engine.runs.attach(Path(path)) for path in files}
        try:
            return await self.engine.runs.submit(self._order(whole, to, [*attached.values()]), after=after)
        except Exception:
            self._held |= attached
            raise

    async def attach(self, path: str, *, is_new: bool = True) -> None:
        """Have a file as it is now, so that it is sent like this; raises where it cannot go along.

        One that is not new may be held since it was attached: then it goes along, whatever became of it.
        """
        if is_new:
            self._held.pop(path, None)
        if path not in self._held:
            self._held[path] = await self.engine.runs.attach(Path(path))
        while len(self._held) > HELD:
            del self._held[next(iter(self._held))]

    async def submit(self, envelope: "EventEnvelope") -> "Ticket":
        """Send an event that was put together by hand."""
        return await self.engine.runs.submit(self.engine.runs.prepare(envelope, self._choice()))

    async def again(self, run_id: str) -> "Ticket":
        """The input of a run once more, as a new event of this session."""
        return await self.engine.runs.run_again(run_id, self._choice())

    async def turn(self, item_id: str, mode: str) -> None:
        """Into the run at work, or after it."""
        from engine.api import Mode  # noqa: PLC0415

        await self.engine.queue.set_mode(item_id, Mode(mode))

    def new_session(self, words: str = "") -> None:
        """Leave this conversation; the next message begins another, of which there may be something to say."""
        self.session = self.engine.ids.new("ses")
        self._remark = (self.session, words)

    # What is looked at

    async def waiting(self) -> "list[QueueItem]":
        """What waits in this session, and what was dropped or withdrawn there and can be had back."""
        from console.model.queue.items import UNDO_US  # noqa: PLC0415  (not before the first frame)

        since = self.engine.now() - UNDO_US
        # In this order: what is lost between the two looks is seen twice, not never.
        items = await self.engine.queue.list(self.session)
        lost = await self.engine.queue.list_resendable(self.session, withdrawn_since=since)
        gone = {item.item_id for item in lost}
        return [*(item for item in items if item.item_id not in gone), *lost]

    async def past(self, run_id: str) -> "tuple[RunRow, list[Entry], int]":
        """A run that is to be shown: its row, the course of it, and how long its journal is.

        Of a long one it is how it began, and the last of the rest.
        """
        run, outline = await self.engine.runs.get(run_id), await self.engine.runs.outline(run_id)
        if outline and outline[0].position > 1:
            outline = [*await self.engine.runs.journal(run_id, after=0, limit=1), *outline]
        return run, outline, await self.engine.runs.last_position(run_id)

    # Inside

    async def _first_session(self) -> str:
        from engine.api import NotFound  # noqa: PLC0415

        opening = self._opening
        if opening.goes_on:
            with suppress(NotFound):  # there is nothing to go on with: here it begins
                return (await self.engine.sessions.get("last")).session.session_id
        if opening.session is None:
            return self.engine.ids.new("ses")
        from console.data.session_names import session_named  # noqa: PLC0415

        session, words = await session_named(self.engine, opening.session)
        self._remark = (session, words)
        return session

    def _order(self, text: str, to: MessageTarget, attachments: "Sequence[Attachment]" = ()) -> Any:
        from engine.api import message  # noqa: PLC0415

        envelope = message(self.engine.ids.new("evt"), text, conversation_id=to.session)
        if attachments:
            given = envelope.input.model_copy(update={"attachments": [*attachments]})
            envelope = envelope.model_copy(update={"input": given})
        return self.engine.runs.prepare(envelope, to.choice)

    def _choice(self) -> "RunOptions":
        from engine.api import RunOptions  # noqa: PLC0415

        return RunOptions(runner=self.runner, env=self._opening.env, kept=True)

    async def _hear(self, since: int) -> None:
        """Listen on and on: where that breaks off it begins again, behind what was heard last."""
        while True:
            try:
                await self.engine.last_row()  # where this can be read, so can what is new
                self.deafness = None
                async with self.engine.subscribe(since) as news:
                    async for batch in news:
                        self._fresh.extend(told.entry for told in batch)
                        since = batch[-1].row
            except Exception as error:  # noqa: BLE001  (whatever it was, the screen says it)
                self.deafness = error
            else:
                return  # the engine was closed
            await asyncio.sleep(AGAIN)


def _load() -> Any:
    import engine.api  # noqa: PLC0415

    return engine.api
