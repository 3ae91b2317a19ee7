"""A loaded run shows the same blocks as the live run, although only its outline and few deltas are read."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import console.data.conversation_loader
from console.app import Trackside
from console.data.conversation_loader import MAX_WINDOW_ENTRIES, WINDOW_ENTRIES, ConversationLoader
from console.launch import LaunchOptions
from console.model.conversation.blocks import AgentMessage, Block, ToolCall, ToolResult
from console.model.conversation.conversation import ConversationModel
from engine.api import Engine, Entry, RunRow
from tests.support.console.journal_writer import OUTLINE_LEAVES_OUT, Journal
from tests.support.console.pilot import at_the_screen, shown
from tests.support.console.pilot import until as wait
from tests.support.engines import (
    Engines,
    artifact_created,
    declares,
    delta,
    done,
    failed,
    journal_of,
    message,
    open_script_runner,
    said,
    send,
    state_updated,
    wait_for_entry,
)


def visible(conversation: ConversationModel) -> list[tuple[str, str, str]]:
    """The kind, text and progress of each visible block."""
    return [
        (type(block).__name__, block.markdown(), progress(block))
        for block in conversation.blocks
        if not block.is_hidden
    ]


def progress(block: Block) -> str:
    return block.progress if isinstance(block, AgentMessage) else ""


async def live(engine: Engine, run_id: str) -> ConversationModel:
    """The conversation as it was shown while the run was live."""
    conversation = ConversationModel()
    async for entry in engine.runs.entries(run_id):
        conversation.apply([entry])
    return conversation


async def loaded(engine: Engine) -> ConversationModel:
    loader = ConversationLoader(engine, "s")
    await loader.read_end()
    return loader.conversation


def call(number: int = 1) -> dict[str, Any]:
    data = {"tool_call_id": f"c{number}", "tool_name": "look", "parameters": {"n": number}}
    return {"type": "tool.call.started", "data": data}


def answer(number: int = 1) -> dict[str, Any]:
    data = {"tool_call_id": f"c{number}", "tool_name": "look", "result": "sun"}
    return {"type": "tool.call.completed", "data": data}


FILE = artifact_created("file", name="map.txt", content="a map", mime_type="text/plain")
RUNS = {
    "text, tool, text": [
        delta("Let me "), delta("look. "), call(), answer(), delta("Sunny."), said("Let me look. Sunny."),
    ],
    "snapshots": [
        delta("Let ", all_content="Let "), delta("me look. ", all_content="Let me look. "), call(), answer(),
        delta("Sunny.", all_content="Let me look. Sunny."), said("Let me look. Sunny."),
    ],
    "completed by the end of the run": [
        delta("Let me look. "), call(), answer(), delta("Sunny."), done("Let me look. Sunny."),
    ],
    "omits the text before": [
        delta("Let me "), delta("look."), call(), answer(), delta("Sun"), delta("ny."), said("Sunny."),
    ],
    "completed above its tool": [delta("Let me look."), call(), said("Let me look."), answer(), said("Sunny.")],
    "two tools": [
        delta("One. "), call(1), delta("Two. "), call(2), answer(2), answer(1), delta("Three."),
        said("One. Two. Three."),
    ],
    "two messages": [
        delta("A. "), call(1), answer(1), delta("B."), said("A. B."), delta("C. "), call(2), answer(2), said("C. D."),
    ],
    "state and artifact": [delta("Here "), state_updated("mood", "good"), FILE, delta("it is."), said("Here it is.")],
    "ends as it began": [delta("Hmm"), call(), answer(), delta("Hmm, "), delta("so it is"), said("Hmm, so it is")],
    "after its tool call": [call(), answer(), delta("Sun"), delta("ny."), said("Sunny.")],
    "failure": [delta("A. "), call(1), answer(1), said("A. B."), delta("C. "), call(2), delta("D"), failed("no")],
    "never completed": [delta("A. "), call(1), answer(1), delta("B.")],
    "a dropped message": [delta("A. "), {"type": "message.completed", "data": {}}, delta("B."), said("A. B.")],
    "without tool calls": [delta("one "), delta("two"), said("one two")],
    "never completed, without tool calls": [delta("one "), delta("two")],
    "failure of the runner": [said("one"), delta("half a "), failed("no", code="tool.timeout")],
    "broken result": [delta("half a "), "not an object"],
    "whole at its end": [done("all of it")],
    "repeated at its end": [said("one"), said("all of it"), done("all of it")],
    "no output": [],
}  # fmt: skip


@pytest.mark.parametrize("results", RUNS.values(), ids=RUNS)
async def test_loaded_run_shows_the_same_as_the_live_run(open_engine: Engines, results: list[Any]) -> None:
    stage = await open_script_runner(open_engine)
    has_end = any(isinstance(result, str) or result["type"].startswith("run.") for result in results)
    run = await stage(*results, *(() if has_end else (done(),)))

    blocks = visible(await loaded(stage.engine))

    assert blocks == visible(await live(stage.engine, run.run_id))
    assert len(blocks) > 1


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
    await wait_for_entry(engine, run_id, "message.delta")
    await engine.runs.submit(message("use metric"))
    go.set()
    await engine.runs.wait_for_end(run_id)

    conversation = await loaded(engine)

    assert visible(conversation) == visible(await live(engine, run_id))
    assert [kind for kind, *_ in visible(conversation)] == [
        "UserMessage",
        "AgentMessage",
        "SteeringMessage",
        "AgentMessage",
        "RunEnd",
    ]
    assert "steering.injected" in [entry.type for entry in await journal_of(engine, run_id)]


@pytest.mark.parametrize("way", ["continued", "from the browser", "from the list"])
async def test_screen_shows_the_tool_call_of_a_past_run_between_its_texts(open_engine: Engines, way: str) -> None:
    stage = await open_script_runner(open_engine)
    run = await stage(*RUNS["text, tool, text"], done())

    async def engine() -> Engine:
        return stage.engine

    app = Trackside(LaunchOptions(continue_last=way == "continued"), engine)
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


# Long runs


class RecordedRun:
    """The part of the engine that reads runs, for one run in memory."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.deltas_read = self.outline_read = 0

    async def list(self, *, before: str | None, after: str | None, limit: int, **_: object) -> "list[RunRow]":
        row = RunRow(run_id="run", runner_id="r", status="completed", created_at=0, updated_at=0, started_at=0)
        return [] if before or after else [row][:limit]

    async def get(self, _: str) -> RunRow:
        return (await self.list(before=None, after=None, limit=1))[0]

    async def session(self, _: str) -> Any:
        from engine.api import NotFound

        raise NotFound("none")

    async def outline(
        self, _: str, *, before: int | None = None, after: int | None = None, limit: int
    ) -> "list[Entry]":
        first, last = after or 0, before or 2**62
        found = [e for e in self._entries if first < e.position < last and e.type not in OUTLINE_LEAVES_OUT]
        page = found[-limit:] if after is None else found[:limit]
        self.outline_read += len(page)
        return page

    async def journal(self, _: str, *, before: int, limit: int) -> "list[Entry]":
        return [entry for entry in reversed(self._entries) if entry.position < before][:limit]

    async def deltas(self, _: str, *, after: int, before: int, limit: int) -> "list[Entry]":
        found = [e for e in self._entries if after < e.position < before and e.type == "message.delta"][:limit]
        self.deltas_read += len(found)
        return found

    def loader(self) -> ConversationLoader:
        engine = SimpleNamespace(runs=self, sessions=SimpleNamespace(get=self.session))
        return ConversationLoader(cast("Engine", engine), "s")


