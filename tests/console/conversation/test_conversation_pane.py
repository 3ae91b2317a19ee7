"""The conversation pane draws blocks, scrolls, follows the end and acts on the block under the cursor."""

import pytest
from rich.cells import cell_len
from textual.events import MouseScrollDown, MouseScrollUp

from console.model.conversation.conversation import AsOf, ConversationModel
from console.model.preferences.color_themes import DARK, LIGHT
from console.ui.conversation.pane import Conversation
from tests.support.console.conversation_app import ConversationApp
from tests.support.console.journal_writer import SECOND, Journal
from tests.support.console.pilot import until

pytestmark = pytest.mark.usefixtures("every_frame")

SIZES = [(40, 15), (80, 24), (160, 45)]
HOSTILE = (
    "[/] [bold]x[/bold] \x1b[31m\x1b]0;t\x07 \x9b2J \u202e\u2028 [@click=app.quit]y[/] `[/]` **[/x]** <b>h</b> \\["
)
LONG = "A line of the plan that says where to be and when. "


def everything(text: str = "some words") -> Journal:
    """Runs with every kind of block."""
    journal = Journal().began(text).delta(text).tool(text, place=text).answered({"sky": text})
    journal.tool(text, "2").answered(error=text, call_id="2").tool("slow", "3")
    journal("steering.queued", {"item_id": "i1", "text": text})
    journal("steering.pulled", {"items": ["i1"]}, turn=2)
    journal("steering.injected", {"item_id": "i1"}, turn=2)
    journal.said(f"# {text}\n\n- {text}\n\n```{text}\n{text}\n```\n\n| a | {text} |\n|---|---|\n| {text} | b |\n")
    journal("artifact.created", {"name": text, "mime_type": text, "size_bytes": 12})
    journal("warning", {"message": text})
    journal("action.requested", {"action": text})
    journal("steering.dropped", {"item_id": "i2", "text": text, "reason": "failed"})
    journal("output", {"stream": "traceback", "text": f"Traceback\n  File {text}\n{text}"})
    journal.finished("failed", "runner.exception", text)
    event = {"event_type": text, "source": text, "data": {"a": text}}
    other = Journal("other", 99 * SECOND)
    other("run.started", {"context": {"event": event, "input": {"text": text}}})
    journal.entries += other.entries
    return journal


def long_run(messages: int = 30) -> Journal:
    journal = Journal().began("plan")
    for number in range(messages):
        journal.said(f"message {number}: {LONG * 3}")
    return journal


async def test_run_is_drawn_from_top_to_bottom() -> None:
    journal = Journal().began("Plan a day").delta("Let me look.").tool("weather", city="Kyoto").answered("clear")
    journal("steering.queued", {"item_id": "i1", "text": "use metric"})
    journal("steering.pulled", {"items": ["i1"]}, turn=2)
    journal("steering.injected", {"item_id": "i1"}, turn=2)
    journal.delta("Here **it** is", turn=2)
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(66, 24)):
        assert [line for line in app.lines() if line] == [
            " ▌ you                                                #1  00:00.0",
            " ▌ Plan a day",
            " ▌ agent  T1                                          #2  00:01.0",
            " ▌ Let me look.",
            " ▸ weather(city=Kyoto)  clear                             ✓ 1.0 s",
            " ▌ ▼ steered · delivered at T2                        #6  00:05.0",
            " ▌ use metric",
            " ▌ agent  T2  streaming                               #8  00:07.0",
            " ▌ Here it is█",
        ]


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (("completed", "no output"), " ✓ completed with no output · 1.0 s · 1 turn"),
        (("cancelled", "cancelled"), " ■ stopped · 1.0 s · 1 turn"),
        (("timeout", "runner.timeout", "the run took longer than 30 s"), " ▌ ◷ timed out after 30 s"),
        (("failed", "runner.lost", "the runner exited with code 1"), " ▌ ⚠ runner exited (code 1)"),
    ],
)
async def test_every_end_of_a_run_is_drawn_in_words(ending: tuple[str, ...], words: str) -> None:
    app = ConversationApp(Journal().began().finished(*ending).conversation())

    async with app.run_test(size=(80, 24)):
        assert any(line.startswith(words) for line in app.lines())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", ["some words", HOSTILE, "界" * 60, "x" * 500, "a\n\nb\tc", ""])
