"""The text in the border of the stream: the filter, hidden entries and the follow state."""

from console.model.stream.cursor import StreamCursor
from console.model.text.follow import FollowState
from console.model.text.glyphs import GLYPHS
from console.model.text.safe import one_line
from console.model.text.units import number


def status(view: StreamCursor, filter_text: str, width: int) -> str:
    """The border text. The most important part is last, and long filters are cut."""
    parts = [*_filtered(view, filter_text, max(8, width - 44)), *_where(view)]
    return " · ".join(parts)


def _filtered(view: StreamCursor, text: str, room: int) -> list[str]:
    timeline = view.timeline
    parts = ["raw"] if timeline.is_raw else []
    if view.flags:
        parts.append(number(len(view.flags), "mark"))
    if timeline.is_hiding:
        parts += [one_line(text, room), f"{timeline.hidden:,} hidden"]
        if (progress := timeline.progress) is not None:
            parts.append(f"searching… {progress:.0%}")
    return parts


def _where(view: StreamCursor) -> list[str]:
    follow = view.follow
    if follow.hold is FollowState.TAIL:
        return [f"follow {GLYPHS['running']}" if view.timeline.is_live else "end"]
    new = [f"{GLYPHS['injected']} {follow.new:,} new"] if follow.new else []
    if follow.hold is FollowState.LOCKED:
        return [*(new or [GLYPHS["injected"]]), "end"]
    aside = [f"#{view.aside} is hidden"] if view.aside is not None else []
    return [*new, *aside, f"as of #{follow.position}"]
