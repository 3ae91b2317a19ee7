"""Files in the prompt: paths are offered while one is typed after @, and each that is taken becomes a token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widgets import TextArea

from console.model.attach.chips import Chips
from console.model.attach.paths import Candidate, Fragment, fragment_at, mention, readings
from console.widgets.path_picks import PathPicks

if TYPE_CHECKING:
    _Area = TextArea
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Area = object


class Attaching(_Area):
    """A part of a text area. Whoever hears its messages looks at the disk and answers; it never does itself."""

    @dataclass
    class PathWanted(Message):
        """A path is being typed: what could it become?"""

        typed: str

    @dataclass
    class Attached(Message):
        """A file was attached; it may yet turn out that it cannot be."""

        file: Candidate
        token: str

    @dataclass
    class PathsPasted(Message):
        """This was pasted, and may be read as paths in these ways; they may be files."""

        text: str
        readings: Sequence[Sequence[str]]

    chips: Chips
    picks: PathPicks

    if TYPE_CHECKING:

        def give_back(self, text: str) -> None: ...

    _typed: str | None = None
    """The path that was asked about last."""

    # What the app answers

    def offer(self, typed: str, found: Sequence[Candidate]) -> None:
        """The path could become one of these, if it is still the one that is typed."""
        fragment = self._fragment()
        if fragment is not None and fragment.typed == typed and self.has_focus:
            self.picks.offer(found, typed)

    def attach(self, files: Sequence[Candidate], *, instead_of: str) -> None:
        """These are files: a token for each, where the last of that text stands before the cursor."""
        before = self.document.get_text_range((0, 0), self.cursor_location)
        start = before.rfind(instead_of)
        if start >= 0:
            self._put(files, _location(before, start), _location(before, start + len(instead_of)))

    def bring_back(self, text: str, files: Mapping[str, str]) -> None:
        """What another process had: its tokens are files again, as far as they are still there."""
        self.chips.learn(files)
        self.give_back(text)
        for token, path in files.items():
            self.post_message(self.Attached(Candidate(path, 0), token))

    def detach(self, token: str) -> None:
        """It cannot be attached after all: its path stands there again, to be mended."""
        for row in range(self.document.line_count):
            start = self.document.get_line(row).find(token)
            if start >= 0:
                self.replace(self.chips.written(token), (row, start), (row, start + len(token)))
                return

    # What a person does

    def on_text_area_selection_changed(self) -> None:
        """The cursor is elsewhere, also because something was typed."""
        self.look_for_path()

    def on_text_area_changed(self) -> None:
        self.look_for_path()

    def on_blur(self) -> None:
        self._typed = None
        self.picks.close()

    def look_for_path(self) -> None:
        """Ask what the path before the cursor could become, once for each."""
        fragment = self._fragment()
        typed = fragment.typed if fragment is not None else None
        if typed == self._typed:
            return
        self._typed = typed
        if typed is None:
            self.picks.close()
        else:
            self.post_message(self.PathWanted(typed))

    def hear_path_key(self, key: str) -> bool:
        """Whether the key belongs to the paths that are offered."""
        fragment = self._fragment()
        what = None if fragment is None else self.picks.meaning(key, fragment.typed)
        if what is not None:
            self.choose_path(what)
        return what is not None

    def choose_path(self, what: str) -> None:
        """Do this with the paths that are offered."""
        fragment = self._fragment()
        if what == "close":
            self.picks.close()
        elif what != "take":
            self.picks.move(-1 if what == "above" else 1)
        elif fragment is not None:
            self._take(fragment, self.picks.take())

    def pasted(self, text: str, shown: str) -> None:
        """It is in the text already, shown like this; where it consists of paths, they may be files."""
        if found := readings(text):
            self.post_message(self.PathsPasted(shown, found))

    def action_attach(self) -> None:
        """Begin a path."""
        row, column = self.cursor_location
        self.move_cursor((row, column))  # the path takes the place of nothing
        before = self.document.get_line(row)[:column]
        self.insert("@" if not before or before[-1].isspace() else " @")
        self.focus()

    # Inside

    def _fragment(self) -> Fragment | None:
        row, column = self.cursor_location
        if not self.selection.is_empty or row >= self.document.line_count:
            return None
        return fragment_at(self.document.get_line(row), column)

    def _take(self, fragment: Fragment, chosen: Candidate | None) -> None:
        if chosen is None:
            return
        row, _ = self.cursor_location
        start, end = (row, fragment.start), (row, fragment.end)
        if not chosen.is_folder:
            self._put([chosen], start, end)
        elif result := self._replace_via_keyboard(mention(chosen.path).removesuffix('"'), start, end):
            self.move_cursor(result.end_location)

    def _put(self, files: Sequence[Candidate], start: tuple[int, int], end: tuple[int, int]) -> None:
        tokens = [self.chips.token(file) for file in files]
        after = self.document.get_line(end[0])[end[1] :]
        text = " ".join(tokens) + ("" if after[:1].isspace() else " ")
        if result := self._replace_via_keyboard(text, start, end):
            self.move_cursor(result.end_location)
        for file, token in zip(files, tokens, strict=True):
            self.post_message(self.Attached(file, token))


def _location(text: str, place: int) -> tuple[int, int]:
    """Row and column of a place in a text."""
    return text.count("\n", 0, place), place - (text.rfind("\n", 0, place) + 1)
