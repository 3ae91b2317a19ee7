"""The Output tab: lines that the runner printed."""

from collections.abc import Iterator, Sequence

from console.model.inspector.data import OutputData, OutputLine
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import safe
from console.ui.inspector.tab import Tab
from engine.events import EntryKind

_STREAMS = {"stdout": ("out", "faint"), "stderr": ("err", "warn"), "traceback": ("tb ", "bad"), "cut": ("cut", "warn")}
_LONGEST = 2_000
"""Characters of one line that are shown; copies have all of it."""


class OutputTab(Tab[OutputData]):
    """Output lines with their stream; follows the end while the cursor is on the last line."""

    id = "output"
    name = "Output"
    short = "Out"
    empty = "Send a message: the output of the runner is shown here."
    updated_by = (EntryKind.OUTPUT, EntryKind.RUN_FINISHED)
    follows = True

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[tuple[str, int], Sequence[Source]] = {}
        """Rows of lines that are already shown: output does not change."""

    def rows(self, facts: OutputData) -> Source:
        if not facts.lines:
            where = " in the last entries" if facts.has_earlier else ""
            return Stack([Text(Piece(f"Nothing was printed{where}.", "faint"))])
        parts: list[Source] = []
        if facts.has_earlier:
            parts.append(Text(Piece("There may be earlier lines: kind:output in Stream has them all.", "faint")))
        made = {
            (facts.run_id, printed.position): self._made.get((facts.run_id, printed.position))
            or [*self._lines(printed)]
            for printed in facts.lines
        }
        parts += [source for lines in made.values() for source in lines]
        self._made = made
        return Stack(parts)

    def _lines(self, printed: OutputLine) -> Iterator[Source]:
        mark, tone = _STREAMS.get(printed.stream, (safe(printed.stream[:3]), "faint"))
        body = "bad" if printed.stream == "traceback" else "text"
        for line in printed.text.rstrip("\n").split("\n"):
            shown = safe(line[:_LONGEST]).expandtabs(4)
            if len(line) > _LONGEST:
                shown += f"… {len(line) - _LONGEST:,} more characters"
            yield Text(
                Piece(f"{mark} ", tone), Piece(shown, body), hang=4, jump=printed.position, copy=lambda line=line: line
            )