STEPS = (
    "text", "text", "text", "tool", "answer", "artifact.created", "state.updated", "call.requested", "action.requested",
    "steer", "end", "end whole",
)  # fmt: skip


def written(steps: Sequence[str], *, snapshots: bool, end: str) -> Journal:
    """The journal of a run with these steps. All texts are different."""
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
            case "artifact.created" | "state.updated" | "call.requested" | "action.requested":
                journal(step, {"name": f"{number}.txt", "key": "k", "value": number, "action": f"act {number}"})
            case "steer":
                journal("steering.queued", {"item_id": f"i{number}", "text": f"say {number}"})
                journal("steering.pulled", {"items": [f"i{number}"]})
                journal("steering.injected", {"item_id": f"i{number}"})
            case "end" | "end whole" if text:
                journal.said(text + (f"and {number}." if step == "end whole" else ""))
                text = ""
            case _:
                pass
    if text and end != "failed":
        journal.said(text)
    if end == "repeated":
        messages = [entry for entry in journal.entries if entry.type == "message.completed"]
        journal("run.completed", messages[-1].data if messages else {})
    return journal.finished("failed" if end == "failed" else "completed")


SCRIPTS = st.lists(st.sampled_from(STEPS), max_size=25)
ENDS = st.sampled_from(["completed", "repeated", "failed"])
"""`run.completed` may repeat the last message."""


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), ENDS)
def test_any_loaded_run_shows_the_same_as_live(steps: list[str], snapshots: bool, end: str) -> None:
    journal = written(steps, snapshots=snapshots, end=end)
    loader = RecordedRun(journal.entries).loader()

    asyncio.run(loader.read_end())

    assert visible(loader.conversation) == visible(journal.conversation())


