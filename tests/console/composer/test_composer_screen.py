"""The composer: events of six types are filled in, checked, sent, edited and sent again."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import Trackside
from console.data.event_draft import TYPES
from console.launch import LaunchOptions
from console.ui.composer.screen import ComposerScreen
from console.ui.shared.fields import Choice, LineField, TextField
from console.ui.shared.finder import Finder
from tests.support.console.composer_app import open_composer
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, listener, sees, shown, until
from tests.support.engines import Engines, declares, done, said

Size = tuple[int, int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the console."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


class ContextRecorder:
    """A runner that records its contexts."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []

    @property
    def runner(self) -> Any:
        async def listens(ctx: Any):
            self.contexts.append(ctx)
            yield said(f"That was number {len(self.contexts)}.")
            yield done()

        return listens


async def choose(pilot: Pilot[Any], app: Trackside, event_type: str) -> None:
    """Choose a type from the list."""
    choice = app.screen.query_one("#event_type", Choice)
    choice.focus()
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, Finder))
    await pilot.press(*event_type, "enter")
    await until(pilot, lambda: choice.value == event_type and isinstance(app.screen, ComposerScreen))


async def type_into(pilot: Pilot[Any], app: Trackside, field: str, text: str) -> None:
    app.screen.query_one(f"#{field}").focus()
    await until(pilot, lambda: app.screen.focused is not None and app.screen.focused.id == field)
    await pilot.press(*text)


async def test_type_change_applies_defaults_also_if_the_draft_was_just_updated(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        screen.query_one("#event_type", Choice).value = "api.invoked"
        screen.collect()  # before the change event is handled
        await until(pilot, lambda: screen.query_one("#source", Choice).value == "api")


@at_both_sizes
async def test_message_is_sent_to_the_open_session(open_engine: Engines, size: Size):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app, size) as pilot:
        await open_composer(pilot, app)
        await pilot.press(*"hello", "f9")
        await sees(pilot, "That was number 1.")
        assert app.screen is app.main
        (context,) = recorder.contexts
        assert (context.event.event_type, context.input.text) == ("message.received", "hello")
        assert context.conversation.conversation_id == app.active_session.session_id


@at_both_sizes
async def test_event_without_a_message_is_shown_with_its_type(open_engine: Engines, size: Size):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app, size) as pilot:
        await open_composer(pilot, app)
        await choose(pilot, app, "group.member_joined")
        await pilot.press("ctrl+r", "f9")
        await sees(pilot, "◇ group.member_joined  platform", "by Ann (user ann) · membership", "That was number 1.")
        (context,) = recorder.contexts
        assert context.actor.actor_id == "ann"
        assert context.subject.data == {"group": "travellers"}
        lines = await app.active_session.engine.sessions.transcript(app.active_session.session_id)
        assert [line.role for line in lines] == ["assistant"], "the event is not a line of the user"


async def test_missing_settings_name_the_key_that_opens_them(open_engine: Engines):
    @declares(config=[{"name": "must", "type": "string", "required": True}])
    async def needs(ctx: Any):
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(needs))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await pilot.press(*"hello", "f9")
        await sees(pilot, "must is required. f12 opens its settings.")


FIELDS = {
    "data": '{"n": 9}', "event_time": "2026-01-02", "actor_id": "ann", "actor_name": "Ann", "subject_id": "s1",
    "subject_data": "a: 1", "thread_id": "t1", "bot_id": "b1", "workspace_id": "w1", "source_event_type": "hook",
}  # fmt: skip
SAYS = {
    "message.received": "hello", "message.recalled": "", "group.member_joined": "",
    "friend.request_received": "we met", "schedule.triggered": "tidy up", "api.invoked": "sum up",
}  # fmt: skip
USUAL = {
    "message.received": ("console", "user", "message"),
    "message.recalled": ("platform", "user", "message"),
    "group.member_joined": ("platform", "user", "membership"),
    "friend.request_received": ("platform", "user", "friend_request"),
    "schedule.triggered": ("scheduler", "system", "schedule"),
    "api.invoked": ("api", "api_client", "request"),
}
"""Source, actor and subject, by the contract's table."""


async def tab_to_and_type(pilot: Pilot[Any], app: Trackside, field: str, text: str) -> None:
    """Tab to a field and type."""
    for _ in range(20):
        if (focused := app.screen.focused) is not None and focused.id == field:
            break
        await pilot.press("tab")
    await pilot.press(*(["ctrl+u"] if field.startswith("actor") else []), *text)


