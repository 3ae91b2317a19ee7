"""The pane with messages that grow long, conversations that go on below, and long tracebacks."""

import pytest

from console.model.conversation.conversation import ConversationModel
from console.ui.conversation.markdown import MarkdownLayout
from console.ui.conversation.pane import Conversation
from tests.support.console.conversation_app import ConversationApp
from tests.support.console.journal_writer import Journal

TRACE = "\n".join(f'  File "runner.py", line {n}, in step_{n}' for n in range(9)) + "\nValueError: no [/room]"
SENTENCE = "The *light* goes at five, and `walk()` takes 京都駅 an hour. "


def growing(kind: str, count: int) -> Journal:
    """A message in `count` chunks: fragments, snapshots, or first fragments and then snapshots."""
    journal, text = Journal().began(), ""
    for number in range(count):
        piece = SENTENCE + ("\n\n" if number % 7 == 6 else "")
        text += piece
        is_snapshot = kind == "snapshots" or (kind == "mixed" and number >= count // 2)
        journal.delta(piece, text if is_snapshot and number % 10 == 9 else None, after=0.001)
    return journal


@pytest.mark.parametrize("kind", ["fragments", "snapshots", "mixed"])
async def test_cost_of_a_tick_does_not_grow_with_the_message(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    drawn: list[int] = []
    lines = MarkdownLayout.lines

    def counted(self: MarkdownLayout, markdown: str, width: int):
        drawn.append(len(markdown))
        return lines(self, markdown, width)

    monkeypatch.setattr(MarkdownLayout, "lines", counted)
    # Snapshots make the journal itself grow with the square of the message.
    journal = growing(kind, 10_000 if kind == "fragments" else 3_000)
    app = ConversationApp(ConversationModel())
    async with app.run_test(size=(100, 40)):
        ticks: list[int] = []
        for start in range(0, len(journal.entries), 100):
            drawn.clear()
            app.conversation.apply(journal.entries[start : start + 100])
            app.tick()
            app.lines()
            ticks.append(sum(drawn))

    half = len(ticks) // 2
    assert max(ticks[half:]) <= 2 * max(ticks[5:half])
    assert max(ticks) < 20_000  # of 180,000 characters or more


@pytest.mark.parametrize("kind", ["fragments", "snapshots", "mixed"])
def test_fragments_and_snapshots_of_a_long_message_show_the_same(kind: str) -> None:
    (_, message) = growing(kind, 300).conversation().blocks

    assert message.markdown() == growing("fragments", 300).conversation().blocks[1].markdown()


async def test_message_of_a_megabyte_is_shown_at_once_from_its_end() -> None:
    app = ConversationApp(Journal().began().said("x" * 500_000 + "\n\n" + SENTENCE * 8_000 + "the end").conversation())
    async with app.run_test(size=(100, 40)):
        assert any("the end" in line for line in app.lines())


# Conversations that go on below


async def test_end_of_the_loaded_part_requests_more_once() -> None:
    conversation = Journal().began().said("an old answer").finished().conversation()
    conversation.has_later = True
    app = ConversationApp(conversation)
    async with app.run_test(size=(100, 40)) as pilot:
        app.lines()
        app.tick()
        await pilot.pause()
        assert len(app.posted(Conversation.WantLater)) == 1
        assert app.pane.border_subtitle == "▼ later runs · end"

        await pilot.press("end")

        assert len(app.posted(Conversation.WantEnd)) == 1


async def test_page_down_continues_when_more_is_loaded() -> None:
    conversation = (
        Journal().began().said("\n\n".join(f"paragraph {number}" for number in range(30))).finished().conversation()
    )
    conversation.has_later = True
    app = ConversationApp(conversation)
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("home")
        while not any("paragraph 29" in line for line in app.lines()):
            await pilot.press("pagedown")
        seen = app.lines()
        more = Journal("run_2").began().said("\n\n".join(f"later {number}" for number in range(30))).finished()
        conversation.apply(more.entries)
        app.tick()
        assert app.lines()[0] == seen[0]


# Failures


def failure() -> ConversationModel:
    journal = Journal().began()
    journal("output", {"stream": "traceback", "text": TRACE})
    return journal.finished("failed", "runner.exception", "ValueError: no [/room]").conversation()


async def test_enter_unfolds_a_traceback_and_then_opens_its_entry() -> None:
    app = ConversationApp(failure())
    async with app.run_test(size=(100, 40)) as pilot:
        assert not any("step_0" in line for line in app.lines())
        await pilot.press("alt+up", "enter")
        assert all(any(f"step_{n}" in line for line in app.lines()) for n in range(9))
        assert app.posted(Conversation.OpenInStream) == []

        await pilot.press("enter")
        assert app.posted(Conversation.OpenInStream) == [Conversation.OpenInStream("run", 3)]
        await pilot.press("space")
        assert not any("step_0" in line for line in app.lines())


async def test_failure_shows_its_last_three_lines_and_its_keys() -> None:
    app = ConversationApp(failure())
    async with app.run_test(size=(100, 40)):
        text = app.lines()

        place = next(number for number, line in enumerate(text) if "failed:" in line)
        assert [line.strip(" ▌") for line in text[place + 1 : place + 5]] == [
            'File "runner.py", line 7, in step_7',
            'File "runner.py", line 8, in step_8',
            "ValueError: no [/room]",
            "enter full  r retry  y copy",
        ]


async def test_run_without_output_is_shown_as_such() -> None:
    app = ConversationApp(Journal().began().finished("completed", "no output").conversation())
    async with app.run_test(size=(100, 40)):
        assert any("completed with no output" in line for line in app.lines())