def load_upwards(journal: Journal, window: int, max_window: int = 1_000) -> ConversationModel:
    """Load a run from its end to its beginning in windows of so many entries."""
    loader = RecordedRun(journal.entries).loader()

    async def load() -> None:
        await loader.read_end()
        while not loader._is_at_start:
            await loader.read_earlier()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console.data.conversation_loader, "WINDOW_ENTRIES", window)
        patch.setattr(console.data.conversation_loader, "MAX_WINDOW_ENTRIES", max_window)
        asyncio.run(load())
    return loader.conversation


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), ENDS, st.integers(1, 8))
def test_any_run_loaded_upwards_shows_the_same_as_live(
    steps: list[str], snapshots: bool, end: str, window: int
) -> None:
    journal = written(steps, snapshots=snapshots, end=end)

    assert visible(load_upwards(journal, window)) == visible(journal.conversation())


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), ENDS, st.integers(1, 8))
def test_any_run_loaded_downwards_shows_the_same_as_live(
    steps: list[str], snapshots: bool, end: str, window: int
) -> None:
    journal = written(steps, snapshots=snapshots, end=end)
    loader = RecordedRun(journal.entries).loader()
    loader.conversation.apply(journal.entries[:1])
    loader.conversation.has_later = True

    async def load() -> None:
        while loader.conversation.has_later:
            await loader.read_later()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console.data.conversation_loader, "WINDOW_ENTRIES", window)
        asyncio.run(load())

    assert visible(loader.conversation) == visible(journal.conversation())


@settings(max_examples=200)
@given(SCRIPTS, st.booleans(), ENDS, st.integers(1, 4), st.integers(1, 8))
def test_message_longer_than_the_largest_window_loses_no_text(
    steps: list[str], snapshots: bool, end: str, window: int, max_window: int
) -> None:
    journal = written(steps, snapshots=snapshots, end=end)

    loaded_blocks, live_blocks = visible(load_upwards(journal, window, max_window)), visible(journal.conversation())

    assert [block for block in loaded_blocks if block[0] != "AgentMessage"] == [
        block for block in live_blocks if block[0] != "AgentMessage"
    ]
    loaded_text = "".join(text for kind, text, _ in loaded_blocks if kind == "AgentMessage")
    assert all(
        sentence in loaded_text for kind, text, _ in live_blocks if kind == "AgentMessage" for sentence in text.split()
    )


# Cost


@pytest.mark.parametrize("has_messages", [True, False])
async def test_window_of_a_long_run_is_limited(has_messages: bool) -> None:
    journal = Journal().began()
    for number in range(25_000):
        journal.tool(call_id=str(number)).answered(call_id=str(number))
        if has_messages:
            journal.said(f"step {number}")
    engine = RecordedRun(journal.finished().entries)
    loader = engine.loader()

    await loader.read_end()
    assert engine.outline_read <= WINDOW_ENTRIES
    for _ in range(3):
        engine.outline_read = 0
        await loader.read_earlier()
        assert engine.outline_read <= WINDOW_ENTRIES

    calls = [block for block in loader.conversation.blocks if isinstance(block, ToolCall) and not block.is_hidden]
    assert {block.result for block in calls} == {ToolResult.OK}


async def test_window_inside_a_message_is_limited() -> None:
    journal = Journal().began()
    for number in range(25_000):
        journal.delta(f"{number} ").tool(call_id=str(number)).answered(call_id=str(number))
    engine = RecordedRun(journal.entries)

    await engine.loader().read_end()

    assert engine.outline_read == MAX_WINDOW_ENTRIES


async def test_deltas_of_an_unsplit_message_are_not_read() -> None:
    journal = Journal().began().delta("a").delta("b").said("ab").tool().answered("sun").delta("c").said("c").finished()
    engine = RecordedRun(journal.entries)

    await engine.loader().read_end()

    assert engine.deltas_read == 0


async def test_message_with_too_many_deltas_loses_and_repeats_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.data.conversation_loader, "MAX_DELTAS", 3)
    journal = Journal().began()
    for number in range(5):
        journal.delta(f"{number} ")
    journal.tool().answered("sun").delta("end").said("0 1 2 3 4 end").finished()
    loader = RecordedRun(journal.entries).loader()

    await loader.read_end()

    kinds, texts, _ = zip(*visible(loader.conversation), strict=True)
    assert kinds == ("UserMessage", "AgentMessage", "ToolCall", "AgentMessage", "RunEnd")
    assert (texts[1], texts[3]) == ("0 1 2 ", "3 4 end")
