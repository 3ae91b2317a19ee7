"""Files in the prompt: paths are offered while one is typed after @, and each that is taken becomes a token."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from console.model.attach.chips import Chips
from console.model.attach.mentions import mention_before, mentions, sought
from console.model.attach.paths import Candidate, Fragment, fragment_at, mention, readings
from console.model.commands.naming import key_of
from console.widgets.path_picks import PathPicks

if TYPE_CHECKING:
    _Area = TextArea
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Area = object

PATIENCE: Final = 1.0
"""Seconds in which a disk has to say whether files are there: what is typed meanwhile waits for it."""


class Attaching(_Area):
    """A part of a text area. Whoever hears its messages looks at the disk and answers.

    Only for sending it asks a thread itself: what is typed after enter is not to get into what is sent.
    """

    @dataclass
    class PathWanted(Message):
        """A path is being typed: what could it become?"""

        typed: str

    @dataclass
    class Attached(Message):
        """A file was attached; it may yet turn out that it cannot be."""

        file: Candidate
        token: str
        is_new: bool = True
        """Nobody attached it before."""

    @dataclass
    class PathLeft(Message):
        """A path was typed, and then something else: is it a file?"""

        path: str

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

    @cached_property
    def _as_text(self) -> set[str]:
        """Paths after an @ that are not to become files: they were pasted, sent as text, or files that were undone."""
        return set()

    @cached_property
    def _refused(self) -> dict[str, str]:
        """By what stands in the text for them, files that could not be attached."""
        return {}

    @cached_property
    def _told(self) -> set[str]:
        """What does not go along though it looks so, and was said to the one who pressed enter."""
        return set()

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
            written = [instead_of] if len(files) == 1 else [file.path for file in files]
            self._put(files, _location(before, start), _location(before, start + len(instead_of)), written)

    def settle(self, found: Mapping[str, Candidate]) -> None:
        """These paths are files: a token for each in the text, but for the one that is being typed."""
        for token, file in self._settled(found, but=self._fragment()):
            self.post_message(self.Attached(file, token))

    def bring_back(self, text: str, files: Mapping[str, str]) -> None:
        """What another process had: its tokens are files again, as far as they are still there."""
        self.chips.learn(files)
        self.give_back(text)

    def detach(self, token: str) -> None:
        """It cannot be attached after all: its path stands there again, to be mended or sent without it."""
        written = self.chips.written(token)
        for row in range(self.document.line_count):
            while (start := self.document.get_line(row).find(token)) >= 0:
                self.replace(written, (row, start), (row, start + len(token)))
                self._refused[written] = self.chips.path(token)
        self._told.discard(written)
        self._as_text.add(self.chips.path(token))

    def try_again(self) -> None:
        """What was given back could not be sent, maybe for one of its files: which of them can still go along?"""
        for token in self.chips.tokens(self.text):
            self.post_message(self.Attached(Candidate(self.chips.path(token), 0), token, is_new=False))

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

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        """What is typed: a blank or a new line leaves the path before it."""
        row, column = min(start, end)
        left = mention_before(self.document.get_line(row), column) if insert.isspace() else None
        result = super()._replace_via_keyboard(insert, start, end)
        if left is not None and left not in self._as_text:
            self.post_message(self.PathLeft(left))
        elif (fragment := self._fragment()) is not None:
            self._as_text.discard(fragment.typed)
        return result

    def keep_as_text(self, text: str) -> None:
        """Nobody types this: what it mentions takes no files with it."""
        self._as_text.update(one.path for one in mentions(text))

    async def not_going_along(self) -> str:
        """Make the paths in the text files, since it is sent now; what only looks like one is said, once."""
        paths = {one.path for one in mentions(self.text)} - self._as_text
        found = await self._looked_at(paths) if paths else {}
        self._settled({path: file for path, file in found.items() if isinstance(file, Candidate)})
        missing = {path: why for path, why in found.items() if isinstance(why, str) and why}
        refused = {
            written: f"{path} is not attached" for written, path in self._refused.items() if written in self.text
        }
        untold = {what: why for what, why in (missing | refused).items() if what not in self._told}
        self._told.update(untold)
        way_on = "sends it as text" if untold.keys() <= missing.keys() else "sends the message without it"
        return f"{'; '.join(untold.values())}; {key_of('prompt.send')} again {way_on}" if untold else ""

    def forget_the_told(self) -> None:
        """It is sent: the next message is another."""
        self._told.clear()
        self._refused.clear()

    async def _looked_at(self, paths: Collection[str]) -> Mapping[str, Candidate | str]:
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.to_thread(sought, paths)
        except TimeoutError:
            return {path: f"the disk does not say in time whether {path} is there" for path in paths}

    def pasted(self, text: str, shown: str) -> None:
        """It is in the text already, shown like this; where it consists of paths, they may be files."""
        self.keep_as_text(shown)
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

    def _settled(self, found: Mapping[str, Candidate], but: Fragment | None = None) -> Sequence[tuple[str, Candidate]]:
        """Put a token where each of these paths stands, and leave the cursor at its letter."""
        row = self.cursor_location[0]
        tokens: list[tuple[str, Candidate]] = []
        for at in range(self.document.line_count):
            line = self.document.get_line(at)
            for one in reversed(mentions(line)):
                is_typed = but is not None and (at, one.start) == (row, but.start)
                if one.path not in found or one.path in self._as_text or is_typed:
                    continue
                file = found[one.path]
                tokens.append((self.chips.token(file), file))
                # Without the stop behind it, which is no part of the name.
                end = one.end if line[one.end - 1] == '"' else one.start + 1 + len(file.path)
                self.replace(tokens[-1][0], (at, one.start), (at, end))
        self._as_text.update(found)
        return tokens

    def _take(self, fragment: Fragment, chosen: Candidate | None) -> None:
        if chosen is None:
            return
        row, _ = self.cursor_location
        start, end = (row, fragment.start), (row, fragment.end)
        if not chosen.is_folder:
            self._put([chosen], start, end)
        elif result := self._replace_via_keyboard(mention(chosen.path).removesuffix('"'), start, end):
            self.move_cursor(result.end_location)

    def _put(self, files: Sequence[Candidate], start: Location, end: Location, written: Sequence[str] = ()) -> None:
        tokens = [self.chips.token(file, how) for file, how in zip(files, written or [""] * len(files), strict=True)]
        before, after = self.document.get_line(start[0])[: start[1]], self.document.get_line(end[0])[end[1] :]
        text = " ".join(tokens) + ("" if after[:1].isspace() else " ")
        if before and not before[-1].isspace():
            text = f" {text}"
        if result := self._replace_via_keyboard(text, start, end):
            self.move_cursor(result.end_location)
        for file, token in zip(files, tokens, strict=True):
            self.post_message(self.Attached(file, token))


def _location(text: str, place: int) -> tuple[int, int]:
    """Row and column of a place in a text."""
    return text.count("\n", 0, place), place - (text.rfind("\n", 0, place) + 1)
