"""What a person settles in a file: what holds, and what is said of the rest."""

from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.binding import Binding
from textual.events import Key
from textual.theme import BUILTIN_THEMES
from textual.widgets import TextArea

from console.model.commands import BY_ID, COMMANDS, of
from console.model.settings.file import EXAMPLE, read
from console.model.settings.keymap import changed
from console.model.settings.keys import EDITS, is_rare, is_typed, key_named, why_not_key
from console.model.settings.palette import BORROWED, DARK, LEGIBLE, LIGHT
from console.model.settings.settings import Settings
from console.settling import Memory, Settled, read_settings, settled
from tests.console.test_boundaries import loaded

NEVER = ("alt+enter", "alt+1", "f10", "f11", "ctrl+s", "ctrl+q", "ctrl+m", "ctrl+i")


def told(text: str) -> list[str]:
    return [str(problem) for problem in read(text).problems]


# Keys


@pytest.mark.parametrize(
    ("written", "key"),
    [("^t", "ctrl+t"), ("K", "shift+k"), ("/", "slash"), ("esc", "escape"), ("F9", "f9"), ("ctrl+x", "ctrl+x"),
     ("alt+up", "alt+up"), ("pgdn", "pagedown"), ("?", "question_mark"), ("ctrl+/", "ctrl+slash"), ("+", "plus")],
)  # fmt: skip
def test_a_key_may_be_written_as_it_is_shown(written: str, key: str):
    assert key_named(written) == key


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.keys], ids=lambda one: one.id)
def test_what_the_table_shows_can_be_written_into_the_file(command):
    assert [key_named(shown) for shown in command.all_keys.split()] == command.keys.split(",")


@pytest.mark.parametrize("key", NEVER)
def test_keys_that_a_terminal_keeps_are_refused(key: str):
    assert key in (why_not_key(key) or "")


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1ba", "alt+a"), ("\x1bA", "alt+shift+a"), ("\x1c", "ctrl+backslash"), ("\x1b[15;2~", "shift+f5"),
     ("\x1b[15;5~", "ctrl+f5"), ("\x1b[1;6A", "ctrl+shift+up"), ("\x1b[Z", "shift+tab"), ("A", "shift+a"),
     ("\x1b[1;3B", "alt+down"), ("\x18", "ctrl+x")],
)  # fmt: skip
def test_what_every_terminal_sends_is_not_rare(sent: str, key: str):
    assert [key_named(one) for one in heard(sent)] == [key]
    assert not is_rare(key)


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1b/", "alt+slash"), ("\x1b ", "alt+space"), ("\x1b\x01", "ctrl+alt+a"), ("\x00", "ctrl+space"),
     ("1", "ctrl+1"), ("\x01", "ctrl+shift+a"), ("\r", "ctrl+enter"), ("\r", "shift+enter"), ("\t", "ctrl+tab"),
     ("\x7f", "ctrl+backspace")],
)  # fmt: skip
def test_what_a_plain_terminal_sends_as_another_key_is_rare(sent: str, key: str):
    assert key not in heard(sent)
    assert is_rare(key)


def heard(sent: str) -> list[str]:
    """The keys that Textual makes of what a terminal sends."""
    parser = XTermParser()
    return [one.key for one in (*parser.feed(sent), *parser.feed("")) if isinstance(one, Key)]


@pytest.mark.parametrize(("key", "typed"), [("a", True), ("shift+k", True), ("slash", True), ("ctrl+a", False),
                                            ("f5", False), ("up", False), ("space", True)])  # fmt: skip
def test_letters_and_signs_are_typed(key: str, typed: bool):
    assert is_typed(key) is typed


def test_all_that_edits_the_prompt_is_known():
    edits = {key for one in TextArea.BINDINGS if isinstance(one, Binding) for key in one.key.split(",")}
    ours = {key for one in of("prompt", "app") for key in one.keys.split(",")}
    assert {key for key in edits - ours if not key.startswith("super+") and why_not_key(key) is None} <= EDITS


