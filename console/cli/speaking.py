"""What a command says to its run while it works: each message at its moment, and what became of each."""

import argparse
import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from console.cli.exits import UsageError
from console.cli.moments import Saying
from console.cli.terminal import complain
from console.model.safe import one_line
from console.model.talk.ends import why_dropped
from engine.api import Choice, Engine, Entry, EventEnvelope, FactsError, Fate, IntakeError, RunOrder, Ticket, message

LAST: Final = "run.finished"
_SHOWN: Final = 80
_WAITS: Final = "It waits for the run's end, and becomes a run of its own."


@dataclass(slots=True)
class _Said:
    """One message."""

    text: str
    is_after: bool = False
    ticket: Ticket | None = None
    """None until it is sent."""


class Speaker:
    """Speaks for the person at the command. What the run does not take in is in line to be a run of its own."""

    def __init__(self, engine: Engine, order: RunOrder, choice: Choice, options: argparse.Namespace) -> None:
        self._engine = engine
        self._place = order.envelope
        self._choice = choice
        self._coming: list[Saying] = list(options.steer)
        """Those whose moment has not come."""
        self._said: list[_Said] = []
        self._due: asyncio.Queue[_Said] = asyncio.Queue()
        self._line: deque[Ticket] = deque()
        self._is_hushed = False
        self._listening: asyncio.Task[None] | None = None
        self._others: list[asyncio.Task[None]] = []
        if options.steer or options.after:
            if not self.has_session:
                raise UsageError("--steer and --after speak in the event's session, and this event has none.")
            # Whether the runner takes messages at all is said before anything runs.
            engine.prepare(self._message("hello"), choice)
        for text in options.after:
            self._say(text, after=True)

    @property
    def has_session(self) -> bool:
        return self._place.conversation_id is not None

    def begin(self, run_id: str, since: int) -> None:
        """The run has started: speak from here on."""
        self._listening = asyncio.ensure_future(self._listen(run_id, since))
        self._others.append(asyncio.ensure_future(self._send_all()))

    async def send(self, text: str) -> Ticket | None:
        """Say something now, behind all that is due; none if it could not be sent."""
        said = self._say(text)
        await self._due.join()
        return said.ticket

    async def next(self) -> Ticket | None:
        """The first run ended: the next that becomes, or has become, a run of its own; none if that is all."""
        if self._listening is not None:
            await asyncio.wait({self._listening})
            if not self._listening.cancelled():
                self._listening.result()
            await self._due.join()
        return self._line.popleft() if self._line else None

    async def withdraw(self) -> None:
        """Say no more, and take back what waits for its run; one that starts at this moment stays in line."""
        self._is_hushed = True
        if self._listening is not None:
            self._listening.cancel()
            await self._due.join()
        for said in self._said:
            if said.ticket is not None and said.ticket.item_id is not None and not said.ticket.started.done():
                with suppress(FactsError):
                    await self._engine.withdraw_item(said.ticket.item_id)

    async def close(self) -> None:
        """Tell what was not delivered, so that it can be sent again."""
        for task in (self._listening, *self._others):
            if task is not None:
                task.cancel()
        dropped = await self._dropped()
        for said in self._said:
            if (why := _why_undelivered(said, dropped)) is not None:
                complain(f"not delivered: {said.text} ({why})")
        for saying in self._coming:
            complain(f"--steer {one_line(saying.typed, _SHOWN)!r}: it never came to that; the message was not sent.")

    # Inside

    async def _listen(self, run_id: str, since: int) -> None:
        """Hear the run out. By a subscription of its own: who reads the output slowly must not delay what is said."""
        counts: Counter[str] = Counter()
        timing: asyncio.Task[None] | None = None
        try:
            async with self._engine.subscribe(since, run_id=run_id) as news:
                async for batch in news:
                    for told in batch:
                        kind = told.entry.type
                        counts[kind] += 1
                        self._come(
                            [it for it in self._coming if (it.moment.kind, it.moment.number) == (kind, counts[kind])]
                        )
                        if kind == "run.started":
                            timing = asyncio.ensure_future(self._keep_time(told.entry))
                    if batch[-1].entry.type == LAST:
                        return
        finally:
            if timing is not None:
                timing.cancel()

    async def _keep_time(self, started: Entry) -> None:
        timed = [(it.moment.seconds, it) for it in self._coming if it.moment.seconds is not None]
        for seconds, saying in sorted(timed, key=lambda one: one[0]):
            passed = (self._engine.now() - started.at) / 1_000_000
            await asyncio.sleep(max(0.0, seconds - passed))
            self._come([saying])

    def _come(self, sayings: list[Saying]) -> None:
        for saying in sayings:
            self._coming.remove(saying)
            self._say(saying.text)

    def _say(self, text: str, *, after: bool = False) -> _Said:
        said = _Said(text, after)
        self._said.append(said)
        self._due.put_nowait(said)
        return said

    async def _send_all(self) -> None:
        """One after the other: what is due at the same moment keeps its order."""
        while True:
            said = await self._due.get()
            try:
                if not self._is_hushed:
                    await self._send(said)
            except (FactsError, IntakeError) as error:
                complain(f"{_quoted(said.text)} could not be sent: {error}")
            finally:
                self._due.task_done()

    async def _send(self, said: _Said) -> None:
        said.ticket = ticket = await self._engine.submit(self._message(said.text), self._choice, after=said.is_after)
        if ticket.claimed_by is not None:
            return
        self._line.append(ticket)
        if ticket.waits_for is not None and not said.is_after:
            why = "" if ticket.why is None else f": {ticket.why}"
            complain(f"{_quoted(said.text)} does not go into the run{why}. {_WAITS}")

    def _message(self, text: str) -> EventEnvelope:
        """As a person says it, where the event came from."""
        place = self._place
        said = message(
            self._engine.ids.new("evt"), text, conversation_id=place.conversation_id, thread_id=place.thread_id
        )
        return said.model_copy(update={"bot_id": place.bot_id, "workspace_id": place.workspace_id})

    async def _dropped(self) -> dict[str, str]:
        """By item, why the run that had claimed it did not get it."""
        claimants = {said.ticket.claimed_by for said in self._said if said.ticket is not None}
        why: dict[str, str] = {}
        with suppress(FactsError):
            for run_id in claimants - {None}:
                for receipt in (await self._engine.steering(str(run_id))).receipts:
                    if receipt.fate == Fate.DROPPED:
                        why[receipt.id] = why_dropped(receipt.reason)
        return why


def _why_undelivered(said: _Said, dropped: Mapping[str, str]) -> str | None:
    if said.ticket is None:
        return "it was not sent"
    if said.ticket.started.cancelled():
        return "it was withdrawn while it waited"
    return dropped.get(said.ticket.item_id or "")


def _quoted(text: str) -> str:
    return f"{one_line(text, _SHOWN)!r}"
