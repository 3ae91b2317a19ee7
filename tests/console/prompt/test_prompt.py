"""The prompt alone, used with keys and pastes."""

import time
from dataclasses import replace
from typing import ClassVar

import pytest
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from console.model.commands.situation import Situation
from console.model.prompt.paste_tokens import MAX_KEPT_TEXTS, MAX_SHOWN_CHARS, PasteTokens
from console.ui.prompt.prompt import Prompt
from console.ui.shared.refused import Refused
from tests.support.console.pilot import until
from tests.support.console.single_pane_app import SinglePaneApp

IDLE = Situation(is_ready=True)
RUNNING = Situation(is_ready=True, is_running=True)
HOSTILE = "[/] [bold]x[/bold] \x1b[31m\x1b]0;t\x07 \x9b2J \u202e [@click=app.quit]y[/] {} \\["
SIZES = [(40, 15), (80, 24), (160, 45)]


class PromptApp(SinglePaneApp):
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-short"), (30, "-tall")]
    CSS = "Static { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []
        self.keys: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("above")
        yield Prompt()

    def on_mount(self) -> None:
        self.prompt.show(IDLE, runner="echo")
        self.prompt.focus()

    def on_key(self, event: events.Key) -> None:
        self.keys.append(event.key)

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        self.heard.append(message)

    def on_prompt_enter_queue(self, message: Prompt.EnterQueue) -> None:
        self.heard.append(message)

    def on_refused(self, message: Refused) -> None:
        self.heard.append(message)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def sent(self) -> list[str]:
        return [message.text for message in self.heard if isinstance(message, Prompt.Submitted)]

    @property
    def refused(self) -> list[str]:
        return [message.reason for message in self.heard if isinstance(message, Refused)]

    @property
    def picture(self) -> str:
        return "\n".join(strip.text for strip in self.screen._compositor.render_strips())


async def type_text(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*("space" if letter == " " else letter for letter in text))


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.post_message(events.Paste(text))
    await pilot.pause()


async def test_enter_sends_the_text_and_clears_the_prompt():
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "plan a trip")
        await pilot.press("enter")

        assert app.heard == [app.heard[0]]
        assert (app.sent, app.heard[0].mode, app.heard[0].item_id) == (["plan a trip"], "steer", None)
        assert app.prompt.text == ""
        assert app.prompt.has_focus


async def test_empty_message_is_not_sent():
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter")

        assert app.refused == ["The prompt is empty. Type a message first."] * 2
        assert len(app.heard) == 2


async def test_letter_typed_right_after_enter_belongs_to_the_next_message():
    app = PromptApp()
    async with app.run_test() as pilot:
        for key in ("a", "enter", "b", "backspace", "c", "ctrl+j", "d", "enter", "e"):
            app.prompt.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()

        assert app.sent == ["a", "c\nd"]
        assert app.prompt.text == "e"


async def test_ctrl_j_and_shift_enter_insert_a_line_break():
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "enter")

        assert app.sent == ["a\nb\nc"]


@pytest.mark.parametrize(
    ("size", "least", "most"), [((160, 45), 3, 10), ((120, 24), 3, 6), ((80, 45), 2, 9), ((80, 24), 2, 5)]
)
async def test_prompt_grows_with_its_text_up_to_a_limit(size: tuple[int, int], least: int, most: int):
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert app.prompt.outer_size.height == least
        await pilot.press("a", "ctrl+j", "b")
        await until(pilot, lambda: app.prompt.outer_size.height == least + 1)
        await pilot.press(*(["ctrl+j"] * 12), "z")
        await until(pilot, lambda: app.prompt.outer_size.height == most)
        await until(pilot, lambda: "z" in app.picture.splitlines()[-1 if size[0] < 100 else -2])


async def test_cursor_row_is_visible_after_a_line_break_and_a_resize():
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(9):
            await pilot.press("a", "ctrl+j")
        await pilot.pause()
        assert app.prompt.scroll_offset.y + 4 == 10
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        assert app.prompt.scroll_offset.y + 4 == 10


@pytest.mark.parametrize("lines", [1, 2, 4, 5])
async def test_undone_line_break_raises_no_error(lines: int):
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = "\n".join("a" * lines)
        app.prompt.load(text)
        await pilot.pause()
        for key in ("ctrl+j", "ctrl+z", "ctrl+z", "enter"):
            app.prompt.post_message(events.Key(key, None))
        await pilot.pause()

        assert app.sent == [text]


# Title and mode


