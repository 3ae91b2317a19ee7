"""Reasons why a command is not available, and footer labels that depend on the situation.

A `needs_` or `why_not_` function returns one sentence for the user, or None if the command is available.
"""

from collections.abc import Mapping
from typing import Final

from console.model.commands.key_labels import key_of
from console.model.commands.situation import TO_LIST, Situation
from console.model.prompt.intent import effective_mode, why_mode_is_fixed
from console.model.text.sentence import as_sentence
from engine.events import EXECUTED_ELSEWHERE, Fate, Mode

NO_RUN: Final = "No run in progress."
_QUEUE_ENTER_LABELS: Final[Mapping[str, str]] = {Fate.DROPPED: "to prompt", Fate.WITHDRAWN: "undo"}


def needs_active_run(now: Situation) -> str | None:
    if now.is_external:
        return f"{as_sentence(EXECUTED_ELSEWHERE)}. It can be stopped, but not paused or steered."
    if now.is_elsewhere:
        return "This run is in progress in another process. Pause, step and continue it there."
    if now.is_stopping:
        return "The run is being stopped."
    return None if now.is_running else NO_RUN


def needs_paused_run(now: Situation) -> str | None:
    reason = needs_active_run(now)
    if reason is None and not now.is_paused:
        reason = f"The run is not paused. {key_of('app.pause')} pauses it at its next steering point."
    return reason


def why_not_pause(now: Situation) -> str | None:
    reason = needs_active_run(now)
    if reason is None and now.is_paused:
        reason = f"The run is already paused. {key_of('app.continue')} continues it."
    return reason


def why_not_stop(now: Situation) -> str | None:
    return None if now.has_active_run else NO_RUN


def why_not_run_again(now: Situation) -> str | None:
    if now.is_stopping:
        return "The run is being stopped. Run it again when it has ended."
    if now.has_active_run:
        return f"A run is in progress. {key_of('app.stop')} stops it."
    return None if now.can_run_again else "There is nothing to run again. Send a message first."


def why_not_edit_reply(now: Situation) -> str | None:
    reason = needs_paused_run(now)
    if reason is None and not now.can_edit_reply:
        reason = "Only the reply of a model or a tool can be edited."
    return reason


def needs_queue(now: Situation) -> str | None:
    return None if now.queue_items else "No queued messages."


def needs_run(now: Situation) -> str | None:
    return None if now.has_run else "Nothing is recorded yet. Send a message first."


def needs_engine(now: Situation) -> str | None:
    if now.is_ready:
        return None
    return f"The engine could not be opened: {now.trouble}" if now.trouble else "The engine is not open yet."


def needs_path(now: Situation) -> str | None:
    return None if now.has_path else "Type a part of the path, or select one."


def why_not_zoom(now: Situation) -> str | None:
    return "Only one pane fits in this terminal." if now.is_narrow else None


def why_not_go_back(now: Situation) -> str | None:
    """esc does nothing only if the prompt has the focus and there is nothing to close or to stop."""
    has_run_to_stop = now.is_running and not now.is_stopping
    has_effect = now.is_covered or now.is_editing or now.is_as_of or has_run_to_stop or not now.is_at_prompt
    return None if has_effect else "There is nothing to close."


def why_not_choose_mode(now: Situation) -> str | None:
    if now.is_editing and not now.is_resend:
        return f"Save the message first; in the queue, {key_of('queue.turn')} changes its mode."
    return why_mode_is_fixed(now)


def needs_failure(now: Situation) -> str | None:
    return None if now.has_failed else "No pane has failed."


# Footer labels


def send_label(now: Situation) -> str:
    """Label of enter in the prompt."""
    if now.is_editing and not now.is_resend:
        return "save"
    if not now.has_active_run:
        return "send again" if now.is_resend else "send"
    return "queue" if effective_mode(now, now.mode) == Mode.AFTER else "steer"


def details_label(now: Situation) -> str:
    """Label of tab in a browser."""
    return "list" if now.back == TO_LIST else "details"


def artifact_label(now: Situation) -> str:
    """Label of enter on an artifact."""
    return "fold" if now.back == TO_LIST else "content"


def queue_edit_label(now: Situation) -> str:
    """Label of enter in the queue."""
    return _QUEUE_ENTER_LABELS.get(now.selected_fate, "edit")


def withdraw_label(now: Situation) -> str:
    """Label of the key that removes a message from the queue."""
    return "dismiss" if now.selected_fate == Fate.DROPPED else "withdraw"


def other_mode_label(now: Situation) -> str:
    """The mode that the mode key switches to."""
    return "steer" if now.mode == Mode.AFTER else "after run"


def escape_label(now: Situation) -> str:
    if now.is_covered:
        return now.back
    if now.is_editing:
        return "cancel edit"
    if now.is_as_of:
        return "live"
    return "twice stops" if now.is_running and not now.is_stopping else "prompt"


def stop_label(now: Situation) -> str:
    return "stopping…" if now.is_stopping else "stop"
