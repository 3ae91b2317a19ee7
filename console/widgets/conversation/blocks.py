"""A talk's blocks as lines of text: a head, and a body in parts that are drawn one by one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from console.model.commands.naming import keyed
from console.model.glyphs import Glyphs
from console.model.safe import one_line, safe
from console.model.talk.blocks import (
    Answer,
    Artifact,
    Block,
    End,
    Event,
    Failure,
    Filed,
    Landing,
    Note,
    Said,
    Standing,
    Steered,
    Tool,
    You,
)
from console.model.words import duration

if TYPE_CHECKING:
    from console.widgets.conversation.prose import Prose

WIDEST: Final = 100
"""Columns of text: longer lines are hard to read back from."""
MOST_LINES: Final = 24
"""Of a tool's output that are shown when it is unfolded."""
LONGEST: Final = 20_000
"""Characters of what a person said that are shown; Stream has all of it."""
FAINT: Final = "$foreground-muted"
_KEY: Final = "bold $text-accent"
_TONES: Final[Mapping[str, str]] = {
    "you": "bold $text-primary",
    "agent": "bold $text-secondary",
    "event": "bold $text-accent",
    "completed": "$text-success",
    "cancelled": "bold $text-warning",
    "failed": "bold $text-error",
    "timeout": "bold $text-error",
    "lost": "bold $text-error",
    "pulled": "bold $text-accent",
    "injected": "bold $text-success",
    "dropped": "bold $text-error",
    "warning": "$text-warning",
}
_BARS: Final[Mapping[str, str]] = {
    "you": "$primary",
    "agent": "$text-secondary",
    "event": "$accent",
    "failed": "$error",
    "pulled": "$accent",
    "injected": "$success",
    "dropped": "$error",
}


@dataclass(frozen=True, slots=True)
class Look:
    """What a block's lines depend on beside the block."""

    width: int
    now: int
    is_unfolded: bool = False