async def test_ctrl_t_switches_the_mode_in_the_title():
    app = PromptApp()
    async with app.run_test(size=(160, 45)) as pilot:
        app.prompt.show(RUNNING, turn=3)
        await pilot.pause()
        assert "steer ▸ delivered at the next steering point (≈ T4)" in app.picture

        await pilot.press("ctrl+t", "a", "enter")

        assert app.heard == [app.heard[0]]
        assert app.heard[0].mode == "after"
        assert "after ▸ sent when the run ends" in app.picture
        assert app.prompt.has_class("-after")


async def test_ctrl_t_shows_why_the_mode_cannot_be_chosen():
    app = PromptApp()
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press("ctrl+t")
        app.prompt.show(replace(RUNNING, cannot_steer="this runner declares no steering"))
        await pilot.press("ctrl+t", "a", "enter")

        assert app.refused == [
            "No run in progress. Messages are sent at once.",
            "Messages wait for the end of the run: this runner declares no steering",
        ]
        assert app.heard[-1].mode == "after"
        assert "after ▸ this runner declares no steering" in app.picture


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_text_in_the_title(size: tuple[int, int]):
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        for now in (IDLE, replace(RUNNING, cannot_steer=HOSTILE), Situation(trouble=HOSTILE)):
            app.prompt.show(now, runner=HOSTILE)
            await pilot.pause()
            assert not set(app.picture) & set("\x1b\x07\x9b\u202e")
        app.prompt.show(IDLE, runner="[/x] [b]y")
        await pilot.pause()
        assert ("send ▸ [/x] [b]y" if size[0] > 40 else "send ▸ [/x]") in app.picture


async def test_empty_prompt_shows_a_placeholder():
    app = PromptApp()
    async with app.run_test() as pilot:
        assert "Type a message" in app.picture
        app.prompt.show(RUNNING)
        await pilot.pause()
        assert "Type a message to the run in progress" in app.picture
        await pilot.press("x")
        assert "Type a message" not in app.picture


async def test_console_keys_pass_through_the_prompt():
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "escape", "f6", "f7", "f8")

        assert app.keys == ["escape", "f6", "f7", "f8"]
        assert app.prompt.text == "a"
        assert app.prompt.selection.is_empty


async def test_keymap_changes_the_keys_of_the_prompt():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.set_keymap({"prompt.send": "f9"})
        await pilot.press("a", "enter", "b", "f9")

        assert app.sent == ["a\nb"]


# History


async def test_up_on_the_first_row_shows_the_history_and_down_the_draft():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.set_history(["oldest", "two\nlines"])
        await pilot.press("d", "r")
        await pilot.press("up")
        assert app.prompt.text == "two\nlines"
        await pilot.press("up")
        assert app.prompt.text == "oldest"
        await pilot.press("up")
        assert app.prompt.text == "oldest"
        await pilot.press("down")
        assert app.prompt.text == "two\nlines"
        await pilot.press("down")
        assert app.prompt.text == "dr"
        await pilot.press("down", "x")
        assert app.prompt.text == "drx"


async def test_up_moves_the_cursor_until_the_first_row():
    app = PromptApp()
    async with app.run_test(size=(40, 15)) as pilot:
        app.prompt.set_history(["sent"])
        app.prompt.load("word " * 12)
        await pilot.press("up")
        assert app.prompt.text == "word " * 12
        await pilot.press("up", "up")
        assert app.prompt.text == "sent"


async def test_up_in_an_empty_prompt_goes_to_the_queue():
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "said")
        await pilot.press("enter")
        app.prompt.show(replace(RUNNING, queue_items=1))
        await pilot.press("up")
        assert isinstance(app.heard[-1], Prompt.EnterQueue)
        app.prompt.show(RUNNING)
        await pilot.press("up")
        assert app.prompt.text == "said"


# Editing a queued message


async def test_queued_message_is_edited_and_the_draft_comes_back():
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await type_text(pilot, "draft")
        app.prompt.begin_editing("i1", "skip the tests")
        await pilot.pause()
        assert "editing a queued message ▸ enter saves · esc cancels" in app.picture

        await type_text(pilot, "!")
        await pilot.press("enter")

        assert (app.sent, app.heard[0].item_id) == (["skip the tests!"], "i1")
        assert app.prompt.text == "draft"
        assert "send ▸ echo" in app.picture


async def test_cancelled_edit_leaves_the_queued_message_unchanged():
    app = PromptApp()
    async with app.run_test():
        app.prompt.load("draft")
        app.prompt.begin_editing("i1", "one")
        app.prompt.begin_editing("i2", "two")

        assert app.prompt.cancel_editing()
        assert app.prompt.text == "draft"
        assert not app.prompt.cancel_editing()
        assert app.heard == []


