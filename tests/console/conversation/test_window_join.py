"""A message that something was told in the middle of stands where it stood, however it came to the screen."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import console.data.conversation_loader
from console.app import Trackside
from console.data.conversation_loader import ConversationLoader
from console.launch import LaunchOptions
from console.model.conversation.blocks import AgentMessage, Block
from console.model.conversation.conversation import ConversationModel
from engine.api import Engine, Entry, RunRow
from tests.support.console.journal_writer import OUTLINE_LEAVES_OUT, Journal
from tests.support.console.pilot import at_the_screen, shown
from tests.support.console.pilot import until as wait
from tests.support.engines import (
    Engines,
    declares,
    delta,
    done,
    failed,
    journal_of,
    kept,
    made,
    message,
    open_stage,
    said,
    send,
    until,
)


def told(talk: ConversationModel) -> list[tuple[str, str, str]]:
    """All that is shown, in order."""
    return [(type(block).__name__, block.markdown(), progress(block)) for block in talk.blocks if not block.is_hidden]


def progress(block: Block) -> str:
    return block.progress if isinstance(block, AgentMessage) else ""


async def live(engine: Engine, run_id: str) -> ConversationModel:
    """As it was told while it came."""
    talk = ConversationModel()
    async for entry in engine.runs.entries(run_id):
        talk.apply([entry])
    return talk


async def reopened(engine: Engine) -> ConversationModel:
    telling = ConversationLoader(engine, "s")
    await telling.read_end()
    return telling.talk


def call(number: int = 1) -> dict[str, Any]:
    data = {"tool_call_id": f"c{number}", "tool_name": "look", "parameters": {"n": number}}
    return {"type": "tool.call.started", "data": data}


def answer(number: int = 1) -> dict[str, Any]:
    data = {"tool_call_id": f"c{number}", "tool_name": "look", "result": "sun"}
    return {"type": "tool.call.completed", "data": data}


FILE = made("file", name="map.txt", content="a map", mime_type="text/plain")
RUNS = {
    "text, tool, text": [
        delta("Let me "), delta("look. "), call(), answer(), delta("Sunny."), said("Let me look. Sunny."),
    ],
    "snapshots": [
        delta("Let ", all_content="Let "), delta("me look. ", all_content="Let me look. "), call(), answer(),
        delta("Sunny.", all_content="Let me look. Sunny."), said("Let me look. Sunny."),
    ],
    "only the end brings it": [delta("Let me look. "), call(), answer(), delta("Sunny."), done("Let me look. Sunny.")],
    "not said again": [delta("Let me "), delta("look."), call(), answer(), delta("Sun"), delta("ny."), said("Sunny.")],
    "completed above its tool": [delta("Let me look."), call(), said("Let me look."), answer(), said("Sunny.")],
    "two tools": [
        delta("One. "), call(1), delta("Two. "), call(2), answer(2), answer(1), delta("Three."),
        said("One. Two. Three."),
    ],
    "two messages": [
        delta("A. "), call(1), answer(1), delta("B."), said("A. B."), delta("C. "), call(2), answer(2), said("C. D."),
    ],
    "state and artifact": [delta("Here "), kept("mood", "good"), FILE, delta("it is."), said("Here it is.")],
    "ends as it began": [delta("Hmm"), call(), answer(), delta("Hmm, "), delta("so it is"), said("Hmm, so it is")],
    "said after it": [call(), answer(), delta("Sun"), delta("ny."), said("Sunny.")],
    "failure": [delta("A. "), call(1), answer(1), said("A. B."), delta("C. "), call(2), delta("D"), failed("no")],
    "never completed": [delta("A. "), call(1), answer(1), delta("B.")],
    "a message refused": [delta("A. "), {"type": "message.completed", "data": {}}, delta("B."), said("A. B.")],
}  # fmt: skip


@pytest.mark.parametrize("results", RUNS.values(), ids=RUNS)
async def test_past_run_is_shown_in_the_order_of_its_entries(open_engine: Engines, results: list[Any]) -> None:
    stage = await open_stage(open_engine)
    ends = any(result["type"].startswith("run.") for result in results)
    run = await stage(*results, *(() if ends else (done(),)))

    assert told(await reopened(stage.engine)) == told(await live(stage.engine, run.run_id))


async def test_steering_message_inside_a_message_stays_there_when_loaded_later(open_engine: Engines) -> None:
    go = asyncio.Event()

    @declares(capabilities={"steering": True})
    async def listens(ctx: Any):
        yield delta("On my way. ")
        await go.wait()
        await ctx.api.steering_pull()
        yield delta("Metric then.")
        yield said("On my way. Metric then.")
        yield done()

    engine = await open_engine(listens)
    run_id = await send(engine, "go")
    await until(engine, run_id, "message.delta")
    await engine.runs.submit(message("use metric"))
    go.set()
    await engine.runs.wait_for_end(run_id)

    talk = await reopened(engine)

    assert told(talk) == told(await live(engine, run_id))
    assert [kind for kind, *_ in told(talk)] == [
        "UserMessage",
        "AgentMessage",
        "SteeringMessage",
        "AgentMessage",
        "RunEnd",
    ]
    assert "steering.injected" in [entry.type for entry in await journal_of(engine, run_id)]


@pytest.mark.parametrize("way", ["goes on", "from the browser", "from the list"])
async def test_screen_shows_the_tool_call_of_a_past_run_between_its_texts(open_engine: Engines, way: str) -> None:
    stage = await open_stage(open_engine)
    run = await stage(*RUNS["text, tool, text"], done())

    async def engine() -> Engine:
        return stage.engine

    app = Trackside(LaunchOptions(continue_last=way == "goes on"), engine)
    async with at_the_screen(app) as pilot:
        await wait(pilot, lambda: app.active_session.is_open)
        if way == "from the browser":
            await pilot.press("ctrl+l")
            await wait(pilot, lambda: app.screen is not app.main and "hi" in shown(app))
            await pilot.press("enter")
        elif way == "from the list":
            await app.services.updater.open_run(run.run_id)
        await wait(pilot, lambda: app.screen is app.main and "Sunny." in shown(app))

        text = "\n".join(block.markdown() for block in app.services.updater.conversation.blocks)
        assert text.index("Let me look.") < text.index("look(n=1)") < text.index("Sunny.")


# However long it is


class Recorded:
    """As much of an engine as reads one run."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.pieces = 0
        """How many were read."""

    async def list(self, *, before: str | None, after: str | None, limit: int, **_: object) -> "list[RunRow]":
        row = RunRow(run_id="run", runner_id="r", status="completed", created_at=0, updated_at=0, started_at=0)
        return [] if before or after else [row][:limit]

    async def get(self, _: str) -> RunRow:
        return (await self.list(before=None, after=None, limit=1))[0]

    async def session(self, _: str) -> Any:
        from engine.api import NotFound

        raise NotFound("none")

    async def outline(self, _: str, *, before: int = 2**62, after: int | None = None, limit: int) -> "list[Entry]":
        found = [e for e in self._entries if (after or 0) < e.position < before and e.type not in OUTLINE_LEAVES_OUT]
        return found[-limit:] if after is None else found[:limit]

    async def journal(self, _: str, *, before: int, limit: int) -> "list[Entry]":
        return [entry for entry in reversed(self._entries) if entry.position < before][:limit]

    async def deltas(self, _: str, *, after: int, before: int, limit: int) -> "list[Entry]":
        found = [e for e in self._entries if after < e.position < before and e.type == "message.delta"][:limit]
        self.pieces += len(found)
        return found

    def telling(self) -> ConversationLoader:
        engine = SimpleNamespace(runs=self, sessions=SimpleNamespace(get=self.session))
        return ConversationLoader(cast("Engine", engine), "s")


