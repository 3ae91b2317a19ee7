"""Files in the prompt: completes a path typed after @ and turns each chosen file into a token."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.message import Message
from textual.widgets.text_area import Location

from console.model.commands.key_labels import key_of
from console.model.prompt.attachment_tokens import AttachmentTokens
from console.model.prompt.mentions import find_mentioned_files, mention_before, mentions
from console.model.text.paths import Candidate, Fragment, fragment_at, mention, readings
from console.ui.shared.path_picker import PathPicker

if TYPE_CHECKING:
    from console.ui.prompt.prompt import Prompt

PATH_CHECK_SECONDS: Final = 1.0
"""How long sending waits for the disk to report whether files exist."""


class PromptAttachments:
    """The files of one prompt. The handler of its messages looks at the disk and calls back.

    Only `resolve_mentions`, on sending, asks a thread itself: characters typed after enter must not get into the
    message.
    """

    @dataclass
    class PathWanted(Message):
        """Posted when the path before the cursor changes; the answer is `offer_paths`."""

        typed: str

    @dataclass
    class Attached(Message):
        """Posted when a token is inserted for a file; the file may still turn out to be unusable (`detach`)."""

        file: Candidate
        token: str
        is_new: bool = True
        """False if the file was attached before and is only checked again."""

    @dataclass
    class PathLeft(Message):
        """Posted when the user types a space or newline after a path; the answer is `attach_mentioned`."""

        path: str

    @dataclass
    class PathsPasted(Message):
        """Posted when pasted text may be a list of paths, with each way to read it; the answer is `attach`."""

        text: str
        readings: Sequence[Sequence[str]]

    def __init__(self, prompt: "Prompt") -> None:
        self._prompt = prompt
        self.tokens = AttachmentTokens()
        self.picker = PathPicker()
        self._typed: str | None = None
        """The path of the last `PathWanted`."""
        self._plain_paths: set[str] = set()
        """Paths after an @ that stay text: pasted, sent as text before, or detached."""
        self._unusable: dict[str, str] = {}
        """Files that could not be attached, by their text in the prompt."""
        self._reported: set[str] = set()
        """Paths that the user was told will not be attached; sending again sends them as text."""

    # Answers to messages

    def offer_paths(self, typed: str, found: Sequence[Candidate]) -> None:
        """Show completions if `typed` is still the path before the cursor."""
        fragment = self._fragment()
        if fragment is not None and fragment.typed == typed and self._prompt.has_focus:
            self.picker.offer(found, typed)

    def attach(self, files: Sequence[Candidate], *, instead_of: str) -> None:
        """Replace the last occurrence of a text before the cursor with a token for each file."""
        before = self._prompt.document.get_text_range((0, 0), self._prompt.cursor_location)
        start = before.rfind(instead_of)
        if start >= 0:
            written = [instead_of] if len(files) == 1 else [file.path for file in files]
            self._insert(files, _location(before, start), _location(before, start + len(instead_of)), written)

    def attach_mentioned(self, found: Mapping[str, Candidate]) -> None:
        """Replace these mentioned paths with tokens, except for the path that is being typed."""
        for token, file in self._replace_mentions(found, except_for=self._fragment()):
            self._prompt.post_message(self.Attached(file, token))

    def restore(self, text: str, files: Mapping[str, str]) -> None:
        """Load the draft of an earlier process. Its tokens become files again if the files still exist."""
        self.tokens.add(files)
        self._prompt.restore_text(text)

    def detach(self, token: str) -> None:
        """Replace a token with its path, because the file cannot be attached."""
        prompt, written = self._prompt, self.tokens.written(token)
        for row in range(prompt.document.line_count):
            while (start := prompt.document.get_line(row).find(token)) >= 0:
                prompt.replace(written, (row, start), (row, start + len(token)))
                self._unusable[written] = self.tokens.path(token)
        self._reported.discard(written)
        self._plain_paths.add(self.tokens.path(token))

    def check_again(self) -> None:
        """Post `Attached` for every token, because the message could not be sent and a file may be the reason."""
        for token in self.tokens.tokens(self._prompt.text):
            self._prompt.post_message(self.Attached(Candidate(self.tokens.path(token), 0), token, is_new=False))

    # Called by the prompt

    def complete_path(self) -> None:
        """Request completions if the path before the cursor has changed."""
        fragment = self._fragment()
        typed = fragment.typed if fragment is not None else None
        if typed == self._typed:
            return
        self._typed = typed
        if typed is None:
            self.picker.close()
        else:
            self._prompt.post_message(self.PathWanted(typed))

    def close_picker(self) -> None:
        self._typed = None
        self.picker.close()

    def handle_key(self, key: str) -> bool:
        """Carry out a key of the path picker. Returns whether it was one."""
        fragment = self._fragment()
        command = None if fragment is None else self.picker.command_for_key(key, fragment.typed)
        if command is not None:
            self.run_picker_command(command)
        return command is not None

    def run_picker_command(self, command: str) -> None:
        fragment = self._fragment()
        if command == "close":
            self.picker.close()
        elif command != "take":
            self.picker.move(-1 if command == "above" else 1)
        elif fragment is not None:
            self._take(fragment, self.picker.take())

    def mention_ended_by(self, insert: str, location: Location) -> str | None:
        """The mentioned path that a typed space or newline ends, or None."""
        row, column = location
        return mention_before(self._prompt.document.get_line(row), column) if insert.isspace() else None

    def on_typed(self, ended: str | None) -> None:
        """Called after every typed edit, with the result of `mention_ended_by` before it."""
        if ended is not None and ended not in self._plain_paths:
            self._prompt.post_message(self.PathLeft(ended))
        elif (fragment := self._fragment()) is not None:
            self._plain_paths.discard(fragment.typed)

    def keep_as_text(self, text: str) -> None:
        """Do not attach the paths in a text that the user did not type."""
        self._plain_paths.update(one.path for one in mentions(text))

    def on_pasted(self, text: str, shown: str) -> None:
        """Offer to attach pasted paths. The text is in the prompt already, as `shown`."""
        self.keep_as_text(shown)
        if found := readings(text):
            self._prompt.post_message(self.PathsPasted(shown, found))

    async def resolve_mentions(self) -> str:
        """Attach the mentioned files before sending. Returns a warning, once, for each path that is not attached."""
        text = self._prompt.text
        paths = {one.path for one in mentions(text)} - self._plain_paths
        found = await self._check_paths(paths) if paths else {}
        self._replace_mentions({path: file for path, file in found.items() if isinstance(file, Candidate)})
        missing = {path: why for path, why in found.items() if isinstance(why, str) and why}
        unusable = {
            written: f"{path} is not attached"
            for written, path in self._unusable.items()
            if written in self._prompt.text
        }
        new = {what: why for what, why in (missing | unusable).items() if what not in self._reported}
        self._reported.update(new)
        next_step = "send it as text" if new.keys() <= missing.keys() else "send the message without it"
        return f"{'; '.join(new.values())}. Press {key_of('prompt.send')} again to {next_step}." if new else ""

    def clear_warnings(self) -> None:
        """Called when the message is sent."""
        self._reported.clear()
        self._unusable.clear()

    # Private

    async def _check_paths(self, paths: Collection[str]) -> Mapping[str, Candidate | str]:
        try:
            async with asyncio.timeout(PATH_CHECK_SECONDS):
                return await asyncio.to_thread(find_mentioned_files, paths)
        except TimeoutError:
            return {path: f"{path} cannot be checked, because the disk is slow" for path in paths}

    def _fragment(self) -> Fragment | None:
        """The path before the cursor, or None."""
        row, column = self._prompt.cursor_location
        if not self._prompt.selection.is_empty or row >= self._prompt.document.line_count:
            return None
        return fragment_at(self._prompt.document.get_line(row), column)

    def _replace_mentions(
        self, found: Mapping[str, Candidate], except_for: Fragment | None = None
    ) -> Sequence[tuple[str, Candidate]]:
        """Put a token in place of each of these paths; the cursor keeps its character."""
        prompt = self._prompt
        cursor_row = prompt.cursor_location[0]
        tokens: list[tuple[str, Candidate]] = []
        for row in range(prompt.document.line_count):
            line = prompt.document.get_line(row)
            for one in reversed(mentions(line)):
                is_typed = except_for is not None and (row, one.start) == (cursor_row, except_for.start)
                if one.path not in found or one.path in self._plain_paths or is_typed:
                    continue
                file = found[one.path]
                tokens.append((self.tokens.token(file), file))
                # A full stop after the path is not part of the name.
                end = one.end if line[one.end - 1] == '"' else one.start + 1 + len(file.path)
                prompt.replace(tokens[-1][0], (row, one.start), (row, end))
        self._plain_paths.update(found)
        return tokens

    def _take(self, fragment: Fragment, chosen: Candidate | None) -> None:
        if chosen is None:
            return
        row, _ = self._prompt.cursor_location
        start, end = (row, fragment.start), (row, fragment.end)
        if chosen.is_folder:
            self._prompt.type_at(mention(chosen.path).removesuffix('"'), start, end)
        else:
            self._insert([chosen], start, end)

    def _insert(self, files: Sequence[Candidate], start: Location, end: Location, written: Sequence[str] = ()) -> None:
        """Insert a token for each file between two locations, with spaces around them."""
        document = self._prompt.document
        tokens = [self.tokens.token(file, how) for file, how in zip(files, written or [""] * len(files), strict=True)]
        before, after = document.get_line(start[0])[: start[1]], document.get_line(end[0])[end[1] :]
        text = " ".join(tokens) + ("" if after[:1].isspace() else " ")
        if before and not before[-1].isspace():
            text = f" {text}"
        self._prompt.type_at(text, start, end)
        for file, token in zip(files, tokens, strict=True):
            self._prompt.post_message(self.Attached(file, token))


def _location(text: str, index: int) -> tuple[int, int]:
    """Row and column of a character of a text."""
    return text.count("\n", 0, index), index - (text.rfind("\n", 0, index) + 1)