class Painter:
    """Draws blocks with one set of glyphs. All that a runner or a person said goes through `safe` here."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._cursor = "_" if glyphs["bar"].isascii() else "█"
        self._kinds: dict[type[Block], Callable[[Any, Look], list[Content]]] = {
            You: self._you,
            Event: self._event,
            Said: self._said,
            Tool: self._tool,
            Steered: self._steered,
            Artifact: self._artifact,
            Note: self._note,
            End: self._end,
            Failure: self._failure,
        }

    def head(self, block: Block, look: Look) -> list[Content]:
        """All lines of a block but the text of a message of the agent's."""
        return self._kinds[type(block)](block, look)

    @cached_property
    def _prose(self) -> "Prose":
        # The first frame has no Markdown, and need not wait for what reads it.
        from console.widgets.conversation.prose import Prose  # noqa: PLC0415

        return Prose(ascii_only=self._glyphs["bar"].isascii())

    def part(self, block: Said, place: int, look: Look) -> list[Content]:
        """The lines of one part of such a message."""
        part, is_last = block.flow.part(place), place == block.flow.parts - 1
        lines = self._prose.lines(part.markdown, look.width - 2)
        if place and not part.opener and _is_after_gap(block, place):
            lines.insert(0, Content(""))
        if is_last and block.standing is Standing.STREAMING:
            lines = self._with_cursor(lines, look.width - 2)
        if is_last:
            lines += [Content.styled(f"[{one_line(name, 80)}]", FAINT) for name in block.extras]
        return self._barred(lines, "agent")

    # Kinds

    def _you(self, block: You, look: Look) -> list[Content]:
        lines = [*_text(block.text, look.width - 2), *self._files(block.attachments, look.width - 2)]
        head = Content.styled(one_line(block.who, 40), _TONES["you"])
        return self._barred([self._headed(head, block, look), *lines], "you")

    def _event(self, block: Event, look: Look) -> list[Content]:
        head = Content.assemble(
            (f"{self._glyphs['event']} {one_line(block.kind, 80)}", _TONES["event"]),
            (f"  {one_line(block.source, 80)}", FAINT),
        )
        lines = Content.styled(one_line(block.about, 600), FAINT).wrap(look.width - 2) if block.about else []
        lines += _text(block.text, look.width - 2)
        if block.details:
            lines += Content.styled(one_line(block.details), FAINT).wrap(look.width - 2)
        lines += self._files(block.attachments, look.width - 2)
        return self._barred([self._headed(head, block, look), *lines], "event")

    def _said(self, block: Said, look: Look) -> list[Content]:
        who = "agent" if block.role == "assistant" else one_line(block.role, 40)
        head = Content.assemble((who, _TONES["agent"]), (f"  T{block.turn}" if block.turn else "", FAINT))
        if block.standing is not Standing.DONE:
            head += Content.styled(
                f"  {block.standing}", FAINT if block.standing is Standing.STREAMING else "$text-warning"
            )
        return self._barred([self._headed(head, block, look)], "agent")

    def _tool(self, block: Tool, look: Look) -> list[Content]:
        glyph = self._glyphs["open" if look.is_unfolded else "folded"]
        left = Content.assemble(
            (f"{glyph} ", FAINT),
            (one_line(block.name, 80), "bold"),
            (f"({one_line(block.arguments)})", ""),
        )
        is_failed = block.answer is Answer.FAILED
        if block.summary and not look.is_unfolded and not is_failed:
            left += Content.styled(f"  {one_line(block.summary, 120)}", FAINT)
        lines = [self._sided(left, self._answer(block, look), look.width)]
        if look.is_unfolded:
            lines += self._output(block, look)
        elif is_failed:
            lines.append(self._cut(Content.styled(f"  {one_line(block.summary)}", "$text-error"), look.width))
        return lines

    def _answer(self, block: Tool, look: Look) -> Content:
        match block.answer:
            case Answer.OPEN:
                return Content.styled(f"{self._glyphs['busy']} {duration(look.now - block.at)}", "$text-accent")
            case Answer.NONE:
                return Content.styled(f"{self._glyphs['dropped']} no answer", "$text-warning")
            case answer:
                glyph, tone = ("completed", "$text-success") if answer is Answer.OK else ("failed", "$text-error")
                took = "" if block.microseconds is None else f" {duration(block.microseconds)}"
                return Content.assemble((self._glyphs[glyph], tone), (took, FAINT))

    def _output(self, block: Tool, look: Look) -> list[Content]:
        lines = _text(block.output or "(nothing)", look.width - 4)
        left = len(lines) - MOST_LINES
        if left > 0 or block.is_cut:
            more = "more" if block.is_cut else f"{left:,} more lines"
            lines = [
                *lines[:MOST_LINES],
                Content.assemble((f"{self._glyphs['ellipsis']} {more}: ", FAINT), *_keys("{conversation.open} open")),
            ]
        side = Content.styled(f"  {self._glyphs['bar']} ", FAINT)
        return [side + line for line in lines]

    def _steered(self, block: Steered, look: Look) -> list[Content]:
        landing = block.landing.value
        word, told = "steered", f"{landing} at T{block.landed_turn}"
        if block.landing is Landing.DROPPED:
            word, told = landing, block.reason
        head = Content.assemble(
            (f"{self._glyphs[landing]} {word}", _TONES[landing]), (f" · {one_line(told, 120)}", FAINT)
        )
        lines = [self._headed(head, block, look), *_text(block.text, look.width - 2)]
        lines += self._files(block.attachments, look.width - 2)
        if block.can_return:
            lines.append(Content("").join(_keys("{conversation.open} back to the prompt")))
        return self._barred(lines, landing)

    def _artifact(self, block: Artifact, look: Look) -> list[Content]:
        return self._files((block.file,), look.width)

    def _files(self, files: Sequence[Filed], width: int) -> list[Content]:
        """A line for each artifact: what it is called, and at the right its type and size."""
        mark = (f"{self._glyphs['mark']} ", "$text-accent")
        return [
            self._sided(
                Content.assemble(mark, (one_line(file.name, 120), "bold")),
                Content.styled(one_line(file.about, 80), FAINT),
                width,
            )
            for file in files
        ]

    def _note(self, block: Note, look: Look) -> list[Content]:
        tone = _TONES["warning"] if block.is_warning else FAINT
        count = f" (×{block.count:,})" if block.count > 1 else ""
        lines = Content.styled(one_line(block.text, 600) + count, tone).wrap(look.width - 2)
        sign = self._glyphs[block.glyph] if block.glyph else "!" if block.is_warning else "?"
        return [Content.styled(f"{' ' if place else sign} ", tone) + line for place, line in enumerate(lines)]

    def _end(self, block: End, look: Look) -> list[Content]:
        words = Content.styled(f"{self._glyphs[block.state]} {one_line(block.words, 120)}", _TONES[block.state])
        line = words + Content.styled("".join(f" · {one_line(told)}" for told in block.details) + " ", FAINT)
        rest = look.width - line.cell_length
        return [line + Content.styled(self._glyphs["dots"] * rest, FAINT)] if rest >= 0 else line.wrap(look.width)

    def _failure(self, block: Failure, look: Look) -> list[Content]:
        head = Content.styled(f"{self._glyphs[block.state]} {one_line(block.words, 120)}", _TONES[block.state])
        lines = [self._headed(head, block, look)]
        if block.error and not (block.lines and block.error in block.lines[-1]):
            lines += Content.styled(one_line(block.error, 600), "$text-error").wrap(look.width - 2)
        traced = block.traced if look.is_unfolded else block.lines
        last = len(traced) - 1
        for place, line in enumerate(traced):
            told = Content.styled(one_line(line), "$text-error" if place == last else FAINT)
            lines.append(self._cut(told, look.width - 2))
        full = "full" if unfolds(block) and not look.is_unfolded else "open"
        lines.append(
            Content("").join(
                _keys(f"{{conversation.open}} {full}  {{conversation.retry}} retry  {{conversation.copy}} copy")
            )
        )
        return self._barred(lines, "failed")

    # Lines

    def _headed(self, left: Content, block: Block, look: Look) -> Content:
        """A head: who, and at the right the entry and when it was since the run began."""
        when = "" if block.since is None else clock(block.since)
        width = look.width - 2
        for right in (f"#{block.position}  {when}" if block.turn else "", when):
            if left.cell_length + len(right) + 2 <= width:
                return self._sided(left, Content.styled(right, FAINT), width)
        return self._cut(left, width)

    def _sided(self, left: Content, right: Content, width: int) -> Content:
        """Two texts on one line; the left one gives way."""
        left = self._cut(left, max(8, width - right.cell_length - 2))
        return left + " " * max(2, width - left.cell_length - right.cell_length) + right

    def _cut(self, line: Content, width: int) -> Content:
        return (
            line.truncate(width - 1) + Content.styled(self._glyphs["ellipsis"], FAINT)
            if line.cell_length > width
            else line
        )

    def _barred(self, lines: Sequence[Content], kind: str) -> list[Content]:
        bar = Content.styled(f"{self._glyphs['bar']} ", _BARS[kind])
        return [bar + line for line in lines]

    def _with_cursor(self, lines: list[Content], width: int) -> list[Content]:
        cursor = Content.styled(self._cursor, "$text-secondary")
        if lines and lines[-1].cell_length < width:
            return [*lines[:-1], lines[-1] + cursor]
        return [*lines, cursor]


