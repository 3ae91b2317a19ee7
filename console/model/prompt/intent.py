"""The title of the prompt: what enter does now."""

from typing import Final, NamedTuple

from console.model.commands.key_labels import with_keys
from console.model.commands.situation import Situation
from console.model.text.safe import one_line
from engine.events import EXECUTED_ELSEWHERE, Mode

_EDIT_TITLE: Final = "editing a queued message ▸ {prompt.send} saves · esc cancels"
_RESEND_TITLE: Final = "dropped message ▸ {prompt.send} sends it again · esc cancels"


class Title(NamedTuple):
    """A title in full and in short."""

    full: str
    short: str

    def fitting(self, width: int) -> str:
        return self.full if len(self.full) <= width else self.short


def effective_mode(now: Situation, chosen: str) -> str:
    """The mode in which a message is sent: `AFTER` if the run cannot be steered, else the mode that the user chose."""
    cannot_steer = now.is_external or now.is_stopping or (now.has_active_run and now.cannot_steer)
    return Mode.AFTER if cannot_steer else chosen


def title_of(
    now: Situation, *, mode: str = Mode.STEER, runner: str = "", turn: int = 0, is_editing: bool = False
) -> Title:
    """The title for the chosen mode, the display name of the runner and the current turn, if known."""
    if is_editing and now.is_resend:
        return Title(with_keys(_RESEND_TITLE), with_keys("dropped ▸ {prompt.send} sends · esc cancels"))
    if is_editing:
        return Title(with_keys(_EDIT_TITLE), with_keys("editing ▸ {prompt.send} saves · esc cancels"))
    if now.is_stopping:
        return Title("after ▸ sent when the run has stopped", "after ▸ stopping")
    if now.is_external:
        return Title(f"after ▸ sent when the run ends: {EXECUTED_ELSEWHERE}", "after ▸ executed elsewhere")
    if now.has_active_run:
        return _title_during_run(now, mode, turn)
    name = one_line(runner, 80)
    if now.trouble:
        return Title(f"send ▸ {one_line(now.trouble, 200)}", f"send ▸ {name}".rstrip())
    if not now.is_ready:
        return Title(f"send ▸ {name}, when the engine is open" if name else "send ▸ when the engine is open", "send ▸")
    return Title(f"send ▸ {name}".rstrip(), f"send ▸ {name.partition(' ')[0]}".rstrip())


def placeholder_of(now: Situation, mode: str) -> str:
    """The placeholder of an empty prompt."""
    if not now.has_active_run:
        return "Type a message"
    if effective_mode(now, mode) == Mode.AFTER:
        return "Type a message for after the run"
    return "Type a message to the run in progress"


def why_mode_is_fixed(now: Situation) -> str | None:
    """The reason why the user cannot choose between steer and after, or None."""
    if now.is_stopping:
        return "The run is being stopped. Messages are sent when it has ended."
    if now.is_external:
        return f"Messages wait for the end of the run: {EXECUTED_ELSEWHERE}"
    if not now.has_active_run:
        return "No run in progress. Messages are sent at once."
    return None if now.cannot_steer is None else f"Messages wait for the end of the run: {one_line(now.cannot_steer)}"


def _title_during_run(now: Situation, mode: str, turn: int) -> Title:
    if now.cannot_steer is not None:
        return Title(f"after ▸ {one_line(now.cannot_steer, 200)}", "after ▸ cannot be steered")
    if mode == Mode.AFTER:
        return Title("after ▸ sent when the run ends", "after ▸ when the run ends")
    if now.is_paused_at_steering_point:
        return Title("steer ▸ delivered now", "steer ▸ delivered now")
    full = "steer ▸ delivered at the next steering point"
    if not turn:
        return Title(full, "steer ▸ delivered next turn")
    return Title(f"{full} (≈ T{turn + 1})", f"steer ▸ delivered ≈ T{turn + 1}")
