"""Pastes arrive as one text, whatever they contain; a one-line field gets them as one line."""

import sys
from collections.abc import Iterable
from typing import Any, Final, Protocol, runtime_checkable

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.app import App
from textual.driver import Driver
from textual.message import Message
from textual.widgets import Input

from console.model.prompt.paste_tokens import on_one_line


class WholePasteParser(XTermParser):
    """Textual's parser, but the text between the brackets of a paste never reaches it.

    Textual (8.2.8) looks for keys in pasted text: an unknown escape sequence becomes key presses, and the line break
    after it an Enter. It also reads each character on its own, which takes seconds for a megabyte.
    """

    def __init__(self, debug: bool = False) -> None:
        self._pasted: list[str] | None = None
        """The parts of a paste in progress."""
        self._last = ""
        """The end of the data before: a bracket may arrive in two parts."""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        if not data:  # the end of the input
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
        """Forget an escape that has become a key press: it does not begin a bracket."""
        was_waiting = self._timeout_time is not None
        yield from super().tick()
        if was_waiting and self._timeout_time is None:
            self._last = ""

    def _up_to(self, bracket: str, data: str) -> tuple[str, str, bool]:
        """Split data after a bracket: the part up to its end, the rest, and whether the bracket was found."""
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
        # Textual saw empty brackets, and would report an empty paste.
        yield from (one for one in super().feed(BRACKETED_PASTE_END) if not isinstance(one, events.Paste))
        yield events.Paste(text.replace("\0", ""))


@runtime_checkable
class ReadsLines(Protocol):
    """A one-line field that can handle several lines."""

    def reads_lines(self, text: str) -> bool:
        """Whether the field takes this text unchanged."""
        ...


class OneLinePaste(App[None]):
    """Joins pasted lines for one-line fields.

    Textual (8.2.8) keeps the first line and drops the others silently; with ctrl+v it keeps all of them, with
    invisible line breaks.
    """

    def show_paste_warning(self, text: str) -> None:
        """Show that a paste was changed."""
        self.notify(text, severity="warning", markup=False)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            field = self.focused
            if isinstance(field, Input) and isinstance(event, events.Key) and event.key == "ctrl+v":
                event = events.Paste(self.clipboard)
            if isinstance(field, Input) and isinstance(event, events.Paste):
                event = self._paste_for(field, event)
        await super().on_event(event)

    def _paste_for(self, field: Input, event: events.Paste) -> events.Paste:
        if isinstance(field, ReadsLines) and field.reads_lines(event.text):
            return event
        line, warning = on_one_line(event.text)
        if warning:
            self.show_paste_warning(warning)
        return events.Paste(line)


_PARSER: Final = XTermParser.__name__


def use_whole_pastes(driver: type[Driver]) -> type[Driver]:
    """Replace the parser in the module of a driver, which looks it up there by name."""
    module: Any = sys.modules[driver.__module__]
    if hasattr(module, _PARSER):
        setattr(module, _PARSER, WholePasteParser)
    return driver