def joined(talk: ConversationModel) -> list[tuple[str, str]]:
    """All that is shown; what the agent said in a row is one, since a window may end anywhere."""
    found: list[tuple[str, str]] = []
    for kind, text, _ in told(talk):
        before = found.pop()[1] if found and kind == found[-1][0] == "AgentMessage" else ""
        found.append((kind, before + text))
    return found


STEPS = ("text", "text", "text", "tool", "answer", "artifact", "state", "call", "note", "steer", "end", "end whole")


def written(steps: Sequence[str], *, snapshots: bool, status: str) -> Journal:
    """A run that does these things. No text is like another."""
    journal, text, calls = Journal().began(), "", list[str]()
    for number, step in enumerate(steps):
        match step:
            case "text":
                text += f"{number}. "
                journal.delta(f"{number}. ", text if snapshots else None)
            case "tool":
                calls.append(str(number))
                journal.tool(call_id=calls[-1])
            case "answer" if calls:
                journal.answered("sun", call_id=calls.pop())
            case "artifact":
                journal("artifact.created", {"name": f"{number}.txt"})
            case "state":
                journal("state.updated", {"scope": "conversation", "key": "k", "value": number})
            case "call":
                journal("call.requested", {"action": "x"})
            case "note":
                journal("action.requested", {"action": f"act {number}"})
            case "steer":
                journal("steering.queued", {"item_id": f"i{number}", "text": f"say {number}"})
                journal("steering.pulled", {"items": [f"i{number}"]})
                journal("steering.injected", {"item_id": f"i{number}"})
            case "end" | "end whole" if text:
                journal.said(text + (f"and {number}." if step == "end whole" else ""))
                text = ""
            case _:
                pass
    if text and status == "completed":
        journal.said(text)
    return journal.finished(status)


