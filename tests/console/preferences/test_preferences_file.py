"""console.yaml: which values are used, and how the invalid ones are reported."""

from pathlib import Path

import pytest
from textual._xterm_parser import XTermParser
from textual.binding import Binding
from textual.events import Key
from textual.theme import BUILTIN_THEMES
from textual.widgets import TextArea

from console.model.commands.table import BY_ID, COMMANDS, commands_of
from console.model.preferences.color_themes import DARK, TEXTUAL_THEMES
from console.model.preferences.file import EXAMPLE, FilePreferences, parse
from console.model.preferences.keymap import (
    EDITING_KEYS,
    apply_keymap,
    is_unreliable,
    parse_key,
    types_character,
    why_not_key,
)
from console.model.preferences.store import Preferences, SavedChoices, load_preferences, read_file_preferences
from tests.support.loaded_modules import loaded

NEVER = ("alt+enter", "alt+1", "f10", "f11", "ctrl+s", "ctrl+q", "ctrl+m", "ctrl+i")


def problems_of(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


# Keys


@pytest.mark.parametrize(
    ("written", "key"),
    [("^t", "ctrl+t"), ("K", "shift+k"), ("/", "slash"), ("esc", "escape"), ("F9", "f9"), ("ctrl+x", "ctrl+x"),
     ("alt+up", "alt+up"), ("pgdn", "pagedown"), ("?", "question_mark"), ("ctrl+/", "ctrl+slash"), ("+", "plus")],
)  # fmt: skip
def test_key_can_be_written_as_the_footer_prints_it(written: str, key: str):
    assert parse_key(written) == key


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.keys], ids=lambda one: one.id)
def test_printed_keys_of_the_table_are_accepted_in_the_file(command):
    assert [parse_key(shown) for shown in command.all_keys.split()] == command.keys.split(",")


@pytest.mark.parametrize("key", NEVER)
def test_keys_that_terminals_use_themselves_are_refused(key: str):
    assert key in (why_not_key(key) or "")


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1ba", "alt+a"), ("\x1bA", "alt+shift+a"), ("\x1c", "ctrl+backslash"), ("\x1b[15;2~", "shift+f5"),
     ("\x1b[15;5~", "ctrl+f5"), ("\x1b[1;6A", "ctrl+shift+up"), ("\x1b[Z", "shift+tab"), ("A", "shift+a"),
     ("\x1b[1;3B", "alt+down"), ("\x18", "ctrl+x")],
)  # fmt: skip
def test_key_that_every_terminal_sends_is_not_rare(sent: str, key: str):
    assert [parse_key(one) for one in parsed_keys(sent)] == [key]
    assert not is_unreliable(key)


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1b/", "alt+slash"), ("\x1b ", "alt+space"), ("\x1b\x01", "ctrl+alt+a"), ("\x00", "ctrl+space"),
     ("1", "ctrl+1"), ("\x01", "ctrl+shift+a"), ("\r", "ctrl+enter"), ("\r", "shift+enter"), ("\t", "ctrl+tab"),
     ("\x7f", "ctrl+backspace")],
)  # fmt: skip
def test_key_that_a_plain_terminal_sends_as_another_is_rare(sent: str, key: str):
    assert key not in parsed_keys(sent)
    assert is_unreliable(key)


def parsed_keys(sent: str) -> list[str]:
    """Return the keys that Textual parses from the bytes of a terminal."""
    parser = XTermParser()
    return [one.key for one in (*parser.feed(sent), *parser.feed("")) if isinstance(one, Key)]


@pytest.mark.parametrize(("key", "typed"), [("a", True), ("shift+k", True), ("slash", True), ("ctrl+a", False),
                                            ("f5", False), ("up", False), ("space", True)])  # fmt: skip
def test_letters_and_symbols_type_a_character(key: str, typed: bool):
    assert types_character(key) is typed


def test_editing_keys_contain_all_keys_of_the_text_area():
    edits = {key for one in TextArea.BINDINGS if isinstance(one, Binding) for key in one.key.split(",")}
    ours = {key for one in commands_of("prompt", "app") for key in one.keys.split(",")}
    assert {key for key in edits - ours if not key.startswith("super+") and why_not_key(key) is None} <= EDITING_KEYS


def test_example_file_is_valid():
    settings = parse(EXAMPLE)
    assert settings.problems == ()
    assert settings.keys == {"app.run_again": "alt+a", "stream.mark": "m,shift+m", "app.zoom": ""}
    assert (settings.theme, settings.is_ascii) == ("light", False)


def test_two_commands_can_swap_their_keys():
    settings = parse("keys:\n  app.step: f8\n  app.stop: f7")
    assert settings.problems == ()
    assert settings.keys == {"app.step": "f8", "app.stop": "f7"}


