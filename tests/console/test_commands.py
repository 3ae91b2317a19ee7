"""The one table of commands, and everything that is read from it."""

import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator
from importlib import import_module

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

import console
from console.app import Trackside
from console.bindings import action_of, keys_of
from console.model.commands import BY_ID, COMMANDS, Command, of
from console.model.footing import GAP, footing
from console.model.glyphs import LEGEND, Glyphs
from console.model.help_text import ABOUT, PANES, help_text
from console.model.situation import Situation
from console.screens.artifacts.screen import Artifacts
from console.screens.composer.files import Files
from console.screens.composer.screen import Composer
from console.screens.form.editors import ListEditor
from console.screens.form.screen import FormScreen
from console.screens.main import Main
from console.screens.runners.screen import Runners
from console.screens.sessions.screen import Sessions
from console.screens.states.screen import States
from console.widgets.conversation.pane import Conversation
from console.widgets.fields import Choice
from console.widgets.inspector import Inspector
from console.widgets.inspector.finding import FindBar
from console.widgets.path_picks import PathPicks
from console.widgets.prompt import Prompt
from console.widgets.queue import Queue
from console.widgets.rail import Rail
from console.widgets.stream.filter_line import FilterLine
from console.widgets.stream.pane import StreamPane
from console.widgets.stream.yank import YankMenu

PLACES: dict[str, type[DOMNode]] = {
    "app": Trackside, "screen": Main, "tabs": Main, "prompt": Prompt, "queue": Queue, "stream": StreamPane,
    "filter": FilterLine, "yank": YankMenu, "conversation": Conversation, "inspector": Inspector, "find": FindBar,
    "rail": Rail,
}  # fmt: skip
PLACES |= {"paths": PathPicks, "composer": Composer, "files": Files, "artifacts": Artifacts, "choice": Choice}
PLACES |= {"sessions": Sessions, "states": States}
PLACES |= {"runners": Runners, "form": FormScreen, "field": ListEditor}
OVERLAYS = ("filter", "yank", "find", "paths")
"""Lines that lie over a pane while they are open; esc is theirs first, since it closes what is open."""
BROWSERS = ("sessions", "states", "artifacts")
NEVER = {"alt+enter", *(f"alt+{digit}" for digit in range(10)), "f10", "f11", "ctrl+s", "ctrl+q", "ctrl+m", "ctrl+i"}
"""Keys that some terminal keeps for itself, or cannot tell from another."""
BUT_FOR = {(name, "ctrl+q") for name in ("Trackside", "Dialog", "Palette", "Leave", "Farewell")}
"""Textual leaves with the one, and a second time says yes; the other is a habit, beside the key that is shown."""

IDLE = Situation(is_ready=True)
RUNNING = Situation(is_ready=True, has_run=True, is_running=True)
HELD = Situation(is_ready=True, has_run=True, is_running=True, is_held=True)
ENDED = Situation(is_ready=True, has_run=True, can_run_again=True)


def classes() -> Iterator[type[DOMNode]]:
    """All that is ours and can have keys."""
    for module in pkgutil.walk_packages(console.__path__, "console."):
        if module.name.endswith("__main__"):
            continue
        for _, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(found, DOMNode) and found.__module__ == module.name:
                yield found


def own_bindings(kind: type[DOMNode]) -> list[Binding]:
    return [one for one in vars(kind).get("BINDINGS", ()) if isinstance(one, Binding)]


# The table


def test_the_walk_finds_every_pane():
    assert set(PLACES.values()) <= set(classes())


def test_every_key_of_every_pane_is_in_the_table():
    textuals = [*TextArea.BINDINGS, *Input.BINDINGS]
    for kind in classes():
        if not issubclass(kind, ModalScreen):
            strange = [one for one in own_bindings(kind) if one not in textuals and one.id not in BY_ID]
            assert not strange, f"{kind.__name__} keeps {strange}"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_an_action_where_it_belongs(command: Command):
    namespace, name, _ = parse(action_of(command))
    kind = {"app": Trackside, "screen": Main}.get(namespace, PLACES[command.where])
    assert callable(getattr(kind, f"action_{name}", None)), f"{kind.__name__} has no action {name}"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.keys], ids=lambda command: command.id)
def test_every_key_is_bound_where_it_belongs(command: Command):
    bound = [one for one in own_bindings(PLACES[command.where]) if one.id == command.id]
    assert [one.key.split(",") for one in bound] == [list(keys_of(command))]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_words_and_a_sentence(command: Command):
    assert command.words
    assert command.help.endswith(".")
    assert command.help[0].isupper()
    assert command.keys or command.palette, "nobody could ever reach it"
    assert not command.palette or command.palette.partition(": ")[0] in {
        "run", "steer", "stream", "view", "session", "help", "event", "artifact", "runner", "state",
    }  # fmt: skip


def test_ids_and_names_are_there_once():
    assert Counter(command.id for command in COMMANDS).most_common(1)[0][1] == 1
    assert Counter(command.palette for command in COMMANDS if command.palette).most_common(1)[0][1] == 1


