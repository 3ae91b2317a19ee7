"""The table of commands, and the keys, footer and help that are read from it."""

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
from console.launch import LaunchOptions
from console.model.commands.footer import GAP_COLUMNS, footer_keys
from console.model.commands.help import ABOUT, PANES, help_text
from console.model.commands.situation import Situation
from console.model.commands.table import BY_ID, COMMANDS, Command, commands_of
from console.model.text.glyphs import GLYPHS, LEGEND
from console.ui.artifacts.screen import ArtifactsScreen
from console.ui.composer.files import AttachmentList
from console.ui.composer.screen import ComposerScreen
from console.ui.conversation.pane import Conversation
from console.ui.inspector.find_bar import FindBar
from console.ui.inspector.pane import Inspector
from console.ui.main.controllers import Controllers
from console.ui.main.runs_list import RunsList
from console.ui.main.screen import MainScreen
from console.ui.prompt.prompt import Prompt
from console.ui.queue.pane import Queue
from console.ui.runners.screen import RunnersScreen
from console.ui.sessions.screen import SessionsScreen
from console.ui.settings_form.editors import ListEditor
from console.ui.settings_form.screen import FormScreen
from console.ui.shared.bindings import action_of, keys_of
from console.ui.shared.fields import Choice
from console.ui.shared.path_picker import PathPicker
from console.ui.state.screen import StateScreen
from console.ui.stream.input_lines import CopyMenu, FilterLine
from console.ui.stream.pane import StreamPane
from console.ui.terminal.ascii_filter import ASCII

PLACES: dict[str, type[DOMNode]] = {
    "app": Trackside, "screen": MainScreen, "tabs": MainScreen, "prompt": Prompt, "queue": Queue, "stream": StreamPane,
    "filter": FilterLine, "yank": CopyMenu, "conversation": Conversation, "inspector": Inspector, "find": FindBar,
    "rail": RunsList,
}  # fmt: skip
PLACES |= {
    "paths": PathPicker,
    "composer": ComposerScreen,
    "files": AttachmentList,
    "artifacts": ArtifactsScreen,
    "choice": Choice,
}
PLACES |= {"sessions": SessionsScreen, "states": StateScreen}
PLACES |= {"runners": RunnersScreen, "form": FormScreen, "field": ListEditor}
OVERLAYS = ("filter", "yank", "find", "paths")
"""Input lines over a pane; esc closes them first."""
BROWSERS = ("sessions", "states", "artifacts")
NEVER = {"alt+enter", *(f"alt+{digit}" for digit in range(10)), "f10", "f11", "ctrl+s", "ctrl+q", "ctrl+m", "ctrl+i"}
"""Keys that some terminals use themselves or cannot distinguish."""
BUT_FOR = {(name, "ctrl+q") for name in ("Trackside", "Dialog", "Palette", "QuitQuestion", "QuitProgress")}
"""Where ctrl+q is bound all the same: it quits, and a second time confirms."""

IDLE = Situation(is_ready=True)
RUNNING = Situation(is_ready=True, has_run=True, is_running=True)
PAUSED = Situation(is_ready=True, has_run=True, is_running=True, is_paused=True)
ENDED = Situation(is_ready=True, has_run=True, can_run_again=True)


def classes() -> Iterator[type[DOMNode]]:
    """Yield all of our classes that can have bindings."""
    for module in pkgutil.walk_packages(console.__path__, "console."):
        if module.name.endswith("__main__"):
            continue
        for _, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(found, DOMNode) and found.__module__ == module.name:
                yield found


def own_bindings(kind: type[DOMNode]) -> list[Binding]:
    return [one for one in vars(kind).get("BINDINGS", ()) if isinstance(one, Binding)]


# The table


def test_class_search_finds_every_pane():
    assert set(PLACES.values()) <= set(classes())


def test_every_binding_of_a_pane_is_in_the_table():
    textuals = [*TextArea.BINDINGS, *Input.BINDINGS]
    for kind in classes():
        if not issubclass(kind, ModalScreen):
            strange = [one for one in own_bindings(kind) if one not in textuals and one.id not in BY_ID]
            assert not strange, f"{kind.__name__} binds {strange}"


@pytest.fixture(scope="module")
def controllers() -> Controllers:
    return Trackside(LaunchOptions()).controllers


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_an_action(command: Command, controllers: Controllers):
    namespace, name, _ = parse(action_of(command))
    kind = {"app": Trackside, "screen": MainScreen}.get(namespace, PLACES[command.where])
    if kind is Trackside:
        owners = [type(owner).__name__ for owner in controllers.owners_of(name)]
        assert len(owners) == 1, f"the action {name} of the app must have one controller, not {owners}"
    else:
        assert callable(getattr(kind, f"action_{name}", None)), f"{kind.__name__} has no action {name}"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.keys], ids=lambda command: command.id)
def test_every_key_is_bound(command: Command):
    bound = [one for one in own_bindings(PLACES[command.where]) if one.id == command.id]
    assert [one.key.split(",") for one in bound] == [list(keys_of(command))]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_label_and_help(command: Command):
    assert command.label
    assert command.help.endswith(".")
    assert command.help[0].isupper()
    assert command.keys or command.palette, "the command is unreachable"
    assert not command.palette or command.palette.partition(": ")[0] in {
        "run", "steer", "stream", "view", "session", "help", "event", "artifact", "runner", "state",
    }  # fmt: skip


