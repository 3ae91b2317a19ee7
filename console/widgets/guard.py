"""Keeps a pane's failure in the pane: it says what happened in its own place, and everything else goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from rich.segment import Segment
from textual import events
from textual.dom import DOMNode
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from console.model.columns import broken
from console.model.commands.naming import keyed
from console.model.failure import Failure

if TYPE_CHECKING:
    from textual.app import App

    _Pump, _Widget = MessagePump, Widget
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Pump = _Widget = object

P = ParamSpec("P")
SAID = "this pane failed · y copy report · r reload"
SAID_BY_A_LINE = "this line failed · {app.reload}"
"""Of one that never has the focus."""


class ScreenFailed(Message):
    """A dialog, or another screen over the panes, has failed and is to be closed."""

    def __init__(self, screen: Screen[Any], error: Exception) -> None:
        super().__init__()
        self.screen, self.error = screen, error


class Shielded(_Pump):
    """Hears messages. One that fails is the failure of a pane or a dialog, and the next is heard as ever."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not is_at_a_door(error, self.app):
                raise


class Guarded(Shielded, _Widget):
    """A pane, or a part of one that draws. The outermost is the pane: it fails as a whole."""

    @dataclass
    class Reload(Message):
        """Someone wants the pane to begin again."""

        pane: "Guarded"

    @dataclass
    class CopyReport(Message):
        """Someone wants to send the report to whoever mends it."""

        report: str

    failure: Failure | None = None
    """What broke, until it is reloaded."""
    _hidden: tuple[Widget, ...] = ()
    """Parts that were seen before it failed."""
    _could_focus = False
    _has_keys = True
    """It, or a part of it, can have the focus."""

    def attempt(self, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Tell the pane, or its model, something; what goes wrong is its own failure."""
        try:
            call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  (whatever it was, the other panes must not suffer)
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Show from now on that it failed, and how. The first failure is the one to tell: others follow from it."""
        if self.failure is None:
            self.failure = Failure.of(type(self).__name__, error)
            # It may be in the middle of being drawn.
            self.call_later(self._show_failure)

    def mend(self) -> None:
        """Try again with what it is told from now on."""
        if self.failure is None:
            return
        had_focus = self.has_focus
        self.failure = None
        vars(self).pop("render_line", None)
        for part in self._hidden:
            part.display = True
        self._hidden, self.can_focus = (), self._could_focus
        self._repaint()
        if had_focus:
            self.focus()

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        try:
            return super().render_lines(crop)
        except Exception as error:  # noqa: BLE001  (the other panes are drawn in the same breath)
            (pane_of(self) or self).fail(error)
            return [self._failure_line(y).crop(crop.x, crop.right) for y in crop.line_range]

    def _failure_line(self, y: int) -> Strip:
        width, height = self.content_size
        said, words = SAID if self._has_keys else keyed(SAID_BY_A_LINE), self.failure.words if self.failure else ""
        lines = [*broken(said, width), *broken(words, width)] if height > 1 else [f"{said} · {words}"]
        text = lines[y] if y < len(lines) else ""
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(width, self.rich_style)

    def _show_failure(self) -> None:
        if self.failure is None:
            return
        had_focus = self.has_focus or self.has_focus_within
        self._hidden = tuple(part for part in self.children if part.display)
        self._has_keys = self.can_focus or bool(self._hidden)
        self._could_focus, self.can_focus = self.can_focus, self._has_keys
        for part in self._hidden:
            part.display = False
        # Textual asks the widget itself for its lines, wherever in its classes they are drawn.
        vars(self)["render_line"] = self._failure_line
        self._repaint()
        if had_focus:
            self.screen.set_focus(self)

    def _repaint(self) -> None:
        self._layout_cache.clear()
        self.refresh(layout=True)

    # Keys

    async def _dispatch_message(self, message: Message) -> None:
        if self.failure is not None and isinstance(message, events.Key) and self.has_focus:
            asked = {"y": self.CopyReport(self.failure.report), "r": self.Reload(self)}.get(message.key)
            if asked is not None:
                message.stop()
                self.post_message(asked)
                return
        await super()._dispatch_message(message)


def is_at_a_door(error: Exception, app: "App[Any]") -> bool:
    """Whether an error was a pane's, which says so from now on, or a dialog's, which is closed; else it is ours."""
    if (pane := pane_to_blame(error)) is not None:
        pane.fail(error)
    elif (screen := screen_to_blame(error)) is not None and screen not in app.screen_stack[:1]:
        app.post_message(ScreenFailed(screen, error))
    else:
        return False
    return True


def pane_of(node: DOMNode) -> Guarded | None:
    """The pane that a part of the screen belongs to."""
    return next((each for each in reversed(node.ancestors_with_self) if isinstance(each, Guarded)), None)


def pane_to_blame(error: BaseException) -> Guarded | None:
    """The pane whose code raised an error, or called what did; none where it was nobody's but the app's."""
    panes = [pane for widget in _on_the_way(error) if (pane := pane_of(widget)) is not None]
    return panes[-1] if panes else None


def screen_to_blame(error: BaseException) -> Screen[Any] | None:
    """The screen whose code raised an error, or called what did; it may not even be shown yet."""
    around = [node for widget in _on_the_way(error) for node in widget.ancestors_with_self]
    return next((node for node in reversed(around) if isinstance(node, Screen)), None)


def _on_the_way(error: BaseException) -> Iterator[Widget]:
    """Whose methods an error came through, the outermost first."""
    trace = error.__traceback__
    while trace is not None:
        here: Any = trace.tb_frame.f_locals.get("self")
        if isinstance(here, Widget) and hasattr(here, "_parent"):  # else it was not even made
            yield here
        trace = trace.tb_next