@pytest.mark.parametrize("place", PLACES)
def test_no_key_means_two_things_in_one_place(place: str):
    keys = Counter(key for command in of(place) for key in keys_of(command) if command.keys)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("app", "screen")])
def test_no_pane_takes_a_key_from_everywhere(place: str):
    everywhere = {key for command in of("app", "screen") if command.keys for key in keys_of(command)}
    own = {key for command in of(place) if command.keys for key in keys_of(command)}
    own -= {"tab"} if place in ("paths", "runners") else set()  # it completes a path, wherever it leads else
    own -= {"tab", "shift+tab"} if place in BROWSERS else set()  # there it leads to the side: no panes are in sight
    assert own & everywhere == ({"escape"} if place in OVERLAYS else set())


def test_digits_lead_to_the_panes_but_in_the_inspector_to_its_tabs():
    digits = {key for command in of("tabs") for key in keys_of(command)}
    shared = {
        place for place in PLACES
        if place != "tabs" and digits & {key for command in of(place) if command.keys for key in keys_of(command)}
    }  # fmt: skip
    assert shared == {"inspector"}


def test_no_key_is_one_that_a_terminal_may_keep():
    for kind in classes():
        keys = {(kind.__name__, key) for one in own_bindings(kind) for key in one.key.split(",")}
        assert {name_and_key for name_and_key in keys if name_and_key[1] in NEVER} <= BUT_FOR


# Footer


@pytest.mark.parametrize("place", ["prompt", "queue", "stream", "conversation", "inspector", "rail"])
@pytest.mark.parametrize("now", [IDLE, RUNNING, HELD, ENDED], ids=["idle", "running", "held", "ended"])
def test_the_footer_is_never_cut_in_the_middle(place: str, now: Situation):
    seen = 0
    for width in range(200):
        keys = footing(place, now, width, lambda command: command.why_not(now))
        assert sum(key.width for key in keys) + GAP * (len(keys) - 1) <= width or not keys
        assert len(keys) >= seen, "more room, and less to see"
        seen = len(keys)
    assert seen > 4


def test_help_and_the_palette_stay_as_long_as_there_is_room():
    keys = footing("stream", RUNNING, 20, lambda command: command.why_not(RUNNING))
    assert [key.command_id for key in keys] == ["app.palette", "app.help"]


def test_the_keys_of_the_pane_come_first_by_rank():
    shown = [key.command_id for key in footing("queue", RUNNING, 400, lambda _: None)]
    own = [each for each in shown if each.startswith("queue.")]
    assert shown[: len(own)] == own
    assert own == sorted(own, key=lambda each: BY_ID[each].rank)


@pytest.mark.parametrize(
    ("now", "key", "words"),
    [
        (IDLE, "enter", "send"),
        (RUNNING, "enter", "steer"),
        (Situation(is_running=True, mode="after"), "enter", "queue it"),
        (Situation(is_running=True, cannot_steer="no"), "enter", "queue it"),
        (Situation(is_elsewhere=True), "enter", "queue it"),
        (Situation(is_editing=True), "enter", "save"),
        (ENDED, "f5", "run again"),
        (HELD, "f5", "release"),
        (RUNNING, "^t", "after run"),
        (Situation(is_running=True, mode="after"), "^t", "steer"),
        (RUNNING, "esc", "twice stops"),
    ],
)
def test_words_follow_the_moment(now: Situation, key: str, words: str):
    shown = {one.key: one.words for one in footing("prompt", now, 400, lambda command: command.why_not(now))}
    assert shown[key] == words


@pytest.mark.parametrize(("now", "key"), [(IDLE, "^t"), (IDLE, "f5"), (IDLE, "f8"), (RUNNING, "f7"), (HELD, "f6")])
def test_what_cannot_be_done_is_not_offered(now: Situation, key: str):
    assert key not in {one.key for one in footing("prompt", now, 400, lambda command: command.why_not(now))}


# Help


@pytest.mark.parametrize("where", ABOUT)
@pytest.mark.parametrize("width", [44, 52, 68])
def test_the_help_has_every_key_once_and_fits(where: str, width: int):
    lines = list(help_text(where, width, Glyphs()))
    keys = [line.key.strip() for line in lines if line.key.strip()]
    assert all(len(line.key + line.words) <= width for line in lines)
    everywhere = [one for one in of("app", "screen") if where in PANES or one.over]
    wanted = {command.all_keys for command in (*of(where), *everywhere) if command.keys}
    assert wanted <= set(keys)
    assert len(keys) == len(set(keys))


def test_the_help_tells_every_state_in_a_glyph_and_a_word():
    said = "\n".join(line.words for line in help_text("prompt", 68, Glyphs()))
    assert all(f"{Glyphs()[name]} {word}" in said for name, word in LEGEND)


def test_the_help_in_ascii_is_ascii():
    plain = Glyphs(ascii_only=True)
    assert all((line.key + line.words).isascii() for where in ABOUT for line in help_text(where, 68, plain))
