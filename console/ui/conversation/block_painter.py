"""Draws blocks as lines: a head, and for messages a body in parts that are drawn one by one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from console.model.commands.key_labels import with_keys
from console.model.conversation.blocks import (
    AgentMessage,
    Artifact,
    AttachedFile,
    Block,
    Event,
    MessageProgress,
    Note,
    RunEnd,
    RunFailure,
    SteeringMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from console.model.run.state import RunState
from console.model.text.glyphs import GLYPHS
from console.model.text.safe import one_line, safe
from console.model.text.units import duration
from engine.events import Fate, Status

if TYPE_CHECKING:
    from console.ui.conversation.markdown import MarkdownLayout

WIDEST: Final = 100
"""Columns of text; longer lines are hard to read."""
MOST_LINES: Final = 24
"""Lines of a tool result that an unfolded block shows."""
MAX_BLOCK_CHARS: Final = 20_000
"""Characters of a user message that are shown; Stream has all of it."""
FAINT: Final = "$foreground-muted"
_KEY: Final = "bold $text-accent"
_TONES: Final[Mapping[str, str]] = {
    "you": "bold $text-primary",
    "agent": "bold $text-secondary",
    "event": "bold $text-accent",
    Status.COMPLETED: "$text-success",
    Status.CANCELLED: "bold $text-warning",
    Status.FAILED: "bold $text-error",
    Status.TIMEOUT: "bold $text-error",
    RunState.LOST: "bold $text-error",
    Fate.PULLED: "bold $text-accent",
    Fate.INJECTED: "bold $text-success",
    Fate.DROPPED: "bold $text-error",
    "warning": "$text-warning",
}
_FATE_WORDS: Final[Mapping[str, str]] = {Fate.PULLED: "pulled", Fate.INJECTED: "delivered"}
_BARS: Final[Mapping[str, str]] = {
    "you": "$primary",
    "agent": "$text-secondary",
    "event": "$accent",
    Status.FAILED: "$error",
    Fate.PULLED: "$accent",
    Fate.INJECTED: "$success",
    Fate.DROPPED: "$error",
}


@dataclass(frozen=True, slots=True)
class BlockStyle:
    """What the lines of a block depend on beside the block."""

    width: int
    now: int
    is_unfolded: bool = False


class BlockPainter:
    """Draws blocks. All text of runners and users is made safe here."""

    def __init__(self) -> None:
        self._kinds: dict[type[Block], Callable[[Any, BlockStyle], list[Content]]] = {
            UserMessage: self._you,
            Event: self._event,
            AgentMessage: self._source_of,
            ToolCall: self._tool,
            SteeringMessage: self._steered,
            Artifact: self._artifact,
            Note: self._note,
            RunEnd: self._end,
            RunFailure: self._failure,
        }

    def head(self, block: Block, style: BlockStyle) -> list[Content]:
        """All lines of a block except the text of a message of the agent."""
        return self._kinds[type(block)](block, style)

    @cached_property
    def _markdown(self) -> "MarkdownLayout":
        # The first frame has no Markdown and must not wait for its import.
        from console.ui.conversation.markdown import MarkdownLayout  # noqa: PLC0415

        return MarkdownLayout()

    def part(self, block: AgentMessage, place: int, style: BlockStyle) -> list[Content]:
        """The lines of one part of a message of the agent."""
        part, is_last = block.text_parts.part(place), place == block.text_parts.parts - 1
        lines = self._markdown.lines(part.markdown, style.width - 2)
        if place and not part.opener and _is_after_gap(block, place):
            lines.insert(0, Content(""))
        if is_last and block.progress is MessageProgress.STREAMING:
            lines = self._with_cursor(lines, style.width - 2)
        if is_last:
            lines += [Content.styled(f"[{one_line(name, 80)}]", FAINT) for name in block.extras]
        return self._barred(lines, "agent")

    # Kinds

    def _you(self, block: UserMessage, style: BlockStyle) -> list[Content]:
        lines = [*_text(block.text, style.width - 2), *self._files(block.attachments, style.width - 2)]
        head = Content.styled(one_line(block.who, 40), _TONES["you"])
        return self._barred([self._headed(head, block, style), *lines], "you")

    def _event(self, block: Event, style: BlockStyle) -> list[Content]:
        head = Content.assemble(
            (f"{GLYPHS['event']} {one_line(block.kind, 80)}", _TONES["event"]),
            (f"  {one_line(block.source, 80)}", FAINT),
        )
        lines = Content.styled(one_line(block.about, 600), FAINT).wrap(style.width - 2) if block.about else []
        lines += _text(block.text, style.width - 2)
        if block.details:
            lines += Content.styled(one_line(block.details), FAINT).wrap(style.width - 2)
        lines += self._files(block.attachments, style.width - 2)
        return self._barred([self._headed(head, block, style), *lines], "event")

    def _source_of(self, block: AgentMessage, style: BlockStyle) -> list[Content]:
        who = "agent" if block.role == "assistant" else one_line(block.role, 40)
        head = Content.assemble((who, _TONES["agent"]), (f"  T{block.turn}" if block.turn else "", FAINT))
        if block.progress is not MessageProgress.DONE:
            head += Content.styled(
                f"  {block.progress}", FAINT if block.progress is MessageProgress.STREAMING else "$text-warning"
            )
        return self._barred([self._headed(head, block, style)], "agent")

    def _tool(self, block: ToolCall, style: BlockStyle) -> list[Content]:
        glyph = GLYPHS["open" if style.is_unfolded else "folded"]
        left = Content.assemble(
            (f"{glyph} ", FAINT),
            (one_line(block.name, 80), "bold"),
            (f"({one_line(block.arguments)})", ""),
        )
        is_failed = block.answer is ToolResult.FAILED
        if block.summary and not style.is_unfolded and not is_failed:
            left += Content.styled(f"  {one_line(block.summary, 120)}", FAINT)
        lines = [self._sided(left, self._answer(block, style), style.width)]
        if style.is_unfolded:
            lines += self._output(block, style)
        elif is_failed:
            lines.append(self._cut(Content.styled(f"  {one_line(block.summary)}", "$text-error"), style.width))
        return lines

    def _answer(self, block: ToolCall, style: BlockStyle) -> Content:
        match block.answer:
            case ToolResult.OPEN:
                return Content.styled(f"{GLYPHS['busy']} {duration(style.now - block.at)}", "$text-accent")
            case ToolResult.NONE:
                return Content.styled(f"{GLYPHS['dropped']} no result", "$text-warning")
            case answer:
                glyph, tone = ("completed", "$text-success") if answer is ToolResult.OK else ("failed", "$text-error")
                took = "" if block.microseconds is None else f" {duration(block.microseconds)}"
                return Content.assemble((GLYPHS[glyph], tone), (took, FAINT))

    def _output(self, block: ToolCall, style: BlockStyle) -> list[Content]:
        lines = _text(block.output or "(empty)", style.width - 4)
        left = len(lines) - MOST_LINES
        if left > 0 or block.is_cut:
            more = "more" if block.is_cut else f"{left:,} more lines"
            lines = [
                *lines[:MOST_LINES],
                Content.assemble((f"{GLYPHS['ellipsis']} {more}: ", FAINT), *_keys("{conversation.open} open")),
            ]
        side = Content.styled(f"  {GLYPHS['bar']} ", FAINT)
        return [side + line for line in lines]

    def _steered(self, block: SteeringMessage, style: BlockStyle) -> list[Content]:
        fate = block.fate
        if fate is Fate.DROPPED:
            word, details = "dropped", block.reason
        else:
            word, details = "steered", f"{_FATE_WORDS[fate]} at T{block.landed_turn}"
        head = Content.assemble((f"{GLYPHS[fate]} {word}", _TONES[fate]), (f" · {one_line(details, 120)}", FAINT))
        lines = [self._headed(head, block, style), *_text(block.text, style.width - 2)]
        lines += self._files(block.attachments, style.width - 2)
        if block.can_return:
            lines.append(Content("").join(_keys("{conversation.open} back to the prompt")))
        return self._barred(lines, fate)

    def _artifact(self, block: Artifact, style: BlockStyle) -> list[Content]:
        return self._files((block.file,), style.width)

    def _files(self, files: Sequence[AttachedFile], width: int) -> list[Content]:
        """A line for each file: the name, and on the right type and size."""
        mark = (f"{GLYPHS['mark']} ", "$text-accent")
        return [
            self._sided(
                Content.assemble(mark, (one_line(file.name, 120), "bold")),
                Content.styled(one_line(file.about, 80), FAINT),
                width,
            )
            for file in files
        ]

    def _note(self, block: Note, style: BlockStyle) -> list[Content]:
        tone = _TONES["warning"] if block.is_warning else FAINT
        count = f" (×{block.count:,})" if block.count > 1 else ""
        lines = Content.styled(one_line(block.text, 600) + count, tone).wrap(style.width - 2)
        sign = GLYPHS[block.glyph] if block.glyph else "!" if block.is_warning else "?"
        return [Content.styled(f"{' ' if place else sign} ", tone) + line for place, line in enumerate(lines)]

    def _end(self, block: RunEnd, style: BlockStyle) -> list[Content]:
        words = Content.styled(f"{GLYPHS[block.state]} {one_line(block.words, 120)}", _TONES[block.state])
        line = words + Content.styled("".join(f" · {one_line(text)}" for text in block.details) + " ", FAINT)
        rest = style.width - line.cell_length
        return [line + Content.styled(GLYPHS["dots"] * rest, FAINT)] if rest >= 0 else line.wrap(style.width)

    def _failure(self, block: RunFailure, style: BlockStyle) -> list[Content]:
        head = Content.styled(f"{GLYPHS[block.state]} {one_line(block.words, 120)}", _TONES[block.state])
        lines = [self._headed(head, block, style)]
        if block.error and not (block.lines and block.error in block.lines[-1]):
            lines += Content.styled(one_line(block.error, 600), "$text-error").wrap(style.width - 2)
        traced = block.traced if style.is_unfolded else block.lines
        last = len(traced) - 1
        for place, line in enumerate(traced):
            text = Content.styled(one_line(line), "$text-error" if place == last else FAINT)
            lines.append(self._cut(text, style.width - 2))
        full = "full" if unfolds(block) and not style.is_unfolded else "open"
        lines.append(
            Content("").join(
                _keys(f"{{conversation.open}} {full}  {{conversation.retry}} retry  {{conversation.copy}} copy")
            )
        )
        return self._barred(lines, Status.FAILED)

    # Lines

    def _headed(self, left: Content, block: Block, style: BlockStyle) -> Content:
        """The head of a block, with the entry and the time since the run began on the right."""
        when = "" if block.since is None else clock(block.since)
        width = style.width - 2
        for right in (f"#{block.position}  {when}" if block.turn else "", when):
            if left.cell_length + len(right) + 2 <= width:
                return self._sided(left, Content.styled(right, FAINT), width)
        return self._cut(left, width)

    def _sided(self, left: Content, right: Content, width: int) -> Content:
        """Two texts on one line; the left one is cut if needed."""
        left = self._cut(left, max(8, width - right.cell_length - 2))
        return left + " " * max(2, width - left.cell_length - right.cell_length) + right

    def _cut(self, line: Content, width: int) -> Content:
        return (
            line.truncate(width - 1) + Content.styled(GLYPHS["ellipsis"], FAINT) if line.cell_length > width else line
        )

    def _barred(self, lines: Sequence[Content], kind: str) -> list[Content]:
        bar = Content.styled(f"{GLYPHS['bar']} ", _BARS[kind])
        return [bar + line for line in lines]

    def _with_cursor(self, lines: list[Content], width: int) -> list[Content]:
        cursor = Content.styled(GLYPHS["typing"], "$text-secondary")
        if lines and lines[-1].cell_length < width:
            return [*lines[:-1], lines[-1] + cursor]
        return [*lines, cursor]


def unfolds(block: Block | None) -> bool:
    """Whether a block can be unfolded."""
    return isinstance(block, ToolCall) or (isinstance(block, RunFailure) and len(block.traced) > len(block.lines))


def clock(microseconds: int) -> str:
    """Time since the run began: `00:14.2`, `1:02:03`."""
    tenths = max(0, microseconds) // 100_000
    minutes, tenths = divmod(tenths, 600)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{tenths // 10:02}"
    return f"{minutes:02}:{tenths // 10:02}.{tenths % 10}"


def _text(text: str, width: int) -> list[Content]:
    """Plain text wrapped to the width."""
    if not text:
        return []
    shown = safe(text[:MAX_BLOCK_CHARS]) + ("…" if len(text) > MAX_BLOCK_CHARS else "")
    return Content(shown.rstrip("\n")).wrap(width)


def _keys(words: str) -> list[Content]:
    """Key hints from a template such as `{conversation.open} open  {conversation.retry} retry`."""
    parts: list[Content] = []
    for each in with_keys(words).split("  "):
        key, _, does = each.partition(" ")
        parts += [
            Content.styled("  " if parts else "", FAINT),
            Content.styled(key, _KEY),
            Content.styled(f" {does}", FAINT),
        ]
    return parts


def _is_after_gap(block: AgentMessage, place: int) -> bool:
    """Whether the part above ends with a blank line."""
    ending = block.text_parts.part(place - 1).text.rsplit("\n", 2)
    return len(ending) > 1 and not ending[-2].strip()