async def test_any_text_fits_the_pane(size: tuple[int, int], text: str) -> None:
    app = ConversationApp(everything(text).conversation())

    async with app.run_test(size=size) as pilot:
        for _ in range(20):
            lines = app.lines()
            assert all(cell_len(line) <= size[0] for line in lines)
            assert not any(code < 0x20 or 0x7F <= code < 0xA0 for line in lines for code in map(ord, line))
            await pilot.press("alt+up", "space")
        assert app.is_running


async def test_hostile_text_is_shown_and_opens_no_link() -> None:
    app = ConversationApp(
        Journal().began("x").said("[bold]a[/] [@click=app.quit]b[/] <think>c</think> [d](http://e)").conversation()
    )

    async with app.run_test(size=(80, 24)):
        assert " ▌ [bold]a[/] [@click=app.quit]b[/] <think>c</think> d (http://e)" in app.lines()
        styles = [segment.style for y in range(10) for segment in app.pane.render_line(y)]
        assert not any(style and (style.link or "@click" in style.meta) for style in styles)


async def test_ascii_mode_replaces_every_glyph() -> None:
    app = ConversationApp(everything().conversation(), is_ascii=True)

    async with app.run_test(size=(80, 60)):
        assert any("▌" in line for line in app.lines())
        assert all(line.isascii() for line in app.screen_lines)


async def test_empty_conversation_shows_a_hint() -> None:
    app = ConversationApp(ConversationModel())

    async with app.run_test(size=(80, 24)):
        assert app.lines()[0] == " No messages yet."


# Following


async def test_end_is_followed_until_the_user_moves_up() -> None:
    journal = long_run()
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(120, 24)) as pilot:
        assert "message 29" in "\n".join(app.lines())
        assert app.pane.border_subtitle == "follow ●"
        since = len(journal.entries)
        journal.said("the newest")
        await app.add(pilot, journal, since)
        assert "the newest" in "\n".join(app.lines())

        await pilot.press("up")
        before = app.lines()
        journal.said("one more").said("and another")
        await app.add(pilot, journal, since + 1)

        assert app.lines() == before
        assert app.pane.border_subtitle == "▼ 2 new · end"
        await pilot.press("end")
        assert "and another" in "\n".join(app.lines())
        assert app.pane.follow.is_tail


async def test_moving_down_to_the_end_follows_again() -> None:
    app = ConversationApp(long_run().conversation())

    async with app.run_test(size=(120, 24)) as pilot:
        end = app.lines()
        await pilot.press("pageup", "pageup", "down")
        assert not app.pane.follow.is_tail
        await pilot.press("pagedown", "pagedown", "pagedown")

        assert app.pane.follow.is_tail
        assert app.lines() == end


async def test_scrolling_passes_every_row() -> None:
    app = ConversationApp(long_run(12).conversation())

    async with app.run_test(size=(120, 14)) as pilot:
        await pilot.press("home")
        rows = app.lines()
        while not app.pane.follow.is_tail:
            before = app.lines()
            await pilot.press("down")
            if not app.pane.follow.is_tail:
                assert app.lines()[:-1] == before[1:]
                rows.append(app.lines()[-1])
        rows += app.lines()[-3:]

        app.pane.styles.height = 200
        await until(pilot, lambda: len(app.lines()) > 190)
        assert [row for row in rows if "message" in row] == [row for row in app.lines() if "message" in row]


