"""What the border of the stream says: the filter and what it hides, and where one looks."""

from console.model.glyphs import Glyphs
from console.model.safe import one_line
from console.model.stream.follow import Hold
from console.model.stream.look import Look
from console.model.words import number


def status(look: Look, filter_text: str, glyphs: Glyphs, width: int) -> str:
    """The most important stands last, and long filters are cut: it must fit a narrow border."""
    parts = [*_filtered(look, filter_text, max(8, width - 44)), *_where(look, glyphs)]
    return " · ".join(parts)


def _filtered(look: Look, text: str, room: int) -> list[str]:
    timeline = look.timeline
    parts = ["raw"] if timeline.is_raw else []
    if look.flags:
        parts.append(number(len(look.flags), "mark"))
    if timeline.is_hiding:
        parts += [one_line(text, room), f"{timeline.hidden:,} hidden"]
        if (progress := timeline.progress) is not None:
            parts.append(f"searching… {progress:.0%}")
    return parts


def _where(look: Look, glyphs: Glyphs) -> list[str]:
    follow = look.follow
    if follow.hold is Hold.TAIL:
        return [f"follow {glyphs['running']}" if look.timeline.is_live else "end"]
    new = [f"{glyphs['injected']} {follow.new:,} new"] if follow.new else []
    if follow.hold is Hold.LOCKED:
        return [*(new or [glyphs["injected"]]), "end"]
    aside = [f"#{look.aside} is hidden"] if look.aside is not None else []
    return [*new, *aside, f"as of #{follow.position}"]