async def test_queued_message_cannot_become_empty():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.begin_editing("i1", "a")
        await pilot.press("backspace", "enter", "ctrl+t")

        assert app.refused == [
            "The message is empty. Press d in the queue to withdraw it.",
            "Save the message first; in the queue, t changes its mode.",
        ]
        assert app.prompt.item_id == "i1"


async def test_unsent_message_comes_back_before_newer_text():
    app = PromptApp()
    async with app.run_test():
        app.prompt.restore_text("first")
        assert app.prompt.text == "first"
        app.prompt.load("since")
        app.prompt.restore_text("first")
        assert app.prompt.text == "first\nsince"


# Pastes


async def test_paste_keeps_its_lines():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, "a\r\nb\rc")
        await pilot.press("enter")

        assert app.sent == ["a\nb\nc"]


async def test_megabyte_is_pasted_at_once_and_sent_whole():
    app = PromptApp()
    text = ("lorem ipsum " * 8 + "\n") * 10_400
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        began = time.thread_time()
        app.prompt.on_paste(events.Paste(text))
        took = time.thread_time() - began
        await pilot.press("b")
        assert app.prompt.text == f"a⟦pasted {len(text):,} characters⟧b"
        assert f"a⟦pasted {len(text):,} characters⟧b" in app.picture
        await pilot.press("enter")

        assert app.sent == ["a" + text + "b"]
        # A text area needs a second or more of processor time for it.
        assert took < 0.25


async def test_large_paste_is_deleted_and_undone_as_one():
    app = PromptApp()
    text = "x" * (MAX_SHOWN_CHARS + 1)
    async with app.run_test() as pilot:
        await pilot.press("a")
        await paste(pilot, text)
        token = app.prompt.text[1:]
        await pilot.press("backspace")
        assert app.prompt.text == "a"
        await pilot.press("ctrl+z")
        assert app.prompt.text == "a" + token
        await pilot.press("home", "right", "delete", "b")
        assert app.prompt.text == "ab"
        await paste(pilot, text)
        await pilot.press("enter")
        assert app.sent == ["ab" + text]


async def test_cursor_steps_over_a_large_paste():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(pilot, "x" * (MAX_SHOWN_CHARS + 1))
        token = app.prompt.text
        await pilot.press("left", "a", "right", "b")
        assert app.prompt.text == f"a{token}b"
        app.prompt.move_cursor((0, 10))
        await pilot.press("c")
        assert app.prompt.text == f"ac{token}b"
        await pilot.press("ctrl+a", "right", "shift+right", "shift+right", "backspace")
        assert app.prompt.text == "ab"


async def test_restored_large_text_is_a_token():
    app = PromptApp()
    text = "y " * MAX_SHOWN_CHARS
    async with app.run_test() as pilot:
        app.prompt.begin_editing("i1", text)
        await type_text(pilot, "!")
        await pilot.press("enter")
        assert (app.sent, app.heard[0].item_id) == ([text + "!"], "i1")
        await pilot.press("up", "enter")
        assert app.sent[-1] == text + "!"


async def test_many_small_pastes_become_tokens():
    app = PromptApp()
    async with app.run_test() as pilot:
        for _ in range(20):
            await paste(pilot, "z" * (MAX_SHOWN_CHARS // 2))
        assert len(app.prompt.text) < MAX_SHOWN_CHARS + 500
        await pilot.press("enter")
        assert app.sent == ["z" * (MAX_SHOWN_CHARS // 2) * 20]


@pytest.mark.parametrize("size", SIZES)
async def test_pasted_control_characters_are_sent_but_not_drawn(size: tuple[int, int]):
    app = PromptApp()
    async with app.run_test(size=size) as pilot:
        await paste(pilot, HOSTILE)
        assert not set(app.picture) & set("\x1b\x07\x9b\u202e")
        assert "␛[31m" in app.picture
        await pilot.press("enter")
        assert app.sent == [HOSTILE]


def test_tokens_of_equal_length_differ_and_the_last_are_kept():
    pastes = PasteTokens()
    texts = [chr(65 + number) * (MAX_SHOWN_CHARS + 1) for number in range(MAX_KEPT_TEXTS + 3)]
    tokens = [pastes.shown(text) for text in texts]

    assert len(set(tokens)) == len(texts)
    assert pastes.shown(texts[0]) == tokens[0]
    pastes.forget(but=f"in it still: {tokens[0]}")

    assert pastes.whole(" ".join(tokens)) == " ".join([texts[0], *tokens[1:3], *texts[3:]])


def test_token_inside_pasted_text_is_text():
    pastes = PasteTokens()
    token = pastes.shown("a" * (MAX_SHOWN_CHARS + 1))
    other = pastes.shown(token * MAX_SHOWN_CHARS)

    assert pastes.whole(other) == token * MAX_SHOWN_CHARS
