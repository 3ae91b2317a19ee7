"""The text in the border of the stream: the filter, hidden entries and the follow state."""

from console.model.stream.cursor import StreamCursor
from console.model.text.follow import FollowState
from console.model.text.glyphs import GLYPHS
from console.model.text.safe import one_line
from console.model.text.units import number


def border_text(view: StreamCursor, filter_text: str, width: int) -> str:
    """Return the border text. The most important part is last, and long filters are cut."""
    parts = [*_filter_parts(view, filter_text, max(8, width - 44)), *_position_parts(view)]
    return " · ".join(parts)


def _filter_parts(view: StreamCursor, text: str, max_chars: int) -> list[str]:
    timeline = view.timeline
    parts = ["raw"] if timeline.is_raw else []
    if view.marks:
        parts.append(number(len(view.marks), "mark"))
    if timeline.is_filtered:
        parts += [one_line(text, max_chars), f"{timeline.hidden:,} hidden"]
        if (progress := timeline.progress) is not None:
            parts.append(f"searching… {progress:.0%}")
    return parts


def _position_parts(view: StreamCursor) -> list[str]:
    follow = view.follow
    if follow.state is FollowState.TAIL:
        return [f"follow {GLYPHS['running']}" if view.timeline.is_live else "end"]
    new = [f"{GLYPHS['injected']} {follow.new:,} new"] if follow.new else []
    if follow.state is FollowState.LOCKED:
        return [*(new or [GLYPHS["injected"]]), "end"]
    hidden = [f"#{view.hidden_target} is hidden"] if view.hidden_target is not None else []
    return [*new, *hidden, f"as of #{follow.position}"]