@pytest.mark.parametrize("command", ["runners.take", "field.take", "prompt.send", "composer.next"])
def test_command_keeps_its_own_editing_key(command: str):
    assert parse(f"keys:\n  {command}: [{BY_ID[command].keys}, alt+z]").problems == ()


def test_apply_keymap_changes_only_the_named_command():
    table = {one.id: one for one in apply_keymap({"app.pause": "f9,ctrl+x"})}
    assert table["app.pause"].all_keys == "f9 ^x"
    assert [one for one in COMMANDS if table[one.id] is not one] == [BY_ID["app.pause"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keys:\n  app.puase: f9", "line 2: Unknown command 'app.puase'; did you mean app.pause?"),
        ("keys:\n  app.foo: f9", "line 2: Unknown command 'app.foo'. `trackside keys` lists all commands."),
        ("keys:\n  app.your: f9", "line 2: Unknown command 'app.your'; did you mean app.tour?"),
        ("keys:\n  app.stop: f6", "line 2: app.stop: f6 is the key of app.pause (pause)"),
        ("keys:\n  stream.mark: f6", "line 2: stream.mark: f6 is the key of app.pause"),
        ("keys:\n  stream.mark: n", "line 2: stream.mark: n is the key of stream.next_match"),
        ("keys:\n  app.zoom: z", "line 2: app.zoom: z types a character in the prompt"),
        ("keys:\n  app.theme: z", "line 2: app.theme: z types a character in the prompt; use an f key, or"),
        ("keys:\n  prompt.send: x", "line 2: prompt.send: x types a character there"),
        ("keys:\n  app.zoom: ctrl+x", "line 2: app.zoom: ^x edits the text of the prompt"),
        ("keys:\n  app.zoom: ctrl+m", "line 2: app.zoom: ctrl+m is not safe: terminals send it for enter"),
        ("keys:\n  app.zoom: f11", "line 2: app.zoom: f11 is not safe"),
        ("keys:\n  app.zoom: cmd+k", "line 2: app.zoom: terminals do not send cmd+k"),
        ("keys:\n  app.zoom: hyper", "line 2: app.zoom: unknown key 'hyper'"),
        ("keys:\n  app.palette: null", "line 2: app.palette needs a key"),
        ("keys:\n  app.escape: []", "line 2: app.escape needs a key"),
        ("keys:\n  app.escape: alt+x", "line 2: app.escape: keep esc among its keys"),
        ("keys:\n  app.pause: null\n  app.stop: f7", "line 3: app.stop: f7 is the key of app.step"),
        ("keys:\n  composer.send: x", "line 2: composer.send: x types a character there"),
        ("keys:\n  composer.send: ctrl+e", "line 2: composer.send: ^e edits the text there"),
        ("keys:\n  runners.take: ctrl+a", "line 2: runners.take: ^a edits the text there"),
        ("keys:\n  field.take: ctrl+u", "line 2: field.take: ^u edits the text there"),
        ("keys:\n  app.zoom: ctrl+1", "line 2: app.zoom: only some terminals send ctrl+1"),
        ("keys:\n  app.zoom: ctrl+shift+a", "line 2: app.zoom: only some terminals send ctrl+shift+a"),
        ("keys:\n  app.zoom: [[f9]]", "line 2: app.zoom: write a key"),
        ("keys:\n  app.zoom: {a: b}", "line 2: app.zoom: write a key"),
        ("keys:\n  prompt.send: ctrl+enter", "line 2: prompt.send: only some terminals send ctrl+enter"),
        ("keys: f9", "line 1: keys must be a mapping, for example `app.run_again: alt+a`"),
        ("theme: ligth", "line 1: theme: unknown theme ligth; did you mean light?"),
        ("theme: nosuch", "line 1: theme: unknown theme nosuch. Known themes: dark, light, high-"),
        ("\nascii: perhaps", "line 2: ascii: write true or false"),
        ("color: red", "line 1: Unknown setting 'color'"),
        ("ascii: true\nascii: false", "line 2: ascii is set twice; the first value is used"),
        ("keys: [", "line 1: Invalid YAML"),
        ("- theme", "line 1: the file must be a mapping"),
        ("a: b\n\x00", "line 1: Invalid YAML"),
    ],
)  # fmt: skip
def test_problem_has_line_cause_and_fix(text: str, words: str):
    assert len(problems_of(text)) == 1
    assert problems_of(text)[0].startswith(words)