def test_the_example_holds():
    settings = read(EXAMPLE)
    assert settings.problems == ()
    assert settings.keys == {"app.again": "alt+a", "stream.mark": "m,shift+m", "app.zoom": ""}
    assert (settings.theme, settings.is_ascii) == ("light", False)
    assert settings.palettes[0].accent == "#ffb454"


def test_two_commands_may_change_keys_with_each_other():
    settings = read("keys:\n  app.hold: f8\n  app.stop: f6")
    assert settings.problems == ()
    assert settings.keys == {"app.hold": "f8", "app.stop": "f6"}


@pytest.mark.parametrize("command", ["runners.take", "field.take", "prompt.send", "composer.next"])
def test_a_key_that_a_text_lets_through_may_be_named(command: str):
    assert read(f"keys:\n  {command}: [{BY_ID[command].keys}, alt+z]").problems == ()


def test_the_table_has_the_other_keys_and_no_others_changed():
    table = {one.id: one for one in changed({"app.hold": "f9,ctrl+x"})}
    assert table["app.hold"].all_keys == "f9 ^x"
    assert [one for one in COMMANDS if table[one.id] is not one] == [BY_ID["app.hold"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keys:\n  app.hodl: f9", "line 2: there is no command 'app.hodl'; did you mean app.hold?"),
        ("keys:\n  app.foo: f9", "line 2: there is no command 'app.foo'. `trackside keys` lists them all"),
        ("keys:\n  app.your: f9", "line 2: there is no command 'app.your'; did you mean app.tour?"),
        ("keys:\n  app.stop: f6", "line 2: app.stop: f6 belongs to app.hold (hold)"),
        ("keys:\n  stream.mark: f6", "line 2: stream.mark: f6 belongs to app.hold"),
        ("keys:\n  stream.mark: n", "line 2: stream.mark: n belongs to stream.next_match"),
        ("keys:\n  app.zoom: z", "line 2: app.zoom: z is typed in the prompt"),
        ("keys:\n  app.again: z", "line 2: app.again: z is typed in the prompt; everywhere it must be an f key, or"),
        ("keys:\n  prompt.send: x", "line 2: prompt.send: x is typed there"),
        ("keys:\n  app.zoom: ctrl+x", "line 2: app.zoom: ^x edits what is typed in the prompt"),
        ("keys:\n  app.zoom: ctrl+m", "line 2: app.zoom: ctrl+m is not safe: terminals send it for enter"),
        ("keys:\n  app.zoom: f11", "line 2: app.zoom: f11 is not safe"),
        ("keys:\n  app.zoom: cmd+k", "line 2: app.zoom: cmd+k never reaches a program"),
        ("keys:\n  app.zoom: hyper", "line 2: app.zoom: there is no key called 'hyper'"),
        ("keys:\n  app.palette: null", "line 2: app.palette must have a key: it has no name"),
        ("keys:\n  app.escape: []", "line 2: app.escape must have a key"),
        ("keys:\n  app.escape: alt+x", "line 2: app.escape: esc must stay among its keys"),
        ("keys:\n  app.hold: null\n  app.stop: f7", "line 3: app.stop: f7 belongs to app.step"),
        ("keys:\n  composer.send: x", "line 2: composer.send: x is typed there"),
        ("keys:\n  composer.send: ctrl+e", "line 2: composer.send: ^e edits what is typed there"),
        ("keys:\n  runners.take: ctrl+a", "line 2: runners.take: ^a edits what is typed there"),
        ("keys:\n  field.take: ctrl+u", "line 2: field.take: ^u edits what is typed there"),
        ("keys:\n  app.zoom: ctrl+1", "line 2: app.zoom: only some terminals know ctrl+1"),
        ("keys:\n  app.zoom: ctrl+shift+a", "line 2: app.zoom: only some terminals know ctrl+shift+a"),
        ("keys:\n  app.zoom: [[f9]]", "line 2: app.zoom: write a key"),
        ("keys:\n  app.zoom: {a: b}", "line 2: app.zoom: write a key"),
        ("keys:\n  prompt.send: ctrl+enter", "line 2: prompt.send: only some terminals know ctrl+enter"),
        ("keys: f9", "line 1: keys must be names with values, such as `app.again: alt+a`"),
        ("theme: ligth", "line 1: theme: there is no theme ligth; did you mean light?"),
        ("theme: nosuch", "line 1: theme: there is no theme nosuch. There are: dark, light, high-"),
        ("\nascii: perhaps", "line 2: ascii: write true or false"),
        ("color: red", "line 1: there is nothing called 'color' to settle"),
        ("ascii: true\nascii: false", "line 2: ascii is there twice; the first holds"),
        ("themes:\n  mine:\n    acent: '#fff'", "line 3: themes.mine: there is no colour 'acent'; did you mean acc"),
        ("themes:\n  mine:\n    accent: red", "line 3: themes.mine.accent: write a colour"),
        ("themes:\n  bad: red", "line 2: themes.bad must be names with values, such as `accent: \"#ffb454\"`"),
        ("themes: red", "line 1: themes must be names with values, such as `mine: {dark: true}`"),
        ("themes:\n  Mine!: {}", "line 2: themes: 'Mine!' is no name"),
        ("themes:\n  mine:\n    muted: '#333'", "line 2: themes.mine: muted on panel has a contrast of"),
        ("keys: [", "line 1: this is no YAML"),
        ("- theme", "line 1: the file must be names with values"),
        ("a: b\n\x00", "line 1: this is no YAML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line_and_what_would_be_right(text: str, words: str):
    assert len(told(text)) == 1
    assert told(text)[0].startswith(words)


def test_themes_of_ones_own_are_among_those_that_there_are():
    (words,) = told("theme: nosuch\nthemes:\n  mine: {dark: true}")
    assert "There are: mine, dark, light, " in words
    assert words.endswith(", atom-one-light.")


def test_one_mistake_takes_nothing_else_with_it():
    settings = read("theme: light\nkeys:\n  app.stop: f6\n  app.zoom: alt+a\n  no.thing: f4\nascii: true")
    assert (settings.theme, settings.is_ascii, settings.keys) == ("light", True, {"app.zoom": "alt+a"})
    assert [problem.line for problem in settings.problems] == [3, 5]


@pytest.mark.parametrize("nothing", ["null", "[]", "~", ""])
def test_a_key_can_be_taken_away(nothing: str):
    settings = read(f"keys:\n  app.hold: {nothing}\n  app.stop: f6\n")
    assert settings.problems == ()
    assert settings.keys == {"app.hold": "", "app.stop": "f6"}
    assert not next(one for one in changed(settings.keys) if one.id == "app.hold").all_keys


def test_a_command_without_a_key_can_be_given_one():
    assert read("keys:\n  app.again: alt+a").keys == {"app.again": "alt+a"}


@pytest.mark.parametrize("text", ["", "# nothing\n", "keys:\n", "themes: {}"])
def test_an_empty_file_settles_nothing(text: str):
    assert read(text) == Settings()


# Themes


def test_a_theme_of_ones_own_has_the_rest_from_ours():
    dark, light = read("themes:\n  a: {accent: '#fb0'}\n  b: {dark: false}").palettes
    assert (dark.accent, dark.background) == ("#ffbb00", DARK.background)
    assert light.background == LIGHT.background


@pytest.mark.parametrize(
    ("text", "is_dark"),
    [
        ("themes:\n  mine: {background: '#fff', surface: '#fafafa', panel: '#eee'}", False),
        ("themes:\n  mine: {dark: false, background: '#000', surface: '#111', panel: '#222'}", True),
    ],
    ids=["light on a dark base", "dark on a light base"],
)
def test_words_of_a_theme_go_where_they_can_be_read_on_its_backgrounds(text: str, is_dark: bool):
    (palette,) = read(text).palettes
    assert min(map(palette.weakest, palette.texts.values())) >= LEGIBLE
    assert palette.is_dark is is_dark


@pytest.mark.parametrize("text", ["background: '#fff'", "dark: false, background: '#000'", "panel: '#777'"])
def test_a_theme_on_whose_backgrounds_nothing_can_be_read_is_left_out(text: str):
    settings = read(f"theme: light\nthemes:\n  mine: {{{text}}}\n  good: {{}}")
    assert [palette.name for palette in settings.palettes] == ["good"]
    (problem,) = settings.problems
    assert str(problem).startswith("line 3: themes.mine: no words can be read on ")


def test_textuals_themes_are_known_by_name():
    assert set(BORROWED) == {name for name, theme in BUILTIN_THEMES.items() if not theme.ansi}


# What was chosen on the screen


def test_what_was_chosen_is_there_the_next_time(tmp_path: Path):
    Memory(tmp_path / "new" / "kept.json").keep(theme="light", ascii=True)
    again = Memory(tmp_path / "new" / "kept.json")
    assert (again.theme, again.is_ascii, again.version) == ("light", True, None)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["kept.json"]


@pytest.mark.parametrize("kept", [b"", b"{", b"[1]", b'{"theme": 3, "ascii": "x"}', b"\xff"])
def test_a_broken_memory_is_none(tmp_path: Path, kept: bytes):
    (tmp_path / "kept.json").write_bytes(kept)
    memory = Memory(tmp_path / "kept.json")
    assert (memory.theme, memory.is_ascii, memory.version) == (None, None, None)


def test_the_file_comes_before_what_was_chosen():
    memory = Memory()
    memory.keep(theme="nord", ascii=True)
    assert Settled(Settings(theme="light", is_ascii=False), memory).theme == "light"
    assert not Settled(Settings(theme="light", is_ascii=False), memory).is_ascii
    assert Settled(Settings(), memory).theme == "nord"
    assert Settled(Settings(), memory).is_ascii


def test_what_another_console_chose_meanwhile_stays(tmp_path: Path):
    one, other = Memory(tmp_path / "kept.json"), Memory(tmp_path / "kept.json")
    other.keep(theme="light")
    one.keep(ascii=True)
    again = Memory(tmp_path / "kept.json")
    assert (again.theme, again.is_ascii) == ("light", True)


# The file itself


def test_a_file_that_is_nested_too_deep_is_told():
    assert told("keys: " + "[" * 5_000) == ["line 1: it is nested too deep; settings need no more than three levels"]


def test_a_folder_that_may_not_be_looked_into_is_told_and_the_console_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ("long" * 100)))  # refused to whoever asks, also to root
    start = settled()
    assert [str(one) for one in start.settings.problems] == ["line 1: the file cannot be read: File name too long"]
    assert start.theme == DARK.name


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "line 1: the file cannot be read: Is a directory"), (b"#" * 300_000, "line 1: the file is too large"),
     (b"ascii: true\n# gr\xfc\xdfe", "line 2: this is no text")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, words: str
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "trackside" / "console.yaml"
    path.parent.mkdir()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    settings = read_settings()
    assert [str(one)[: len(words)] for one in settings.problems] == [words]
    assert settings.where == str(path)


# The start


def test_without_a_file_nothing_is_loaded_to_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    modules, said = loaded("from console.settling import settled\nsaid = settled().settings.where")
    assert said == str(tmp_path / "trackside" / "console.yaml")
    assert "yaml" not in modules
    assert "difflib" not in modules


def test_what_was_chosen_is_kept_beside_the_file_that_a_person_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    before = tmp_path / "state" / "trackside" / "console.json"
    Memory(before).keep(theme="light", ascii=True)

    taken_over = settled()
    assert (taken_over.theme, taken_over.is_ascii) == ("light", True)
    taken_over.memory.keep(theme="nord")
    Memory(before).keep(theme="dark", ascii=False)

    assert (tmp_path / "config" / "trackside" / "console.json").exists()
    assert (settled().theme, settled().is_ascii) == ("nord", True)
