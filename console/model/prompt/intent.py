"""What Enter does now, in words: the title of the prompt."""

from typing import Final, NamedTuple

from console.model.commands.naming import keyed
from console.model.safe import one_line
from console.model.situation import Situation

STEER: Final = "steer"
AFTER: Final = "after"
EDITING: Final = "editing a queued message ▸ {prompt.send} saves · esc leaves it"
AGAIN: Final = "a dropped message ▸ {prompt.send} sends it again · esc leaves it"


class Title(NamedTuple):
    """A title, and the same where there is little room."""

    full: str
    short: str

    def fitting(self, width: int) -> str:
        return self.full if len(self.full) <= width else self.short


def mode_of(now: Situation, wanted: str) -> str:
    """How a message goes: what the run at work cannot take in waits for its end, whatever was wanted."""
    cannot = now.is_elsewhere or now.is_stopping or (now.is_running and now.cannot_steer)
    return AFTER if cannot else wanted


def title_of(now: Situation, *, mode: str = STEER, runner: str = "", turn: int = 0, is_editing: bool = False) -> Title:
    """For a mode that a person chose, a runner's name and the turn that is on, as far as they are known."""
    if is_editing and now.is_again:
        return Title(keyed(AGAIN), keyed("dropped ▸ {prompt.send} sends · esc leaves"))
    if is_editing:
        return Title(keyed(EDITING), keyed("editing ▸ {prompt.send} saves · esc leaves"))
    if now.is_stopping:
        return Title("after ▸ the run is being stopped; it is said after that", "after ▸ being stopped")
    if now.is_elsewhere:
        return Title("after ▸ the run works in another process; it is said when that ends", "after ▸ works elsewhere")
    if now.is_running:
        return _to_the_run(now, mode, turn)
    name = one_line(runner, 80)
    if now.trouble:
        return Title(f"send ▸ {one_line(now.trouble, 200)}", f"send ▸ {name}".rstrip())
    if not now.is_ready:
        return Title(f"send ▸ {name}, as soon as it is open" if name else "send ▸ as soon as it is open", "send ▸")
    return Title(f"send ▸ {name}".rstrip(), f"send ▸ {name.partition(' ')[0]}".rstrip())


def placeholder_of(now: Situation, mode: str) -> str:
    """What an empty prompt says."""
    if not (now.is_running or now.is_elsewhere):
        return "Say something"
    return "Say something for after the run" if mode_of(now, mode) == AFTER else "Say something to the run at work"


def why_no_mode(now: Situation) -> str | None:
    """Why there is nothing to choose between steer and after; nothing where there is."""
    if now.is_stopping:
        return "the run is being stopped: what you say waits for its end"
    if now.is_elsewhere:
        return "the run works in another process: what you say waits for its end"
    if not now.is_running:
        return "nothing runs: what you say is sent at once"
    return None if now.cannot_steer is None else f"what you say waits for the run's end: {one_line(now.cannot_steer)}"


def _to_the_run(now: Situation, mode: str, turn: int) -> Title:
    if now.cannot_steer is not None:
        return Title(f"after ▸ {one_line(now.cannot_steer, 200)}", "after ▸ it cannot be steered")
    if mode == AFTER:
        return Title("after ▸ waits for the end of the run", "after ▸ when the run ends")
    if now.is_held_at_pull:
        return Title("steer ▸ lands now", "steer ▸ lands now")
    where = f"≈ T{turn + 1}" if turn else ""
    full = f"steer ▸ lands at the next turn boundary ({where})" if where else "steer ▸ lands at the next turn boundary"
    return Title(full, f"steer ▸ lands {where or 'next turn'}")
