"""Rehearsal: its three turns, and the steering messages that it understands."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from engine.journal.turns import Turns
from engine.protocol import AgentAPIException
from engine.protocol.errors import ErrorCode
from engine.protocol.payloads import validate_payload
from tests.support.engines import Engines, declares, lines_of, message, send, wait_for_entry, wait_for_run
from tests.support.runner_harness import load, run_bundled, types

PACE = {"name": "pace", "type": "float", "label": {"en_US": "Pace"}, "default": 1.0}


class FakeHost:
    """A fake host: each pull returns the messages sent by then, or fails."""

    def __init__(self, *pulls: Sequence[str | None] | AgentAPIException) -> None:
        self._pulls = list(pulls)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        self.asked.append((action, data))
        said = self._pulls.pop(0) if self._pulls else []
        if isinstance(said, AgentAPIException):
            raise said
        return {"items": [item(text) for text in said]}

    def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        raise AssertionError(action)


def item(text: str | None) -> dict[str, Any]:
    """One message as a pull returns it."""
    return {
        "claimed_run_id": "run_1",
        "runner_id": "plugin:trackside/rehearsal/default",
        "claimed_at": 1_767_323_045,
        "event": {"event_id": "event_2", "event_type": "message.received", "source": "webui"},
        "input": {"text": text},
        "conversation": {"conversation_id": "s"},
        "actor": {"actor_type": "user", "actor_id": "local"},
        "subject": None,
        "metadata": {},
    }


class RehearsalRun:
    """A run of rehearsal at pace 0, as the user sees it."""

    def __init__(self, results: list[dict[str, Any]]) -> None:
        self.results = results

    def _data(self, kind: str) -> list[dict[str, Any]]:
        return [result["data"] for result in self.results if result["type"] == kind]

    @property
    def texts(self) -> list[str]:
        return [data["message"]["content"] for data in self._data("message.completed")]

    @property
    def files(self) -> list[str]:
        return [base64.b64decode(data["content_base64"]).decode() for data in self._data("artifact.created")]

    @property
    def cities(self) -> list[str]:
        """The values of the city in state, in order."""
        return [data["value"] for data in self._data("state.updated") if data["key"] == "rehearsal.city"]


async def run_with_messages(
    *pulls: Sequence[str | None] | AgentAPIException, start: str = "a day in Kyoto"
) -> RehearsalRun:
    """A run that gets these messages at its first pull, its second and so on. It must always end properly."""
    results = await run_bundled(load("rehearsal").RehearsalRunner(), start, FakeHost(*pulls), pace=0)
    assert types(results).count("run.completed") == 1
    assert types(results)[-1] == "run.completed"
    assert all(validate_payload(result["type"], result["data"]) is None for result in results)
    return RehearsalRun(results)


async def test_rehearsal_has_three_turns_with_tools_state_an_artifact_and_streamed_text():
    results = await run_bundled(load("rehearsal").RehearsalRunner(), "hi", pace=0)

    kinds = types(results)
    assert kinds.count("message.completed") == 3
    assert kinds.count("tool.call.started") == kinds.count("tool.call.completed") == 5
    assert kinds.count("artifact.created") == 1
    assert "state.updated" in kinds
    assert kinds[-1] == "run.completed"
    turns = Turns()
    for result in results:
        turns.note_result(result["type"], result["data"])
    assert turns.turn == 3
    assert all(validate_payload(result["type"], result["data"]) is None for result in results)
    assert "Kyoto" in RehearsalRun(results).files[0]


async def test_rehearsal_is_the_same_every_time():
    runner = load("rehearsal").RehearsalRunner()

    assert await run_bundled(runner, "a day in Lisbon", pace=0) == await run_bundled(runner, "a day in Lisbon", pace=0)


@pytest.mark.parametrize(
    ("message", "city"),
    [
        ("hi", "Kyoto"),
        ("", "Kyoto"),
        ("oslo please", "Oslo"),
        ("a day in New York", "New York"),
        ("in a hurry", "Kyoto"),
        ("answer in Fahrenheit", "Kyoto"),
    ],
)
def test_rehearsal_uses_the_city_of_the_message(message: str, city: str):
    assert load("rehearsal").requested_city(message) == city


async def test_rehearsal_pulls_between_its_turns_and_once_more_before_its_end():
    happened: list[str] = []

    class Watched(FakeHost):
        async def call(self, action: str, data: dict[str, Any]) -> Any:
            happened.append(action)
            return await super().call(action, data)

    class Watching(load("rehearsal").RehearsalRunner):
        async def run(self, ctx: Any) -> AsyncGenerator[Any, None]:
            async for result in super().run(ctx):
                happened.append(result.type)
                yield result

    people = Watched()
    await run_bundled(Watching(), "hi", people, pace=0)

    boundaries = ("message.completed", "tool.call.completed", "steering_pull", "run.completed")
    order = [kind for kind in happened if kind in boundaries]
    assert order == [
        *("message.completed", "tool.call.completed", "tool.call.completed", "steering_pull"),
        *("message.completed", *["tool.call.completed"] * 3, "steering_pull"),
        *("message.completed", "steering_pull", "run.completed"),
    ]
    assert people.asked[0] == ("steering_pull", {"run_id": "run_1", "mode": "all", "limit": None})


@pytest.mark.parametrize("words", ["use imperial units", "in Fahrenheit, please", "How many MILES is that?"])
async def test_a_steering_message_changes_the_units_from_then_on(words: str):
    run = await run_with_messages([], [words])

    _, places, plan = run.texts
    assert "19 °C" in places
    assert plan.startswith(f"Noted: {words.rstrip('?')}. Here is your day in Kyoto.")
    for text in (plan, run.files[0]):
        assert "66 °F" in text
        assert "2.5 miles" in text
        assert "°C" not in text
        assert " km" not in text


@pytest.mark.parametrize("words", ["metric", "back to Celsius", "in kilometres", "Celsius instead of Fahrenheit"])
async def test_a_steering_message_changes_back_to_metric(words: str):
    run = await run_with_messages(["use Fahrenheit"], [words])

    _, places, plan = run.texts
    assert "66 °F" in places
    assert "19 °C" in plan
    assert "4 km" in plan


@pytest.mark.parametrize("turn", [1, 2, 3])
async def test_a_steering_message_changes_the_city(turn: int):
    run = await run_with_messages(*[[]] * (turn - 1), ["make it Lisbon instead"])

    answer = run.texts[turn]
    assert answer.startswith("Noted: make it Lisbon instead. So it is Lisbon and not Kyoto. ")
    assert "the Alfama" in answer
    assert all("Kyoto" not in text for text in run.texts[turn + 1 :])
    assert run.cities == ["Kyoto", "Lisbon"]
    assert run.texts[-1].endswith("I have put the plan into a file for you.")
    assert run.files[-1].startswith("# A day in Lisbon\n")


@pytest.mark.parametrize(
    ("words", "city"),
    [
        ("oslo!", "Oslo"),
        ("Make it New York instead.", "New York"),
        ("how about Rome", "Rome"),
        ("forget Kyoto, go to Paris", "Paris"),
        ("Lisbon rather than Paris", "Lisbon"),
    ],
)
async def test_steering_message_can_name_a_known_or_requested_city(words: str, city: str):
    assert (await run_with_messages([words])).cities == ["Kyoto", city]


@pytest.mark.parametrize("words", ["stop", "That is enough.", "stop early", "OK, stop now please!", "enough for today"])
async def test_a_steering_message_ends_the_plan_early_with_a_goodbye(words: str):
    early, late = await run_with_messages([words]), await run_with_messages([], [words])

    assert len(early.texts) == 2
    assert early.texts[1].startswith(f"Noted: {words.rstrip('.!')}. Then I stop here. What I have for Kyoto: ")
    assert "19 °C" in early.texts[1]
    assert "Fushimi Inari" not in early.texts[1]
    assert len(late.texts) == 3
    assert "Fushimi Inari is for the morning" in late.texts[2]
    assert early.files == late.files == []


@pytest.mark.parametrize(
    "words",
    [
        "no museums",
        "don't stop",
        "a stop at a café, please",
        "that is not enough",
        "anything but not Paris",
        "say hello to Ann",
        "more of Kyoto",
        "not in Fahrenheit",
    ],
)
async def test_other_steering_message_is_mentioned_and_the_plan_continues(words: str):
    run = await run_with_messages([words])

    assert run.texts[1].startswith(f"Noted: {words}. Clear until four and 19 °C")
    assert len(run.texts) == 3
    assert run.cities == ["Kyoto"]
    assert len(run.files) == 1


async def test_messages_of_one_pull_are_applied_in_order():
    run = await run_with_messages(["make it Oslo", "in Fahrenheit", "make it Lisbon", "no museums"])

    assert run.texts[1].startswith(
        "Noted: make it Oslo. So it is Oslo and not Kyoto. Noted: in Fahrenheit. "
        "Noted: make it Lisbon. So it is Lisbon and not Oslo. Noted: no museums. Clear until four and 75 °F"
    )
    assert run.cities == ["Kyoto", "Lisbon"]
    assert run.files[0].startswith("# A day in Lisbon\n")


async def test_several_requests_in_one_message_are_all_applied():
    run = await run_with_messages(["Make it Lisbon, in miles, and then stop"])

    assert run.texts[1].endswith(
        "What I have for Lisbon: it stays clear until four and gets 75 °F warm. Have a good day!"
    )


async def test_a_message_just_before_the_end_gets_one_more_turn():
    remark, change = await run_with_messages([], [], ["thank you!"]), await run_with_messages([], [], ["in miles"])

    assert remark.texts[3:] == ["Noted: thank you. Your plan for Kyoto stays as it is."]
    assert len(remark.files) == 1
    assert change.texts[3].startswith("Noted: in miles. Here is your day in Kyoto.")
    assert "2.5 miles" in change.files[1]


async def test_message_after_the_goodbye_is_answered_too():
    run = await run_with_messages([], ["stop"], ["one more thing"], ["and another", "make it Oslo"])

    assert [text.partition(" Then I stop here.")[0] for text in run.texts[2:]] == [
        "Noted: stop.",
        "Noted: one more thing.",
        "Noted: and another. Noted: make it Oslo. So it is Oslo and not Kyoto.",
    ]
    assert run.cities == ["Kyoto", "Oslo"]


async def test_empty_and_very_long_messages_are_mentioned_too():
    run = await run_with_messages([None, "  ", "word " * 1_000])

    noted = run.texts[1].partition(" Clear until four")[0]
    assert noted.startswith("Noted: what you sent. Noted: what you sent. Noted: word word ")
    assert len(noted) < 200


async def test_rehearsal_works_without_steering():
    refused = AgentAPIException.of(ErrorCode.RUNTIME_ERROR, "the host has a cold")
    off = RehearsalRun(await run_bundled(load("rehearsal").RehearsalRunner(), "a day in Kyoto", pace=0))

    run = await run_with_messages(refused, refused, refused)
    late = await run_with_messages(refused, ["make it Oslo"])

    assert run.results == off.results
    assert late.cities == ["Kyoto", "Oslo"]


async def test_message_sent_through_the_engine_is_applied_in_the_next_turn(open_engine: Engines):
    spoken = asyncio.Event()

    @declares(capabilities={"steering": True}, config=[PACE])
    class Patient(load("rehearsal").RehearsalRunner):
        """Its tools wait until a message was sent."""

        async def _call_tools(self, *given: Any) -> AsyncGenerator[Any, None]:
            async for result in super()._call_tools(*given):
                yield result
                await spoken.wait()

    engine = await open_engine(Patient)
    run_id = await send(engine, "a day in Kyoto", config={"pace": 0})
    await wait_for_entry(engine, run_id, "tool.call.started")

    ticket = await engine.runs.submit(message("make it Lisbon instead, in Fahrenheit"))
    spoken.set()
    run = await wait_for_run(engine, run_id)

    assert (ticket.claimed_by, run.row.status) == (run_id, "completed")
    texts = [entry.data["message"]["content"] for entry in run.all("message.completed")]
    assert len(texts) == 3
    assert texts[1].startswith("Noted: make it Lisbon instead, in Fahrenheit. So it is Lisbon and not Kyoto. Clear ")
    assert "75 °F" in texts[1]
    assert [(row.key, row.value) for row in await engine.state.read()] == [
        ("rehearsal.city", "Lisbon"),
        ("rehearsal.turn", 3),
    ]
    assert [role for role, _ in await lines_of(engine)] == ["user", "assistant", "user", "assistant", "assistant"]