def test_invalid_line_does_not_affect_other_lines():
    settings = parse("theme: light\nkeys:\n  app.stop: f6\n  app.zoom: alt+a\n  no.thing: f4\nascii: true")
    assert (settings.theme, settings.is_ascii, settings.keys) == ("light", True, {"app.zoom": "alt+a"})
    assert [problem.line for problem in settings.problems] == [3, 5]


@pytest.mark.parametrize("nothing", ["null", "[]", "~", ""])
def test_null_removes_a_key(nothing: str):
    settings = parse(f"keys:\n  app.step: {nothing}\n  app.stop: f7\n")
    assert settings.problems == ()
    assert settings.keys == {"app.step": "", "app.stop": "f7"}
    assert not next(one for one in apply_keymap(settings.keys) if one.id == "app.step").all_keys


def test_command_without_key_can_get_one():
    assert parse("keys:\n  app.run_again: alt+a").keys == {"app.run_again": "alt+a"}


@pytest.mark.parametrize("text", ["", "# nothing\n", "keys:\n"])
def test_empty_file_sets_nothing(text: str):
    assert parse(text) == FilePreferences()


# Themes


def test_textual_theme_names_match_textual():
    assert set(TEXTUAL_THEMES) == {name for name, theme in BUILTIN_THEMES.items() if not theme.ansi}


# Saved choices


def test_saved_choices_are_read_at_next_start(tmp_path: Path):
    SavedChoices(tmp_path / "new" / "kept.json").save(theme="light", ascii=True)
    again = SavedChoices(tmp_path / "new" / "kept.json")
    assert (again.theme, again.is_ascii) == ("light", True)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["kept.json"]


@pytest.mark.parametrize("kept", [b"", b"{", b"[1]", b'{"theme": 3, "ascii": "x"}', b"\xff"])
def test_unreadable_choices_file_counts_as_no_choice(tmp_path: Path, kept: bytes):
    (tmp_path / "kept.json").write_bytes(kept)
    memory = SavedChoices(tmp_path / "kept.json")
    assert (memory.theme, memory.is_ascii) == (None, None)


def test_file_wins_over_saved_choices():
    memory = SavedChoices()
    memory.save(theme="nord", ascii=True)
    assert Preferences(FilePreferences(theme="light", is_ascii=False), memory).theme == "light"
    assert not Preferences(FilePreferences(theme="light", is_ascii=False), memory).is_ascii
    assert Preferences(FilePreferences(), memory).theme == "nord"
    assert Preferences(FilePreferences(), memory).is_ascii


def test_saving_keeps_choices_of_another_console(tmp_path: Path):
    one, other = SavedChoices(tmp_path / "kept.json"), SavedChoices(tmp_path / "kept.json")
    other.save(theme="light")
    one.save(ascii=True)
    again = SavedChoices(tmp_path / "kept.json")
    assert (again.theme, again.is_ascii) == ("light", True)


# Reading the file


def test_file_that_is_nested_too_deep_is_reported():
    assert problems_of("keys: " + "[" * 5_000) == ["line 1: The file is nested too deeply; three levels are enough."]


def test_unreadable_config_folder_is_reported_and_defaults_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(
        "XDG_CONFIG_HOME", str(tmp_path / ("long" * 100))
    )  # too long for the file system, so that even root gets an error
    start = load_preferences()
    assert [str(one) for one in start.file.problems] == ["line 1: The file cannot be read: File name too long."]
    assert start.theme == DARK.name


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "line 1: The file cannot be read: Is a directory"), (b"#" * 300_000, "line 1: The file is too large"),
     (b"ascii: true\n# gr\xfc\xdfe", "line 2: The file is not UTF-8 text")],
)  # fmt: skip
def test_file_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, words: str
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "trackside" / "console.yaml"
    path.parent.mkdir()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    settings = read_file_preferences()
    assert [str(one)[: len(words)] for one in settings.problems] == [words]
    assert settings.where == str(path)


# The start


def test_without_file_no_yaml_parser_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    modules, said = loaded(
        "from console.model.preferences.store import load_preferences\nsaid = load_preferences().file.where"
    )
    assert said == str(tmp_path / "trackside" / "console.yaml")
    assert "yaml" not in modules
    assert "difflib" not in modules


def test_choices_are_saved_beside_console_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    before = tmp_path / "state" / "trackside" / "console.json"
    SavedChoices(before).save(theme="light", ascii=True)

    taken_over = load_preferences()
    assert (taken_over.theme, taken_over.is_ascii) == ("light", True)
    taken_over.saved.save(theme="nord")
    SavedChoices(before).save(theme="dark", ascii=False)

    assert (tmp_path / "config" / "trackside" / "console.json").exists()
    assert (load_preferences().theme, load_preferences().is_ascii) == ("nord", True)
