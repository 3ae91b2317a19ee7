"""Collects from the run, the prompt and the panes what decides which commands are available."""

from typing import TYPE_CHECKING

from console.model.commands.situation import Situation

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater


def situation(updater: "ScreenUpdater", session: "ActiveSession", main: "MainScreen", problem: str | None) -> Situation:
    """The situation now; `problem` is the text of a health problem."""
    view, active = updater.view, updater.active_run
    status = active[1] if active is not None else None
    is_here = active is not None and updater.is_run_here(active[0])
    return Situation(
        is_ready=session.is_open,
        trouble=problem,
        has_run=view is not None,
        is_running=active is not None and is_here,
        is_elsewhere=active is not None and not is_here,
        is_external=status is not None and status.is_external,
        is_stopping=status is not None and status.is_stopping,
        is_paused=bool(status and status.pause),
        is_paused_at_steering_point=status is not None and status.is_paused_at_pull,
        can_edit_reply=status is not None and status.can_edit_reply,
        cannot_steer=session.cannot_steer,
        can_run_again=view is not None and active is None,
        queue_items=len(main.queue.items),
        is_at_prompt=main.where() == "prompt",
        is_as_of=updater.as_of is not None or updater.is_past,
        mode=main.prompt.mode,
        is_editing=main.prompt.item_id is not None,
        is_resend=updater.is_dropped(main.prompt.item_id),
        has_path=main.prompt.attachments.picker.takes_on_enter,
        selected_fate=item.fate if (item := main.queue.item) is not None else "",
        has_failed=any(pane.failure is not None for pane in main.guarded),
        is_narrow=main.is_narrow,
    )