SCRIPTS = st.lists(st.sampled_from(STEPS), max_size=25)


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), st.sampled_from(["completed", "failed"]))
def test_any_loaded_run_shows_the_same_as_live(steps: list[str], snapshots: bool, status: str) -> None:
    journal = written(steps, snapshots=snapshots, status=status)
    telling = Recorded(journal.entries).telling()

    asyncio.run(telling.read_end())

    assert told(telling.talk) == told(journal.talk())


def read_back(journal: Journal, window: int) -> ConversationModel:
    """From its end to its beginning."""
    telling = Recorded(journal.entries).telling()

    async def read() -> None:
        await telling.read_end()
        while not telling._is_whole:
            await telling.read_earlier()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console.data.conversation_loader, "ENTRIES", window)
        asyncio.run(read())
    return telling.talk


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), st.integers(1, 8))
def test_any_run_longer_than_a_window_shows_the_same_as_live(steps: list[str], snapshots: bool, window: int) -> None:
    journal = written(steps, snapshots=snapshots, status="completed")

    assert joined(read_back(journal, window)) == joined(journal.talk())


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), st.integers(1, 8))
def test_long_failed_run_loses_and_repeats_no_text(steps: list[str], snapshots: bool, window: int) -> None:
    journal = written(steps, snapshots=snapshots, status="failed")

    past, came = (
        "".join(text for kind, text, _ in told(talk) if kind == "AgentMessage")
        for talk in (read_back(journal, window), journal.talk())
    )

    assert past == came


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), st.integers(1, 8))
def test_any_run_loaded_downwards_shows_the_same_as_live(steps: list[str], snapshots: bool, window: int) -> None:
    journal = written(steps, snapshots=snapshots, status="completed")
    telling = Recorded(journal.entries).telling()
    telling.talk.apply(journal.entries[:1])
    telling.talk.has_later = True

    async def read() -> None:
        while telling.talk.has_later:
            await telling.read_later()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console.data.conversation_loader, "ENTRIES", window)
        asyncio.run(read())

    assert told(telling.talk) == told(journal.talk())


# What it costs


async def test_deltas_of_an_unsplit_message_are_not_read() -> None:
    journal = Journal().began().delta("a").delta("b").said("ab").tool().answered("sun").delta("c").said("c").finished()
    engine = Recorded(journal.entries)

    await engine.telling().read_end()

    assert engine.pieces == 0


async def test_very_long_message_loses_and_repeats_no_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console.data.conversation_loader, "PIECES", 3)
    journal = Journal().began()
    for number in range(5):
        journal.delta(f"{number} ")
    journal.tool().answered("sun").delta("end").said("0 1 2 3 4 end").finished()
    telling = Recorded(journal.entries).telling()

    await telling.read_end()

    kinds, texts, _ = zip(*told(telling.talk), strict=True)
    assert kinds == ("UserMessage", "AgentMessage", "ToolCall", "AgentMessage", "RunEnd")
    assert (texts[1], texts[3]) == ("0 1 2 ", "3 4 end")
