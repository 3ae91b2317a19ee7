"""What the screen stands on now: of the run, the prompt and the panes, as far as it decides what can be done."""

from typing import TYPE_CHECKING

from console.model.commands.situation import Situation

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater


def situation(hearing: "ScreenUpdater", stage: "ActiveSession", main: "MainScreen", trouble: str | None) -> Situation:
    """As it stands at this moment."""
    view, working = hearing.view, hearing.working
    status = working[1] if working is not None else None
    is_here = working is not None and hearing.is_here(working[0])
    return Situation(
        is_ready=stage.is_open,
        trouble=trouble,
        has_run=view is not None,
        is_running=working is not None and is_here,
        is_elsewhere=working is not None and not is_here,
        is_stopping=status is not None and status.is_stopping,
        is_paused=bool(status and status.pause),
        is_paused_at_steering_point=status is not None and status.is_paused_at_pull,
        can_edit_reply=status is not None and status.can_edit_reply,
        cannot_steer=stage.cannot_steer,
        can_run_again=view is not None and working is None,
        queue_items=len(main.queue.items),
        is_at_prompt=main.where() == "prompt",
        is_as_of=hearing.as_of is not None or hearing.is_past,
        mode=main.prompt.mode,
        is_editing=main.prompt.item_id is not None,
        is_resend=hearing.is_dropped(main.prompt.item_id),
        has_path=main.prompt.attachments.picker.is_sure,
        selected_fate=item.fate if (item := main.queue.item) is not None else "",
        has_failed=any(pane.failure is not None for pane in main.guarded),
        is_narrow=main.is_narrow,
    )