@pytest.mark.parametrize("event_type", TYPES)
async def test_event_of_every_type_is_composed_by_keys_and_arrives_complete(
    open_engine: Engines, event_type: str, folder: Path
):
    (folder / "notes.txt").write_text("hello")
    recorder, (source, actor, subject) = ContextRecorder(), USUAL[event_type]
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        session = app.active_session.session_id
        await pilot.press("shift+tab", *["right"] * TYPES.index(event_type), "tab", *SAYS[event_type])
        await tab_to_and_type(pilot, app, "path", "notes.txt")
        await pilot.press("enter")
        await sees(pilot, "◆ notes.txt  text/plain · 5 B")
        for field, text in FIELDS.items():
            await tab_to_and_type(pilot, app, field, text)
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")

        (context,) = recorder.contexts
        event, place = context.event, context.conversation
        assert (event.event_type, event.source, event.source_event_type) == (event_type, source, "hook")
        assert (event.data, context.input.text or "") == ({"n": 9}, SAYS[event_type])
        assert context.trigger.timestamp == 1_767_312_000
        assert (context.actor.actor_type, context.actor.actor_id, context.actor.actor_name) == (actor, "ann", "Ann")
        assert (context.subject.subject_type, context.subject.subject_id, context.subject.data) == (
            subject,
            "s1",
            {"a": 1},
        )
        assert (place.conversation_id, place.thread_id, place.bot_id, place.workspace_id) == (session, "t1", "b1", "w1")
        assert [(file.name, file.mime_type, file.size) for file in context.input.attachments] == [
            ("notes.txt", "text/plain", 5)
        ]

        await sees(pilot, SAYS[event_type], "◆ notes.txt ")
        if event_type != "message.received":
            by = f'by Ann ({actor} ann) · {subject} s1 {{"a":1}}'
            await sees(pilot, f"◇ {event_type}  {source} · hook", by, '{"n":9}', "run.started")
            assert f"run.started            ◇ {event_type[:16]}" in shown(app), "the stream shows it too"


async def test_event_is_sent_again_and_edited_with_all_its_parts(open_engine: Engines, folder: Path):
    (folder / "notes.txt").write_text("hello")
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await choose(pilot, app, "friend.request_received")
        await pilot.press("ctrl+r")
        await type_into(pilot, app, "path", "notes.txt")
        await pilot.press("enter")
        await sees(pilot, "◆ notes.txt")
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("f5")
        await sees(pilot, "That was number 2.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await app.action_perform("app.edit_event")
        await sees(pilot, "Edit and send", "We met on the train", "◆ notes.txt")
        await type_into(pilot, app, "actor_name", "a")
        await pilot.press("f9")
        await sees(pilot, "That was number 3.")
        events = [(one.event.event_type, one.actor.actor_name, one.subject.subject_id) for one in recorder.contexts]
        assert events == [("friend.request_received", name, "request-1") for name in ("Ann", "Ann", "Anna")]
        assert [[file.name for file in one.input.attachments] for one in recorder.contexts] == [["notes.txt"]] * 3
        assert len({one.event.event_id for one in recorder.contexts}) == 3


@at_both_sizes
async def test_problem_is_shown_at_its_field_and_nothing_is_sent(open_engine: Engines, size: Size):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app, size) as pilot:
        await open_composer(pilot, app)
        await pilot.press("f9")
        await sees(pilot, "a message needs text or a file")
        assert app.screen.focused is not None
        assert app.screen.focused.id == "text"
        await pilot.press(*"hi")
        await until(pilot, lambda: "a message needs text" not in shown(app))
        await type_into(pilot, app, "data", "[1")
        await pilot.press("tab")
        await sees(pilot, "✗ expected ',' or ']', but got", "(line 1, column", "(now, or as in")
        await pilot.press("f9")
        await until(pilot, lambda: app.screen.focused is not None and app.screen.focused.id == "data")
        assert recorder.contexts == []
        await pilot.press("backspace", "backspace", "f9")
        await sees(pilot, "That was number 1.")


async def test_refusal_of_the_engine_is_shown_and_the_draft_stays(open_engine: Engines):
    agents = [{"id": "a", "runner": "listens", "events": ["message.received"]}]
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner, agents=agents))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await choose(pilot, app, "schedule.triggered")
        await pilot.press("f9")
        await until(pilot, lambda: app.screen.query_one("#error").display)
        assert isinstance(app.screen, ComposerScreen)
        assert "schedule.triggered" in str(app.screen.query_one("#error").render())


