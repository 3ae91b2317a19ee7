"""Why a command cannot be carried out now, as far as that depends on the run and not on what a pane shows."""

from console.model.commands.naming import key_of
from console.model.prompt.intent import AFTER, mode_of, why_no_mode
from console.model.situation import TO_THE_LIST, Situation


def needs_live(now: Situation) -> str | None:
    if now.is_elsewhere:
        return "this run works in another process; steer and hold it there"
    if now.is_stopping:
        return "the run is being stopped"
    return None if now.is_running else "nothing runs"


def needs_held(now: Situation) -> str | None:
    return needs_live(now) or (
        None if now.is_held else f"the run is not held; {key_of('app.hold')} holds it at its next pull"
    )


def needs_going(now: Situation) -> str | None:
    return needs_live(now) or (f"the run is held already; {key_of('app.go')} releases it" if now.is_held else None)


def can_stop(now: Situation) -> str | None:
    return None if now.is_running or now.is_elsewhere else "nothing runs"


def can_run_again(now: Situation) -> str | None:
    if now.is_stopping:
        return "the run is being stopped; then it can be run again"
    if now.is_running or now.is_elsewhere:
        return f"the run is at work; {key_of('app.stop')} stops it"
    return None if now.can_run_again else "there is nothing to run again; send something first"


def can_go(now: Situation) -> str | None:
    return needs_live(now) if now.is_held else can_run_again(now)


def can_edit_held(now: Situation) -> str | None:
    return needs_held(now) or (None if now.can_edit_held else "only the answer to a model or a tool can be edited")


def needs_queue(now: Situation) -> str | None:
    return None if now.waiting else "nothing waits"


def needs_run(now: Situation) -> str | None:
    return None if now.has_run else "nothing is recorded yet; send something first"


def needs_engine(now: Situation) -> str | None:
    if now.is_ready:
        return None
    return f"the engine could not be opened: {now.trouble}" if now.trouble else "the engine is not open yet"


def needs_path(now: Situation) -> str | None:
    return None if now.has_path else "no path is begun yet; type some of it, or choose one"


def can_zoom(now: Situation) -> str | None:
    return "there is only one pane to be seen here" if now.is_narrow else None


def can_go_back(now: Situation) -> str | None:
    """At the foot of the ladder there is nothing to say of esc, unless it stops a run."""
    can_stop_it = now.is_running and not now.is_stopping
    is_somewhere = now.is_covered or now.is_editing or now.is_as_of or can_stop_it or not now.is_at_prompt
    return None if is_somewhere else "there is nothing to go back from"


def can_choose_mode(now: Situation) -> str | None:
    is_edit = now.is_editing and not now.is_again
    return f"save it first; in the queue, {key_of('queue.turn')} turns it" if is_edit else why_no_mode(now)


def needs_failure(now: Situation) -> str | None:
    return None if now.has_failed else "no pane has failed"


# Words that follow the moment


def sending(now: Situation) -> str:
    """What enter does in the prompt."""
    if now.is_editing and not now.is_again:
        return "save"
    if not (now.is_running or now.is_elsewhere):
        return "send again" if now.is_again else "send"
    return "queue it" if mode_of(now, now.mode) == AFTER else "steer"


def going_aside(now: Situation) -> str:
    """What tab does in a browser."""
    return "list" if now.back == TO_THE_LIST else "details"


def looking_into(now: Situation) -> str:
    """What enter does with an artifact."""
    return "fold" if now.back == TO_THE_LIST else "look into it"


def taking_back(now: Situation) -> str:
    """What enter does in the queue."""
    return {"dropped": "to the prompt", "withdrawn": "undo"}.get(now.chosen, "edit")


def withdrawing(now: Situation) -> str:
    """What the key that takes one away does there."""
    return "dismiss" if now.chosen == "dropped" else "withdraw"


def other_mode(now: Situation) -> str:
    """What it would be turned into."""
    return "steer" if now.mode == AFTER else "after run"


def going(now: Situation) -> str:
    """What the key that lets a run go does."""
    return "release" if now.is_held else "run again"


def escaping(now: Situation) -> str:
    """What esc leads to."""
    if now.is_covered:
        return now.back
    if now.is_editing:
        return "leave it"
    if now.is_as_of:
        return "live"
    return "twice stops" if now.is_running and not now.is_stopping else "prompt"


def stopping(now: Situation) -> str:
    """What f8 does, or has done."""
    return "stopping…" if now.is_stopping else "stop"
