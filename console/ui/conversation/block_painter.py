"""Draws blocks as lines, for `RowCache`: a head, and the text of a message part by part.

Markdown is laid out by `MarkdownLayout`.
"""

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
from console.model.text.units import duration, number
from engine.events import Fate, Status

if TYPE_CHECKING:
    from console.ui.conversation.markdown import MarkdownLayout

MAX_TEXT_COLUMNS: Final = 100
"""Longer lines are hard to read."""
MAX_OUTPUT_LINES: Final = 24
"""Lines of a tool result that an unfolded block shows."""
MAX_BLOCK_CHARS: Final = 20_000
"""Characters of a user message that are shown; Stream has all of it."""
MAX_BLOCK_LINES: Final = 1_000
"""Lines of it that are shown."""
MUTED: Final = "$foreground-muted"
_KEY_STYLE: Final = "bold $text-accent"
_HEAD_STYLES: Final[Mapping[str, str]] = {
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
_BAR_COLOURS: Final[Mapping[str, str]] = {
    "you": "$primary",
    "agent": "$text-secondary",
    "event": "$accent",
    Status.FAILED: "$error",
    Fate.PULLED: "$accent",
    Fate.INJECTED: "$success",
    Fate.DROPPED: "$error",
}


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """The values, besides the block, that its lines depend on."""

    width: int
    """Columns."""
    now: int
    """Microseconds of the clock, for the durations of open tool calls."""
    is_unfolded: bool = False


class BlockPainter:
    """Draws blocks. All text of runners and users is made safe here."""

    def __init__(self) -> None:
        self._painters: dict[type[Block], Callable[[Any, DrawOptions], list[Content]]] = {
            UserMessage: self._user_message,
            Event: self._event,
            AgentMessage: self._agent_message,
            ToolCall: self._tool_call,
            SteeringMessage: self._steering_message,
            Artifact: self._artifact,
            Note: self._note,
            RunEnd: self._run_end,
            RunFailure: self._run_failure,
        }

    def head(self, block: Block, options: DrawOptions) -> list[Content]:
        """All lines of a block except the text of an agent's message."""
        return self._painters[type(block)](block, options)

    @cached_property
    def _markdown(self) -> "MarkdownLayout":
        # The first frame has no Markdown and must not wait for its import.
        from console.ui.conversation.markdown import MarkdownLayout  # noqa: PLC0415

        return MarkdownLayout()

    def part(self, block: AgentMessage, index: int, options: DrawOptions) -> list[Content]:
        """The lines of one part of an agent's message."""
        part, is_last = block.text_parts.part(index), index == block.text_parts.count - 1
        lines = self._markdown.lines(part.markdown, options.width - 2)
        if index and not part.opener and _is_after_blank_line(block, index):
            lines.insert(0, Content(""))
        if is_last and block.progress is MessageProgress.STREAMING:
            lines = self._with_cursor(lines, options.width - 2)
        if is_last:
            lines += [Content.styled(f"[{one_line(name, 80)}]", MUTED) for name in block.extras]
        return self._with_bar(lines, "agent")

    # One method per kind of block

    def _user_message(self, block: UserMessage, options: DrawOptions) -> list[Content]:
        lines = [*_wrap(block.text, options.width - 2), *self._files(block.attachments, options.width - 2)]
        head = Content.styled(one_line(block.author, 40), _HEAD_STYLES["you"])
        return self._with_bar([self._head_line(head, block, options), *lines], "you")

    def _event(self, block: Event, options: DrawOptions) -> list[Content]:
        head = Content.assemble(
            (f"{GLYPHS['event']} {one_line(block.kind, 80)}", _HEAD_STYLES["event"]),
            (f"  {one_line(block.source, 80)}", MUTED),
        )
        about = block.actor_and_subject
        lines = Content.styled(one_line(about, 600), MUTED).wrap(options.width - 2) if about else []
        lines += _wrap(block.text, options.width - 2)
        if block.details:
            lines += Content.styled(one_line(block.details), MUTED).wrap(options.width - 2)
        lines += self._files(block.attachments, options.width - 2)
        return self._with_bar([self._head_line(head, block, options), *lines], "event")

    def _agent_message(self, block: AgentMessage, options: DrawOptions) -> list[Content]:
        who = "agent" if block.role == "assistant" else one_line(block.role, 40)
        head = Content.assemble((who, _HEAD_STYLES["agent"]), (f"  T{block.turn}" if block.turn else "", MUTED))
        if block.progress is not MessageProgress.DONE:
            head += Content.styled(
                f"  {block.progress}", MUTED if block.progress is MessageProgress.STREAMING else "$text-warning"
            )
        return self._with_bar([self._head_line(head, block, options)], "agent")

    def _tool_call(self, block: ToolCall, options: DrawOptions) -> list[Content]:
        glyph = GLYPHS["open" if options.is_unfolded else "folded"]
        left = Content.assemble(
            (f"{glyph} ", MUTED),
            (one_line(block.name, 80), "bold"),
            (f"({one_line(block.arguments)})", ""),
        )
        is_failed = block.result is ToolResult.FAILED
        if block.summary and not options.is_unfolded and not is_failed:
            left += Content.styled(f"  {one_line(block.summary, 120)}", MUTED)
        lines = [self._two_sided(left, self._result(block, options), options.width)]
        if options.is_unfolded:
            lines += self._output(block, options)
        elif is_failed:
            lines.append(self._truncate(Content.styled(f"  {one_line(block.summary)}", "$text-error"), options.width))
        return lines

    def _result(self, block: ToolCall, options: DrawOptions) -> Content:
        match block.result:
            case ToolResult.OPEN:
                return Content.styled(f"{GLYPHS['busy']} {duration(options.now - block.at)}", "$text-accent")
            case ToolResult.NONE:
                return Content.styled(f"{GLYPHS['dropped']} no result", "$text-warning")
            case result:
                glyph, style = ("completed", "$text-success") if result is ToolResult.OK else ("failed", "$text-error")
                took = "" if block.microseconds is None else f" {duration(block.microseconds)}"
                return Content.assemble((GLYPHS[glyph], style), (took, MUTED))

    def _output(self, block: ToolCall, options: DrawOptions) -> list[Content]:
        lines = _wrap(block.output or "(empty)", options.width - 4)
        left = len(lines) - MAX_OUTPUT_LINES
        if left > 0 or block.is_cut:
            more = "more" if block.is_cut else number(left, "more line")
            lines = [
                *lines[:MAX_OUTPUT_LINES],
                Content.assemble((f"{GLYPHS['ellipsis']} {more}: ", MUTED), *_key_hints("{conversation.open} open")),
            ]
        side = Content.styled(f"  {GLYPHS['bar']} ", MUTED)
        return [side + line for line in lines]

    def _steering_message(self, block: SteeringMessage, options: DrawOptions) -> list[Content]:
        fate = block.fate
        if fate is Fate.DROPPED:
            word, details = "dropped", block.reason
        else:
            word, details = "steered", f"{_FATE_WORDS[fate]} at T{block.fate_turn}"
        head = Content.assemble((f"{GLYPHS[fate]} {word}", _HEAD_STYLES[fate]), (f" · {one_line(details, 120)}", MUTED))
        lines = [self._head_line(head, block, options), *_wrap(block.text, options.width - 2)]
        lines += self._files(block.attachments, options.width - 2)
        if block.can_take_back:
            lines.append(Content("").join(_key_hints("{conversation.open} back to the prompt")))
        return self._with_bar(lines, fate)

    def _artifact(self, block: Artifact, options: DrawOptions) -> list[Content]:
        return self._files((block.file,), options.width)

    def _files(self, files: Sequence[AttachedFile], width: int) -> list[Content]:
        """A line for each file: the name, and on the right type and size."""
        mark = (f"{GLYPHS['mark']} ", "$text-accent")
        return [
            self._two_sided(
                Content.assemble(mark, (one_line(file.name, 120), "bold")),
                Content.styled(one_line(file.type_and_size, 80), MUTED),
                width,
            )
            for file in files
        ]

    def _note(self, block: Note, options: DrawOptions) -> list[Content]:
        text_style = _HEAD_STYLES["warning"] if block.is_warning else MUTED
        count = f" (×{block.count:,})" if block.count > 1 else ""
        lines = Content.styled(one_line(block.text, 600) + count, text_style).wrap(options.width - 2)
        sign = GLYPHS[block.glyph] if block.glyph else "!" if block.is_warning else "?"
        return [Content.styled(f"{' ' if index else sign} ", text_style) + line for index, line in enumerate(lines)]

    def _run_end(self, block: RunEnd, options: DrawOptions) -> list[Content]:
        words = Content.styled(f"{GLYPHS[block.state]} {one_line(block.words, 120)}", _HEAD_STYLES[block.state])
        line = words + Content.styled("".join(f" · {one_line(text)}" for text in block.details) + " ", MUTED)
        rest = options.width - line.cell_length
        return [line + Content.styled(GLYPHS["dots"] * rest, MUTED)] if rest >= 0 else line.wrap(options.width)

    def _run_failure(self, block: RunFailure, options: DrawOptions) -> list[Content]:
        head = Content.styled(f"{GLYPHS[block.state]} {one_line(block.words, 120)}", _HEAD_STYLES[block.state])
        lines = [self._head_line(head, block, options)]
        if block.error and not (block.last_lines and block.error in block.last_lines[-1]):
            lines += Content.styled(one_line(block.error, 600), "$text-error").wrap(options.width - 2)
        shown = block.traceback_lines if options.is_unfolded else block.last_lines
        last = len(shown) - 1
        for index, line in enumerate(shown):
            text = Content.styled(one_line(line), "$text-error" if index == last else MUTED)
            lines.append(self._truncate(text, options.width - 2))
        full = "full" if can_unfold(block) and not options.is_unfolded else "open"
        lines.append(
            Content("").join(
                _key_hints(f"{{conversation.open}} {full}  {{conversation.retry}} retry  {{conversation.copy}} copy")
            )
        )
        return self._with_bar(lines, Status.FAILED)

    # Lines

    def _head_line(self, left: Content, block: Block, options: DrawOptions) -> Content:
        """The head of a block, with the entry and the time since the run started on the right."""
        when = "" if block.since is None else elapsed(block.since)
        width = options.width - 2
        for right in (f"#{block.position}  {when}" if block.turn else "", when):
            if left.cell_length + len(right) + 2 <= width:
                return self._two_sided(left, Content.styled(right, MUTED), width)
        return self._truncate(left, width)

    def _two_sided(self, left: Content, right: Content, width: int) -> Content:
        """Two texts on one line; the left one is cut if needed."""
        left = self._truncate(left, max(8, width - right.cell_length - 2))
        return left + " " * max(2, width - left.cell_length - right.cell_length) + right

    def _truncate(self, line: Content, width: int) -> Content:
        return (
            line.truncate(width - 1) + Content.styled(GLYPHS["ellipsis"], MUTED) if line.cell_length > width else line
        )

    def _with_bar(self, lines: Sequence[Content], kind: str) -> list[Content]:
        bar = Content.styled(f"{GLYPHS['bar']} ", _BAR_COLOURS[kind])
        return [bar + line for line in lines]

    def _with_cursor(self, lines: list[Content], width: int) -> list[Content]:
        cursor = Content.styled(GLYPHS["typing"], "$text-secondary")
        if lines and lines[-1].cell_length < width:
            return [*lines[:-1], lines[-1] + cursor]
        return [*lines, cursor]


def can_unfold(block: Block | None) -> bool:
    return isinstance(block, ToolCall) or (
        isinstance(block, RunFailure) and len(block.traceback_lines) > len(block.last_lines)
    )


def elapsed(microseconds: int) -> str:
    """Time since the run started: `00:14.2`, `1:02:03`."""
    tenths = max(0, microseconds) // 100_000
    minutes, tenths = divmod(tenths, 600)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{tenths // 10:02}"
    return f"{minutes:02}:{tenths // 10:02}.{tenths % 10}"


def _wrap(text: str, width: int) -> list[Content]:
    """Plain text wrapped to the width."""
    if not text:
        return []
    shown = safe(text[:MAX_BLOCK_CHARS])
    lines = shown[:MAX_BLOCK_CHARS].rstrip("\n").split("\n", MAX_BLOCK_LINES)
    is_cut = len(text) > MAX_BLOCK_CHARS or len(shown) > MAX_BLOCK_CHARS or len(lines) > MAX_BLOCK_LINES
    return Content("\n".join(lines[:MAX_BLOCK_LINES]) + ("…" if is_cut else "")).wrap(width)


def _key_hints(words: str) -> list[Content]:
    """Key hints from a template such as `{conversation.open} open  {conversation.retry} retry`."""
    parts: list[Content] = []
    for each in with_keys(words).split("  "):
        key, _, does = each.partition(" ")
        parts += [
            Content.styled("  " if parts else "", MUTED),
            Content.styled(key, _KEY_STYLE),
            Content.styled(f" {does}", MUTED),
        ]
    return parts


def _is_after_blank_line(block: AgentMessage, index: int) -> bool:
    """Whether the part above ends with a blank line."""
    ending = block.text_parts.part(index - 1).text.rsplit("\n", 2)
    return len(ending) > 1 and not ending[-2].strip()