def unfolds(block: Block | None) -> bool:
    """Whether there is more to a block than is shown at first."""
    return isinstance(block, Tool) or (isinstance(block, Failure) and len(block.traced) > len(block.lines))


def clock(microseconds: int) -> str:
    """Since the run began: `00:14.2`, `1:02:03`."""
    tenths = max(0, microseconds) // 100_000
    minutes, tenths = divmod(tenths, 600)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{tenths // 10:02}"
    return f"{minutes:02}:{tenths // 10:02}.{tenths % 10}"


def _text(text: str, width: int) -> list[Content]:
    """Text as it was typed, in lines that fit."""
    if not text:
        return []
    shown = safe(text[:LONGEST]) + ("…" if len(text) > LONGEST else "")
    return Content(shown.rstrip("\n")).wrap(width)


def _keys(words: str) -> list[Content]:
    """`{conversation.open} open  {conversation.retry} retry`: each key and what it does."""
    parts: list[Content] = []
    for each in keyed(words).split("  "):
        key, _, does = each.partition(" ")
        parts += [
            Content.styled("  " if parts else "", FAINT),
            Content.styled(key, _KEY),
            Content.styled(f" {does}", FAINT),
        ]
    return parts


def _is_after_gap(block: Said, place: int) -> bool:
    """Whether a blank line ends the part above."""
    ending = block.flow.part(place - 1).text.rsplit("\n", 2)
    return len(ending) > 1 and not ending[-2].strip()