def test_ids_and_palette_names_are_unique():
    assert Counter(command.id for command in COMMANDS).most_common(1)[0][1] == 1
    assert Counter(command.palette for command in COMMANDS if command.palette).most_common(1)[0][1] == 1


@pytest.mark.parametrize("place", PLACES)
def test_keys_of_a_place_are_unique(place: str):
    keys = Counter(key for command in commands_of(place) for key in keys_of(command) if command.keys)
    # Pause and continue share their key: only one of them is available at a time.
    assert [key for key, count in keys.items() if count > 1] == (["f6"] if place == "app" else [])


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("app", "screen")])
def test_panes_do_not_use_keys_of_the_app(place: str):
    everywhere = {key for command in commands_of("app", "screen") if command.keys for key in keys_of(command)}
    own = {key for command in commands_of(place) if command.keys for key in keys_of(command)}
    own -= {"tab"} if place in ("paths", "runners") else set()  # tab completes a path there
    own -= {"tab", "shift+tab"} if place in BROWSERS else set()  # tab goes to the details there
    assert own & everywhere == ({"escape"} if place in OVERLAYS else set())


def test_digits_select_panes_and_inspector_tabs():
    digits = {key for command in commands_of("tabs") for key in keys_of(command)}
    shared = {
        place for place in PLACES
        if place != "tabs"
        and digits & {key for command in commands_of(place) if command.keys for key in keys_of(command)}
    }  # fmt: skip
    assert shared == {"inspector"}


def test_no_key_is_one_that_terminals_use_themselves():
    for kind in classes():
        keys = {(kind.__name__, key) for one in own_bindings(kind) for key in one.key.split(",")}
        assert {name_and_key for name_and_key in keys if name_and_key[1] in NEVER} <= BUT_FOR


# Footer


@pytest.mark.parametrize("place", ["prompt", "queue", "stream", "conversation", "inspector", "rail"])
@pytest.mark.parametrize("now", [IDLE, RUNNING, PAUSED, ENDED], ids=["idle", "running", "paused", "ended"])
def test_footer_shows_whole_keys_only(place: str, now: Situation):
    seen = 0
    for width in range(200):
        keys = footer_keys(place, now, width, lambda command: command.why_not(now))
        assert sum(key.width for key in keys) + GAP_COLUMNS * (len(keys) - 1) <= width or not keys
        assert len(keys) >= seen, "a wider footer shows at least as many keys"
        seen = len(keys)
    assert seen > 4


def test_narrow_footer_keeps_palette_and_help():
    keys = footer_keys("stream", RUNNING, 20, lambda command: command.why_not(RUNNING))
    assert [key.command_id for key in keys] == ["app.palette", "app.help"]


def test_footer_lists_keys_of_the_pane_first():
    shown = [key.command_id for key in footer_keys("queue", RUNNING, 400, lambda _: None)]
    own = [each for each in shown if each.startswith("queue.")]
    assert shown[: len(own)] == own
    assert own == sorted(own, key=lambda each: BY_ID[each].rank)


@pytest.mark.parametrize(
    ("now", "key", "words"),
    [
        (IDLE, "enter", "send"),
        (RUNNING, "enter", "steer"),
        (Situation(is_running=True, mode="after"), "enter", "queue"),
        (Situation(is_running=True, cannot_steer="no"), "enter", "queue"),
        (Situation(is_elsewhere=True), "enter", "steer"),
        (Situation(is_editing=True), "enter", "save"),
        (ENDED, "f5", "run again"),
        (RUNNING, "f6", "pause"),
        (PAUSED, "f6", "continue"),
        (RUNNING, "^t", "after run"),
        (Situation(is_running=True, mode="after"), "^t", "steer"),
        (RUNNING, "esc", "twice stops"),
    ],
)
def test_footer_label_depends_on_situation(now: Situation, key: str, words: str):
    shown = {one.key: one.label for one in footer_keys("prompt", now, 400, lambda command: command.why_not(now))}
    assert shown[key] == words


@pytest.mark.parametrize(
    ("now", "key"), [(IDLE, "^t"), (IDLE, "f5"), (IDLE, "f8"), (RUNNING, "f7"), (IDLE, "f6"), (PAUSED, "f5")]
)
def test_footer_omits_unavailable_commands(now: Situation, key: str):
    assert key not in {one.key for one in footer_keys("prompt", now, 400, lambda command: command.why_not(now))}


# Help


@pytest.mark.parametrize("where", ABOUT)
@pytest.mark.parametrize("width", [44, 52, 68])
def test_help_lists_every_key_and_fits(where: str, width: int):
    lines = list(help_text(where, width))
    keys = [line.key.strip() for line in lines if line.key.strip()]
    assert all(len(line.key + line.text) <= width for line in lines)
    everywhere = [one for one in commands_of("app", "screen") if where in PANES or one.over_screens]
    wanted = {command.all_keys for command in (*commands_of(where), *everywhere) if command.keys}
    assert wanted <= set(keys)
    assert {key for key, count in Counter(keys).items() if count > 1} <= {"f6"}


def test_help_explains_every_glyph():
    said = "\n".join(line.text for line in help_text("prompt", 68))
    assert all(f"{GLYPHS[name]} {word}" in said for name, word in LEGEND)


def test_help_has_an_ascii_form():
    lines = [line for where in ABOUT for line in help_text(where, 68)]
    assert all((line.key + line.text).translate(ASCII).isascii() for line in lines)