async def test_wheel_scrolls_and_narrow_screens_show_that_there_is_more() -> None:
    app = ConversationApp(long_run().conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot._post_mouse_events([MouseScrollUp], app.pane)
        await pilot.pause()
        assert not app.pane.follow.is_tail
        assert app.lines()[-1].endswith("▼ end: follow")
        await pilot._post_mouse_events([MouseScrollDown], app.pane)
        await pilot.pause()
        assert app.pane.follow.is_tail


async def test_earlier_runs_do_not_move_the_rows_in_view() -> None:
    conversation = long_run(3).conversation()
    app = ConversationApp(conversation)

    async with app.run_test(size=(120, 40)) as pilot:
        app.lines()  # draws the rows
        await pilot.pause()
        assert app.posted(Conversation.WantEarlier) == [Conversation.WantEarlier("run", 1)]
        await pilot.press("alt+up")
        before = app.lines()

        conversation.prepend(
            Journal("before", -99 * SECOND).began("earlier").said("an answer").finished().conversation()
        )
        app.tick()

        assert app.lines()[1:] == before[:-1]  # the first block is no longer the first, so a blank row is above it
        await pilot.press("home")
        await until(pilot, lambda: app.lines()[1] == " ▌ earlier")
        await until(pilot, lambda: len(app.posted(Conversation.WantEarlier)) == 2)


async def test_another_conversation_is_shown_from_its_end() -> None:
    app = ConversationApp(long_run().conversation())

    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.press("home", "alt+up")
        app.conversation = Journal("b").began("another").conversation()
        app.tick()

        assert app.lines()[1] == " ▌ another"
        assert app.pane.follow.is_tail
        assert app.pane.cursor is None


# Acting on blocks


async def test_enter_opens_the_block_under_the_cursor() -> None:
    app = ConversationApp(Journal().began().said("hello").tool().answered("sun").conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter", "alt+up", "enter", "alt+up", "enter")

        assert app.posted(Conversation.OpenInStream) == [
            Conversation.OpenInStream("run", 3),
            Conversation.OpenInStream("run", 2),
        ]
        assert [line[0] for line in app.lines() if line[:1] == "›"] == ["›"]


async def test_moving_below_the_last_block_follows_the_end() -> None:
    app = ConversationApp(long_run().conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("alt+up", "alt+up")
        assert not app.pane.follow.is_tail
        await pilot.press("alt+down", "alt+down")

        assert app.pane.cursor is None
        assert app.pane.follow.is_tail


async def test_cursor_is_always_in_view() -> None:
    app = ConversationApp(long_run(8).conversation())

    async with app.run_test(size=(60, 12)) as pilot:
        for key in ["alt+up"] * 9 + ["alt+down"] * 8:
            await pilot.press(key)
            assert any(line.startswith("›") for line in app.lines())


async def test_space_unfolds_and_folds_a_tool_call() -> None:
    app = ConversationApp(Journal().began().tool("weather").answered({"sky": "clear"}).conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        folded = app.lines()
        await pilot.press("alt+up", "space")
        assert '   ▌   "sky": "clear"' in app.lines()
        await pilot.press("space", "alt+down")

        assert app.lines() == folded


async def test_click_unfolds_a_tool_call() -> None:
    app = ConversationApp(Journal().began().tool("weather").answered("all is clear\nuntil four").conversation())

    async with app.run_test(size=(120, 24)) as pilot:
        row = next(y for y, line in enumerate(app.lines()) if "weather" in line)
        await pilot.click(app.pane, offset=(8, row + 1))

        assert "   ▌ until four" in app.lines()


async def test_large_result_is_cut_with_a_hint() -> None:
    app = ConversationApp(Journal().began().tool().answered("\n".join(map(str, range(100)))).conversation())

    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("alt+up", "space")

        assert "   ▌ … 76 more lines: enter open" in app.lines()


async def test_y_copies_a_block_as_markdown() -> None:
    app = ConversationApp(Journal().began().said("# Title\n\n**bold**").conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("alt+up", "y")

        assert app.posted(Conversation.Copy) == [Conversation.Copy("# Title\n\n**bold**")]


async def test_r_retries_a_failure_and_is_a_letter_elsewhere() -> None:
    app = ConversationApp(Journal().began().finished("failed", "runner.exception", "oh").conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("alt+up", "r", "alt+up", "r")

        assert app.posted(Conversation.Retry) == [Conversation.Retry("run")]
        assert app.posted(Conversation.TypeInPrompt) == [Conversation.TypeInPrompt("r")]


async def test_enter_takes_a_dropped_message_back_to_the_prompt() -> None:
    journal = Journal().began()
    journal("steering.dropped", {"item_id": "i1", "text": "hello", "reason": "completed"})
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        assert any("✕ dropped · run completed before T" in line for line in app.lines())
        await pilot.press("alt+up", "enter")

        assert app.posted(Conversation.PutBack) == [Conversation.PutBack("i1", "hello")]
        assert not app.posted(Conversation.OpenInStream)


async def test_message_sent_again_or_dismissed_opens_in_the_stream() -> None:
    journal = Journal().began()
    journal("steering.dropped", {"item_id": "i1", "text": "hello", "reason": "completed"})
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        for resendable, can_take_back in ((["i1"], True), ([], False), (["i1"], True), ([], False)):
            app.conversation.set_resendable(frozenset(resendable))
            app.tick()
            await pilot.pause()
            assert any("enter back to the prompt" in line for line in app.lines()) is can_take_back
        await pilot.press("alt+up", "enter")

        assert not app.posted(Conversation.PutBack)
        assert app.posted(Conversation.OpenInStream)


async def test_letters_without_a_cursor_go_to_the_prompt() -> None:
    app = ConversationApp(Journal().began().said("hello").conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y", "e", "space", "é")

        assert [message.character for message in app.posted(Conversation.TypeInPrompt)] == ["y", "e", " ", "é"]


async def test_letter_bound_by_a_keymap_is_not_typed() -> None:
    app = ConversationApp(Journal().began().said("hello").conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        app.set_keymap({"conversation.copy": "c"})
        await pilot.press("c", "alt+up", "c", "y")

        assert app.posted(Conversation.Copy) == [Conversation.Copy("hello")]
        assert [message.character for message in app.posted(Conversation.TypeInPrompt)] == ["c", "y"]


async def test_selected_text_has_no_bars_and_stays_in_place() -> None:
    journal = Journal().began("one\ntwo").said("three")
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.mouse_down(app.pane, offset=(3, 1))
        await pilot.hover(app.pane, offset=(6, 2))
        await pilot.mouse_up(app.pane, offset=(6, 2))

        assert app.screen.get_selected_text() == "one\ntwo"
        assert not app.pane.follow.is_tail


# Past entries and durations


async def test_blocks_after_the_chosen_entry_are_marked() -> None:
    app = ConversationApp(Journal().began("first").said("second").said("third").conversation())
    app.as_of = AsOf("run", 2)

    async with app.run_test(size=(80, 24)):
        later = [line for line in app.lines() if line.startswith("┆")]
        assert later[-1] == "┆▌ third"
        assert not any("first" in line or "second" in line for line in later)
        assert app.pane.border_subtitle == "as of #2"


async def test_duration_of_an_open_tool_call_is_updated() -> None:
    app = ConversationApp(Journal().began().tool("slow").conversation())

    async with app.run_test(size=(80, 24)):
        app.now = 3 * SECOND
        app.tick()
        assert any(line.endswith("◐ 2.0 s") for line in app.lines())
        app.now += SECOND
        app.tick()

        assert any(line.endswith("◐ 3.0 s") for line in app.lines())


# Cost


async def test_only_visible_parts_of_a_huge_message_are_drawn() -> None:
    text = "".join(f"Paragraph {number}. {LONG * 10}\n\n" for number in range(2_000))
    journal = Journal().began().delta(text)
    app = ConversationApp(journal.conversation())

    async with app.run_test(size=(120, 40)) as pilot:
        assert any("Paragraph 1999" in line for line in app.lines())
        drawn = len(app.pane._row_cache._cached)
        for word in ["and", "it", "goes", "on"]:
            since = len(journal.entries)
            journal.delta(word)
            await app.add(pilot, journal, since)

        assert len(app.pane._row_cache._cached) - drawn <= 2
        assert drawn < 30
        await pilot.press("home")
        assert any("Paragraph 0" in line for line in app.lines())


async def test_tick_without_changes_draws_nothing() -> None:
    app = ConversationApp(long_run().conversation())

    async with app.run_test(size=(120, 40)):
        app.lines()
        app.tick()

        assert not app.pane._viewport.is_stale


async def test_many_resizes_and_themes_leave_the_pane_intact() -> None:
    app = ConversationApp(everything().conversation())

    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press("alt+up", "alt+up")
        for width, height in [(40, 15), (160, 45), (20, 5), (80, 24), (41, 9), (160, 45)] * 3:
            await pilot.resize_terminal(width, height)
            app.theme = LIGHT.name if app.theme == DARK.name else DARK.name
            await until(pilot, lambda width=width: all(cell_len(line) <= width for line in app.lines()))
        await pilot.pause()
        assert any("failed: the runner raised" in line for line in app.lines())
