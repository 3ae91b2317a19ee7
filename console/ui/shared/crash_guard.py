"""Contains failures of our own code: a pane that fails shows it, a dialog that fails is closed, the rest goes on."""

import logging
import platform
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, cast

from rich.segment import Segment
from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from console.data.secret_text import mask_secrets
from console.model.commands.key_labels import with_keys
from console.model.text.columns import broken
from console.model.text.safe import one_line, safe
from engine.version import VERSION


class FailureReport(NamedTuple):
    """A failure: one line for the screen and a report for the developers."""

    text: str
    """`ValueError: no such thing`, on one line and without control characters."""
    report: str
    """The traceback, without values of variables: they may be secrets."""

    @classmethod
    def of(cls, what: str, error: BaseException) -> "FailureReport":
        lines = traceback.format_exception(error)
        text = mask_secrets(f"{type(error).__name__}: {_text_of(error)}".removesuffix(": "))
        about = f"Trackside {VERSION}, Python {platform.python_version()}, {platform.system()}"
        report = safe(f"{what} failed\n{about}\n\n{mask_secrets(''.join(lines))}")
        logging.getLogger("trackside.console").error("%s", report)
        return cls(one_line(text, 200), report)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (its __str__ fails too)
        return ""


if TYPE_CHECKING:
    from textual.app import App

    _Pump, _Widget = MessagePump, Widget
else:
    # Not a Textual widget at run time: of two widget bases Textual takes styles and bindings of the first only.
    _Pump = _Widget = object

P = ParamSpec("P")
PANE_FAILED_TEXT = "This pane failed · y copy report · r reload"
LINE_FAILED_TEXT = "This line failed · {app.reload}"
"""For a widget that never has the focus."""


class ScreenFailed(Message):
    """Posted when a dialog or a full screen failed; the app closes it."""

    def __init__(self, screen: Screen[Any], error: Exception) -> None:
        super().__init__()
        self.screen, self.error = screen, error


class MessageGuard(_Pump):
    """Handles messages. If a handler raises, its pane or dialog fails and later messages are handled as usual."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not contain_failure(error, self.app, self, message._sender):  # noqa: SLF001
                raise


class ActionGuard(App[None]):
    """Runs actions. If one raises, the pane whose action it is fails, not the widget with the focus."""

    def action_owner(self, name: str) -> object:  # noqa: ARG002  (for subclasses)
        """The object that has an action of the app."""
        return self

    async def _dispatch_action(self, namespace: DOMNode, action_name: str, params: Any) -> bool:
        owner = self.action_owner(action_name) if namespace is self else namespace
        try:
            return await super()._dispatch_action(cast("DOMNode", owner), action_name, params)
        except Exception as error:  # noqa: BLE001  (see above)
            if not contain_failure(error, self, namespace):
                self._handle_exception(error)
            return True


class PaneGuard(MessageGuard, _Widget):
    """A pane, or a part of one that draws. The outermost guard is the pane, which fails as a whole."""

    @dataclass
    class Reload(Message):
        """Posted when the user reloads a failed pane."""

        pane: "PaneGuard"

    @dataclass
    class CopyReport(Message):
        """Posted when the user copies the report of a failed pane."""

        report: str

    failure: FailureReport | None = None
    """The failure, until the pane is reloaded."""
    _hidden: tuple[Widget, ...] = ()
    """Children that were visible before the failure."""
    _could_focus = False
    _has_keys = True
    """The pane or one of its children can have the focus."""

    def attempt(self, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call a method of the pane or its model. If it raises, the pane fails."""
        try:
            call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  (other panes go on)
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Show the failure from now on. Only the first is shown: later ones follow from it."""
        if self.failure is None:
            self.failure = FailureReport.of(type(self).__name__, error)
            # The pane may be drawing just now.
            self.call_later(self._show_failure)

    def recover(self) -> None:
        """Remove the failure and draw again."""
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
        except Exception as error:  # noqa: BLE001  (the other panes are drawn in the same pass)
            (pane_of(self) or self).fail(error)
            return [self._failure_line(y).crop(crop.x, crop.right) for y in crop.line_range]

    def _failure_line(self, y: int) -> Strip:
        width, height = self.content_size
        notice, text = (
            PANE_FAILED_TEXT if self._has_keys else with_keys(LINE_FAILED_TEXT),
            self.failure.text if self.failure else "",
        )
        lines = [*broken(notice, width), *broken(text, width)] if height > 1 else [f"{notice} · {text}"]
        line = lines[y] if y < len(lines) else ""
        return Strip([Segment(line, self.rich_style)]).adjust_cell_length(width, self.rich_style)

    def _show_failure(self) -> None:
        if self.failure is None:
            return
        had_focus = self.has_focus or self.has_focus_within
        self._hidden = tuple(part for part in self.children if part.display)
        self._has_keys = self.can_focus or bool(self._hidden)
        self._could_focus, self.can_focus = self.can_focus, self._has_keys
        for part in self._hidden:
            part.display = False
        # An instance attribute wins over the render_line of any class of the widget.
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


def contain_failure(error: Exception, app: "App[Any]", *nodes: MessagePump | None) -> bool:
    """Fail the pane, or close the dialog, that the first of these nodes belongs to.

    Returns False if none of them belongs to a pane or to a screen over the panes: then the app itself failed.
    """
    for node in nodes:
        if not isinstance(node, DOMNode):
            continue
        if (pane := pane_of(node)) is not None:
            pane.fail(error)
            return True
        screen = next((each for each in node.ancestors_with_self if isinstance(each, Screen)), None)
        if screen is not None and screen not in app.screen_stack[:1]:
            app.post_message(ScreenFailed(screen, error))
            return True
    return False


def pane_of(node: DOMNode) -> PaneGuard | None:
    """The pane that a node belongs to, if any."""
    return next((each for each in reversed(node.ancestors_with_self) if isinstance(each, PaneGuard)), None)
