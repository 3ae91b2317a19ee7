"""The one table of commands: keys, footer, palette and help are all read from it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from console.model.situation import Situation

WhyNot = Callable[[Situation], str | None]
"""Why a command cannot be carried out now; nothing where it can."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that a person can do."""

    id: str
    """`where.what`; stable, so that a keymap can name it."""
    keys: str
    """Textual's names, several by comma; empty: from the palette only."""
    words: str
    """What the footer says."""
    help: str
    """One sentence."""
    palette: str = ""
    """`noun: Verb`; empty: a move that nobody looks for by name."""
    rank: int = 0
    """Its place in the footer, the lowest first; 0 keeps it out."""
    why_not: WhyNot = lambda _: None
    action: str = ""
    """Textual's action, where it is not the command's own id."""

    @property
    def where(self) -> str:
        """The pane it belongs to; `app` is everywhere."""
        return self.id.partition(".")[0]

    @property
    def key(self) -> str:
        """Its first key as people read it: `^t`, `f8`, `enter`."""
        return shown_key(self.keys.partition(",")[0])


_SHOWN: Final = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "apostrophe": "'",
    "slash": "/",
    "escape": "esc",
    "space": "space",
    "question_mark": "?",
}


def shown_key(key: str) -> str:
    """A key as the footer prints it."""
    name = key.strip()
    if name.startswith("ctrl+"):
        return "^" + _SHOWN.get(name[5:], name[5:])
    if name.startswith("shift+") and len(name) == 7:
        return name[6:].upper()
    return _SHOWN.get(name, name)


def _needs_live(now: Situation) -> str | None:
    if now.is_elsewhere:
        return "this run works in another process; steer and hold it there"
    return None if now.is_running else "nothing runs"


def _needs_held(now: Situation) -> str | None:
    return _needs_live(now) or (None if now.is_held else "the run is not held; f6 holds it at its next pull")


def _needs_going(now: Situation) -> str | None:
    return _needs_live(now) or ("the run is held already; f5 releases it" if now.is_held else None)


def _can_stop(now: Situation) -> str | None:
    return None if now.is_running or now.is_elsewhere else "nothing runs"


def _can_go(now: Situation) -> str | None:
    if now.is_held:
        return None
    if now.is_running:
        return "the run is at work; f8 stops it"
    return None if now.can_run_again else "there is nothing to run again; send something first"


def _can_edit_held(now: Situation) -> str | None:
    return _needs_held(now) or (None if now.can_edit_held else "only the answer to a model or a tool can be edited")


def _needs_queue(now: Situation) -> str | None:
    return None if now.waiting else "nothing waits"


COMMANDS: Final[tuple[Command, ...]] = (
    # Everywhere
    Command("app.palette", "ctrl+p", "commands", "Find any command by its name.", rank=90, action="command_palette"),
    Command("app.help", "f1", "help", "Help about the pane you are in.", "help: Keys", rank=95),
    Command(
        "app.go",
        "f5",
        "run again",
        "Release a held run, or send the last input once more.",
        "run: Again or release",
        40,
        _can_go,
    ),
    Command("app.hold", "f6", "hold", "Hold the run before its next pull.", "run: Hold at next pull", 42, _needs_going),
    Command("app.step", "f7", "step", "Let a held run go on to its next boundary.", "run: Step", 43, _needs_held),
    Command(
        "app.edit_held",
        "f4",
        "edit answer",
        "Change the answer that is held before it goes.",
        "run: Edit the held answer",
        44,
        _can_edit_held,
    ),
    Command("app.stop", "f8", "stop", "Stop the run; what it was not told yet comes back.", "run: Stop", 41, _can_stop),
    Command("app.zoom", "f2", "zoom", "Give the whole screen to one pane, and back.", "view: Zoom", 60),
    Command("app.rail", "ctrl+b", "runs", "Show or hide the list of runs.", "view: Runs", 61),
    Command("app.time_mode", "", "times", "Times as steps, since the run began, or by the clock.", "view: Time mode"),
    Command("app.new_session", "", "new", "Leave this conversation and begin another.", "session: New"),
    Command("app.escape", "escape", "back", "Close, clear, go live, go to the prompt; twice stops the run."),
    Command("app.quit", "ctrl+q", "quit", "Leave; asks if a run is at work.", "trackside: Quit", 99),
    # Prompt
    Command("prompt.send", "enter", "send", "Send it, or hand it to the run at work.", rank=1),
    Command("prompt.newline", "ctrl+j,shift+enter", "newline", "Begin a new line.", rank=20),
    Command("prompt.mode", "ctrl+t", "steer/after", "Into the run at work, or after it.", "steer: Steer or after", 10),
    Command("prompt.earlier", "up", "earlier", "What was sent before; with an empty prompt, into the queue."),
    # Queue
    Command(
        "queue.edit",
        "enter",
        "edit",
        "Take this message back into the prompt.",
        "steer: Edit the queue",
        1,
        _needs_queue,
    ),
    Command("queue.withdraw", "d", "withdraw", "Take it back: it was never said.", rank=2, why_not=_needs_queue),
    Command("queue.up", "shift+k,alt+up", "up", "Move it up.", rank=3, why_not=_needs_queue),
    Command("queue.down", "shift+j,alt+down", "down", "Move it down.", rank=4, why_not=_needs_queue),
    Command("queue.turn", "t", "steer/after", "Into the run at work, or after it.", rank=5, why_not=_needs_queue),
    Command("queue.hold", "h", "hold", "Keep it back, and release it.", rank=6, why_not=_needs_queue),
    Command("queue.undo", "u", "undo", "Undo the last withdrawal.", rank=7),
)


def of(where: str, commands: Iterable[Command] = COMMANDS) -> tuple[Command, ...]:
    """The commands of one pane."""
    return tuple(command for command in commands if command.where == where)


BY_ID: Final[Mapping[str, Command]] = {command.id: command for command in COMMANDS}
