"""One run's part of a talk: its entries, one by one, become blocks."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from console.model.talk import loose
from console.model.talk.blocks import (
    Answer,
    Artifact,
    Block,
    End,
    Event,
    Failure,
    Filed,
    Landing,
    Note,
    Said,
    Standing,
    Steered,
    Tool,
    You,
)
from console.model.talk.ends import ended, why_dropped
from console.model.talk.saying import Saying
from console.model.talk.ties import Ties, Words
from console.model.words import duration, number
from engine.events import Entry

B = TypeVar("B", bound=Block)
Data = Mapping[str, Any]
SHORT: Final = 300
"""Characters of what is shown on one line."""
KEPT: Final = 4_000
"""Characters of a tool's output that a block keeps; the journal has all of it."""
LAST_LINES: Final = 3
WITHOUT_EFFECT: Final = frozenset({"dropped", "refused", "ignored", "unknown"})
"""Outcomes of results that are only remarked."""
_UNTOLD: Final = "(said before what is loaded here; Stream has it)"


class Course:
    """Follows one run. An entry costs by its own size, however many there were."""

    def __init__(self, run_id: str, add: Callable[[Block], None]) -> None:
        self.run_id = run_id
        self.last = 0
        """The position of the newest entry that was taken in."""
        self.is_over = False
        self._is_begun_above = False
        """Its first entries are not loaded here."""
        self.add = add
        self._began_at: int | None = None
        self.saying = Saying(lambda entry: self._new(Said, entry))
        self.ties = Ties()
        self._is_unheard = False
        """A pull brought a message that nothing before it tells of; its reply will."""
        self._heard: dict[str, Words] = {}
        """By event id, what such a reply says."""
        self._note: Note | None = None
        """The remark that came last, if nothing came after it."""
        self._by_person = self._by_runner = False
        self._trace = ""
        self._errors: deque[str] = deque(maxlen=LAST_LINES)
        self._tellers: dict[str, Callable[[Entry, Data], None]] = {
            "run.started": self._started,
            "message.delta": self.saying.delta,
            "message.completed": self.saying.complete,
            "run.completed": self.saying.complete,
            "run.failed": self._failed,
            "tool.call.started": self._tool_started,
            "tool.call.completed": self._tool_completed,
            "artifact.created": self._artifact,
            "action.requested": self._action,
            "output": self._output,
            "warning": self._warning,
            "cancel.requested": self._cancel,
            "steering.queued": self._queued,
            "steering.edited": self._queued,
            "steering.turned": self._queued,
            "steering.pulled": self._pulled,
            "steering.returned": self._returned,
            "steering.injected": self._injected,
            "steering.dropped": self._dropped,
            "call.replied": self._replied,
            "run.finished": self._finished,
        }

    def take(self, entry: Entry) -> None:
        """The next entry; one that was taken in already changes nothing."""
        if entry.position <= self.last:
            return
        if not self.last and entry.position > 1:
            self._is_begun_above = self.saying.is_begun_above = True
        self.last = entry.position
        if entry.outcome in WITHOUT_EFFECT and not entry.type.startswith("call."):
            self._remark(
                entry, f"{entry.type} {entry.outcome}: {entry.reason or 'no reason is known'}", is_warning=True
            )
            return
        teller = self._tellers.get(entry.type)
        if teller is not None and (self._is_unheard or entry.type != "call.replied"):
            teller(entry, loose.parsed(entry.data))

    def settle(self) -> None:
        """The end of a batch."""
        self.saying.settle()

    def begin_at(self, at: int) -> None:
        """The run began then; its first entry need not be known for that."""
        self._began_at = at

    def come_after(self, earlier: "Course") -> None:
        """Join with what was taken in of the entries before: what began there ends here."""
        self.ties.come_after(earlier.ties, is_over=self.is_over)
        self.saying.come_after(earlier.saying)

    # What began it

    def _started(self, entry: Entry, data: Data) -> None:
        self._began_at = entry.at
        context = loose.mapping(data.get("context"))
        event, given = loose.mapping(context.get("event")), loose.mapping(context.get("input"))
        text = loose.words(given.get("text"))
        files = files_in(given)
        if event.get("event_type", "message.received") == "message.received":
            who = loose.words(loose.mapping(context.get("actor")).get("actor_name")) or "you"
            self._new(You, entry, text=text, who=who, attachments=files)
        else:
            source = (loose.words(event.get(key)) for key in ("source", "source_event_type"))
            told = event.get("data") or None
            self._new(
                Event,
                entry,
                kind=loose.words(event.get("event_type")),
                source=" · ".join(filter(None, source)),
                text=text,
                details=loose.words(told)[:SHORT],
                actor=_actor(loose.mapping(context.get("actor"))),
                subject=_subject(loose.mapping(context.get("subject"))),
                attachments=files,
            )

    # What the runner does

    def _tool_started(self, entry: Entry, data: Data) -> None:
        self.saying.interrupt()
        given = loose.arguments(data.get("parameters"))[:SHORT]
        tool = self._new(Tool, entry, name=loose.words(data.get("tool_name")), arguments=given)
        self.ties.tools[loose.words(data.get("tool_call_id"))] = tool

    def _tool_completed(self, entry: Entry, data: Data) -> None:
        tool = self.ties.tools.pop(loose.words(data.get("tool_call_id")), None)
        if tool is None:
            if not self._is_begun_above:  # else its call stands above, and what is said around its answer is not parted
                self.saying.interrupt()
            tool = self._new(Tool, entry, name=loose.words(data.get("tool_name")), arguments="")
            self.ties.answers[loose.words(data.get("tool_call_id"))] = tool
        error = data.get("error")
        told = error or data.get("result")
        output = loose.pretty(told)
        at = entry.at if tool.position != entry.position else None
        answer = Answer.FAILED if error else Answer.OK
        tool.answered(answer, at, loose.words(told)[:SHORT], output[:KEPT], is_cut=len(output) > KEPT)

    def _artifact(self, entry: Entry, data: Data) -> None:
        self._new(Artifact, entry, file=_file(data, "size_bytes", "name", "artifact_id", "artifact_type"))

    def _action(self, entry: Entry, data: Data) -> None:
        action = loose.words(data.get("action"))[:SHORT]
        self._remark(entry, f"asks for {action} (recorded, not done)", is_warning=False)

    def _output(self, _: Entry, data: Data) -> None:
        """Printed lines are no part of the talk, but the last of them tell why a run failed."""
        if data.get("stream") == "traceback":
            self._trace = loose.words(data.get("text"))
        elif data.get("stream") == "stderr":
            self._errors.append(loose.words(data.get("text"))[:KEPT])

    def _failed(self, *_: object) -> None:
        self._by_runner = True

    # What is said to it

    def _queued(self, _: Entry, data: Data) -> None:
        text, item_id = data.get("text", data.get("after")), loose.words(data.get("item_id"))
        if isinstance(text, str):
            before = self.ties.words.get(item_id, Words())
            self.ties.words[item_id] = Words(text, files_in(data) or before.files)

    def _pulled(self, entry: Entry, data: Data) -> None:
        for each in loose.items(data.get("items")):
            item_id = loose.words(each)
            self._is_unheard = self._is_unheard or item_id not in self.ties.words
            self._land(entry, item_id, Landing.PULLED)

    def _replied(self, _: Entry, data: Data) -> None:
        """What was said before what is loaded here is told by the reply of its pull, too."""
        for each in loose.items(loose.mapping(data.get("reply")).get("items")):
            item = loose.mapping(each)
            event_id = loose.words(loose.mapping(item.get("event")).get("event_id"))
            given = loose.mapping(item.get("input"))
            self._heard[event_id] = Words(loose.words(given.get("text")), files_in(given))
        self._is_unheard = False

    def _returned(self, _: Entry, data: Data) -> None:
        for each in loose.items(data.get("items")):
            block = self.ties.steered.pop(loose.words(each), None)
            if block is not None:
                block.leave()

    def _injected(self, entry: Entry, data: Data) -> None:
        self._land(entry, loose.words(data.get("item_id")), Landing.INJECTED, data).landed_turn = entry.turn

    def _dropped(self, entry: Entry, data: Data) -> None:
        block = self._land(entry, loose.words(data.get("item_id")), Landing.DROPPED, data)
        self.ties.dropped[block.item_id] = block
        block.reason = why_dropped(loose.words(data.get("reason")), f"T{entry.turn + 1}")

    def _land(self, entry: Entry, item_id: str, landing: Landing, data: Data = loose.NOTHING) -> Steered:
        block, heard = self.ties.steered.get(item_id), self._heard.pop(loose.words(data.get("event_id")), None)
        said = self.ties.words.get(item_id) or heard
        text, files = said or Words()
        text = loose.words(data.get("text")) or text
        if block is None:
            self.saying.interrupt()
            block = self._new(Steered, entry, item_id=item_id, text=text, landing=landing, landed_turn=entry.turn)
            self.ties.steered[item_id] = block
            if landing is not Landing.PULLED or said is None:
                self.ties.untold[item_id] = block
        is_told = said is not None or landing is Landing.PULLED
        block.text, block.attachments = block.text or text or ("" if is_told else _UNTOLD), block.attachments or files
        block.landing = landing
        block.version += 1
        if landing is not Landing.PULLED:
            del self.ties.steered[item_id]
            self.ties.words.pop(item_id, None)
        return block

    # How it went and ended

    def _warning(self, entry: Entry, data: Data) -> None:
        self._remark(entry, loose.words(data.get("message")), is_warning=True)

    def _cancel(self, *_: object) -> None:
        self._by_person = True

    def _remark(self, entry: Entry, text: str, *, is_warning: bool) -> None:
        last, text = self._note, text[: 2 * SHORT]
        if last is not None and last.text == text:
            last.count += 1
            last.version += 1
        else:
            self._note = self._new(Note, entry, text=text, is_warning=is_warning)

    def _finished(self, entry: Entry, data: Data) -> None:
        status, reason = loose.words(data.get("status")), loose.words(data.get("reason"))
        took = None if self._began_at is None else entry.at - self._began_at
        end = ended(
            status,
            reason,
            loose.words(data.get("error")),
            took=took,
            by_person=self._by_person,
            by_runner=self._by_runner,
        )
        self.saying.close(Standing.DONE if end.state == "completed" else Standing.CUT)
        for tool in self.ties.tools.values():
            tool.answered(Answer.NONE)
        self.ties.tools.clear()
        self.is_over = True
        details = (*(() if took is None else (duration(took),)), number(entry.turn, "turn"))
        if end.is_failure:
            lines = tuple(line for line in self._trace.splitlines() if line.strip()) or tuple(self._errors)
            self._new(
                Failure,
                entry,
                state=end.state,
                words=end.words,
                details=details,
                reason=reason,
                error=end.error,
                lines=lines[-LAST_LINES:],
                trace=self._trace or "\n".join(self._errors),
            )
        else:
            told = (*((end.error,) if end.error else ()), *details)
            self._new(End, entry, state=end.state, words=end.words, details=told)

    def _new(self, make: Callable[..., B], entry: Entry, /, **what: Any) -> B:
        since = None if self._began_at is None else entry.at - self._began_at
        block = make(run_id=self.run_id, position=entry.position, turn=entry.turn, at=entry.at, since=since, **what)
        self._note = None
        self.add(block)
        return block


def files_in(given: Data) -> tuple[Filed, ...]:
    """What came with it, in an order that is the sender's."""
    each = map(loose.mapping, loose.items(given.get("attachments")))
    return tuple(_file(file, "size", "name", "artifact_type", "artifact_id") for file in each)


def _file(data: Data, size_key: str, *names: str) -> Filed:
    amount = data.get(size_key)
    return Filed(
        next(filter(None, (loose.words(data.get(name)) for name in names)), "artifact"),
        loose.words(data.get("mime_type")),
        amount if isinstance(amount, int) else None,
        loose.words(data.get("artifact_id")),
    )


def _actor(actor: Data) -> str:
    """`Ann (user ann)`, `system`."""
    name = loose.words(actor.get("actor_name"))
    known = " ".join(filter(None, (loose.words(actor.get(key)) for key in ("actor_type", "actor_id"))))
    return f"{name} ({known})"[:SHORT] if name and known else (name or known)[:SHORT]


def _subject(subject: Data) -> str:
    """`membership travellers/ann {"group":"travellers"}`."""
    told = (*(loose.words(subject.get(key)) for key in ("subject_type", "subject_id")), loose.words(
        subject.get("data") or None
    ))  # fmt: skip
    return " ".join(filter(None, told))[:SHORT]