async def test_draft_is_kept_cleared_and_restored(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await pilot.press(*"half a thought", "escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.where() == "prompt"
        await open_composer(pilot, app)
        await sees(pilot, "half a thought")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "half a thought" not in shown(app))
        await pilot.press("ctrl+t")
        await sees(pilot, "half a thought")
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")
        screen = await open_composer(pilot, app)
        assert screen.draft.values["text"] == ""


async def test_draft_counts_only_if_it_was_changed(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        assert not app.controllers.composer.has_unsent_draft, "nothing was typed"
        await pilot.press(*"half a thought")
        assert app.controllers.composer.has_unsent_draft
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await app.action_perform("app.edit_event")
        await sees(pilot, "Edit and send", "half a thought")
        assert not app.controllers.composer.has_unsent_draft, "nothing was changed"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert (await open_composer(pilot, app)).draft.base is None


async def test_event_draft_is_offered_again_only_in_its_session(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await pilot.press(*"half a thought", "escape")
        await until(pilot, lambda: app.screen is app.main)
        first = app.active_session.session_id
        await app.action_perform("app.new_session")
        await until(pilot, lambda: app.active_session.session_id != first)
        screen = await open_composer(pilot, app)
        assert screen.draft.values["text"] == ""
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await app.services.updater.enter_session(first)
        await open_composer(pilot, app)
        await sees(pilot, "half a thought")


async def test_quitting_warns_that_an_event_draft_is_lost(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        await pilot.press(*"half a thought", "ctrl+q")
        await sees(pilot, "The event draft will be lost.")


async def test_event_for_another_session_opens_it(open_engine: Engines):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        screen.query_one("#conversation_id").focus()
        await pilot.press("ctrl+u", *"elsewhere")
        await type_into(pilot, app, "text", "hi there")
        await pilot.press("f9")
        await until(pilot, lambda: app.active_session.session_id == "elsewhere")
        await sees(pilot, "That was number 1.")


async def test_event_without_a_conversation_runs_and_is_shown(open_engine: Engines):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        session = app.active_session.session_id
        await choose(pilot, app, "schedule.triggered")
        screen.query_one("#conversation_id").focus()
        await pilot.press("ctrl+u", "f9")
        await until(pilot, lambda: bool(recorder.contexts) and app.services.updater.view is not None)
        assert app.active_session.session_id == session
        assert recorder.contexts[0].conversation is None or recorder.contexts[0].conversation.conversation_id is None


async def test_queued_event_says_so(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "You said: hello")
        await open_composer(pilot, app)
        await choose(pilot, app, "group.member_joined")
        await pilot.press("ctrl+r", "f9")
        await sees(pilot, "Queued until the run ends")
        assert app.screen is app.main


# Files


async def test_file_is_completed_attached_removed_and_sent(open_engine: Engines, folder: Path):
    (folder / "notes.txt").write_text("hello")
    (folder / "north.txt").write_text("up")
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        for name in ("north", "notes"):
            await type_into(pilot, app, "path", name[:3])
            await sees(pilot, "tab uses the path")
            await pilot.press("tab")
            assert screen.query_one("#path", LineField).value == f"{name}.txt", "tab completes"
            assert f"{name}.txt" not in [file.name for file in screen.draft.attachments]
            await pilot.press("enter")
            await sees(pilot, f"◆ {name}.txt  text/plain")
            assert _field(app) == "path", "enter attaches"
        await pilot.press(*"nowhere", "enter")
        await sees(pilot, "nowhere does not exist")
        await pilot.press("ctrl+u", "up")
        await sees(pilot, "delete remove")
        await pilot.press("d")
        await until(pilot, lambda: [file.name for file in screen.draft.attachments] == ["notes.txt"])
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")
        assert [file.name for file in recorder.contexts[0].input.attachments] == ["notes.txt"]


async def test_file_is_attached_once(open_engine: Engines, folder: Path):
    (folder / "notes.txt").write_text("hello")
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        await screen._add_file("notes.txt")
        await screen._add_file("./notes.txt")
        await sees(pilot, "notes.txt is already attached.")
        assert len(screen.draft.attachments) == 1
        (folder / "notes.txt").write_text("hello again")
        await screen._add_file("notes.txt")
        assert len(screen.draft.attachments) == 2, "the content has changed"


# Recorded events


@at_both_sizes
async def test_event_of_a_run_is_edited_and_sent_as_a_new_one(open_engine: Engines, size: Size):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app, size) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "That was number 1.")
        await until(pilot, lambda: not app.services.situation.is_running)
        app.main.go_to("conversation")
        await pilot.press(*["alt+up"] * 3)
        await until(pilot, lambda: app.main.conversation.why_not("edit") is None)
        await pilot.press("e")
        await sees(pilot, "Edit and send", "hello")
        app.screen.query_one("#text").focus()
        await pilot.press("end", *" again", "f9")
        await sees(pilot, "That was number 2.")
        assert [context.input.text for context in recorder.contexts] == ["hello", "hello again"]
        assert recorder.contexts[0].event.event_id != recorder.contexts[1].event.event_id


async def test_edit_key_on_a_block_without_an_event_types_into_the_prompt(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "That was number 1.")
        app.main.go_to("conversation")
        await pilot.press("alt+up", "e")
        await until(pilot, lambda: app.main.prompt.text == "e")


async def test_control_characters_are_shown_safely(open_engine: Engines):
    recorder = ContextRecorder()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        screen.draft.values |= {"text": "a\x1b[31mred", "actor_name": "b\x1b]0;x\x07[/bold]", "data": '{"c": "\x9b"}'}
        screen._show()
        await sees(pilot, "a␛[31mred", "b␛]0;x␇[/bold]")
        assert not {"\x1b", "\x07", "\x9b"} & set(shown(app))


@pytest.mark.parametrize(("size", "ascii_only"), [((160, 45), True), ((120, 35), False), ((60, 15), True)])
async def test_composer_fits_every_screen_size(open_engine: Engines, size: Size, ascii_only: bool):
    app = Trackside(LaunchOptions(ascii_only=ascii_only), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app, size) as pilot:
        await open_composer(pilot, app)
        await pilot.press("f9")
        await sees(pilot, "a message needs text")
        assert not ascii_only or shown(app).isascii()
        app.screen.query_one("#path").focus()
        await until(pilot, lambda: app.screen.can_view_entire(app.screen.query_one("#path")))


def _field(app: Trackside) -> str | None:
    return app.screen.focused.id if app.screen.focused is not None else None


@at_both_sizes
async def test_up_and_down_move_through_a_text_and_on_to_other_fields(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app, size) as pilot:
        await open_composer(pilot, app)
        for key, field in (("up", "event_type"), ("down", "text"), ("down", "path"), ("down", "data")):
            await pilot.press(key)
            await until(pilot, lambda field=field: _field(app) == field)
        data = app.screen.query_one("#data", TextField)
        data.load_text("{\n" + "word " * 60)  # two lines, of which the second is wrapped
        data.move_cursor(data.document.end)
        rows = 0
        while _field(app) == "data" and rows < 12:
            await pilot.press("up")
            rows += 1
        assert (_field(app), data.cursor_location[0]) == ("path", 0)
        assert rows > 2, "the cursor went through the wrapped rows"
        await type_into(pilot, app, "subject_data", "")
        await pilot.press("up")
        await until(pilot, lambda: _field(app) == "subject_id")
        await pilot.press("down", "down")
        await until(pilot, lambda: _field(app) == "conversation_id")


async def test_selecting_upwards_stays_in_the_text(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        await pilot.press(*"hello", "shift+up")
        assert _field(app) == "text"
        assert screen.query_one("#text", TextField).selected_text == "hello"


async def test_invalid_json_is_explained(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(ContextRecorder().runner))
    async with at_the_screen(app) as pilot:
        await open_composer(pilot, app)
        for field, typed, problem in (
            ("data", "{name: 1}", "✗ Not JSON: line 1, column 2: a name in double quotes belongs here"),
            ("subject_data", "{name: 1}", "✗ Not JSON: line 1, column 2: a name in double quotes belongs here"),
            ("data", '{"a" 1}', "✗ Not JSON: line 1, column 6: a : is missing"),
            ("data", '{"a": wild}', "✗ Not JSON: line 1, column 7: a value belongs here"),
        ):
            await type_into(pilot, app, field, typed)
            await pilot.press("tab")
            await sees(pilot, problem)
            assert "Expecting" not in shown(app)
            await type_into(pilot, app, field, "")
            await pilot.press("ctrl+a", "delete")
            await until(pilot, lambda problem=problem: problem not in shown(app))
