"""What is pasted comes as one text, whatever is in it; a field of one line has it as one line."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.driver import Driver
from textual.message import Message
from textual.widgets import Input

from console.model.prompt.paste_tokens import on_one_line

if TYPE_CHECKING:
    from textual.app import App

    _App = App[None]
else:
    _App = object


class WholePastes(XTermParser):
    """Textual's parser, which sees of a paste only the brackets.

    Left alone (8.2.8) it looks for keys in what is pasted: of an escape sequence that it does not know it makes key
    presses, and of the line break behind it an Enter. It also takes each character by itself, a megabyte for seconds.
    """

    def __init__(self, debug: bool = False) -> None:
        self._pasted: list[str] | None = None
        """What came since a paste began."""
        self._last = ""
        """The end of what was read before: a bracket may come in two halves."""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        if not data:  # there will be no more
            yield from super().feed(data)
        while data:
            if self._pasted is None:
                read, data, is_whole = self._up_to(BRACKETED_PASTE_START, data)
                yield from super().feed(read)
                self._pasted = [] if is_whole else None
            else:
                read, data, is_whole = self._up_to(BRACKETED_PASTE_END, data)
                self._pasted.append(read)
                if is_whole:
                    yield from self._end_paste("".join(self._pasted).removesuffix(BRACKETED_PASTE_END))

    def tick(self) -> Iterable[Message]:
        """An escape that has become a key press by now is not the beginning of a bracket."""
        was_waiting = self._timeout_time is not None
        yield from super().tick()
        if was_waiting and self._timeout_time is None:
            self._last = ""

    def _up_to(self, bracket: str, data: str) -> tuple[str, str, bool]:
        """What is read up to the end of a bracket, what is behind it, and whether there is one."""
        known = self._last + data
        place = known.find(bracket)
        if place < 0:
            self._last = known[1 - len(bracket) :]
            return data, "", False
        end = place + len(bracket) - len(self._last)
        self._last = ""
        return data[:end], data[end:], True

    def _end_paste(self, text: str) -> Iterable[Message]:
        self._pasted = None
        # Between the brackets that it saw was nothing, and so it says.
        yield from (one for one in super().feed(BRACKETED_PASTE_END) if not isinstance(one, events.Paste))
        yield events.Paste(text.replace("\0", ""))


@runtime_checkable
class ReadsLines(Protocol):
    """A field of one line that may know what to do with several."""

    def reads_lines(self, text: str) -> bool:
        """Whether it takes these as they are."""
        ...


class OneLinePaste(_App):
    """The part of the app that gives a field of one line what is pasted into it.

    Textual's own (8.2.8) takes the first line and drops the others without a word; with ctrl+v it takes them all, and
    the line has breaks in it that nobody sees.
    """

    if TYPE_CHECKING:

        def tell(self, words: str, *, severity: Any = "information") -> None: ...

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            line = self.focused
            if isinstance(line, Input) and isinstance(event, events.Key) and event.key == "ctrl+v":
                event = events.Paste(self.clipboard)
            if isinstance(line, Input) and isinstance(event, events.Paste):
                is_read = isinstance(line, ReadsLines) and line.reads_lines(event.text)
                event = event if is_read else events.Paste(self.as_one_line(event.text))
        await super().on_event(event)

    def as_one_line(self, text: str) -> str:
        """What of it goes into a field of one line; where that is not as it was, it is told."""
        line, words = on_one_line(text)
        if words:
            self.tell(words, severity="warning")
        return line


_NAME: Final = XTermParser.__name__


def taking_pastes_whole(driver: type[Driver]) -> type[Driver]:
    """A driver that reads with this parser: it finds its own by name where it was written."""
    module: Any = sys.modules[driver.__module__]
    if hasattr(module, _NAME):
        setattr(module, _NAME, WholePastes)
    return driver
