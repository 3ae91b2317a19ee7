"""The tab of what the child printed."""

from collections.abc import Iterator, Sequence

from console.model.inspect.facts import OutputFacts, Printed
from console.model.inspect.sheet import Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import safe
from console.widgets.inspector.tab import Tab

_STREAMS = {"stdout": ("out", "faint"), "stderr": ("err", "warn"), "traceback": ("tb ", "bad"), "cut": ("cut", "warn")}
_LONGEST = 2_000
"""Characters of one line that are shown; a copy has all of it."""


class OutputTab(Tab[OutputFacts]):
    """Lines with the stream they came by; the last is in sight as long as one is there."""

    id = "output"
    name = "Output"
    short = "Out"
    empty = "Send something: what the runner prints is shown here."
    hears = ("output", "run.finished")
    follows = True

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[tuple[str, int], Sequence[Source]] = {}
        """Rows of lines that are shown already: what was printed does not change."""

    def rows(self, facts: OutputFacts) -> Source:
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

    def _lines(self, printed: Printed) -> Iterator[Source]:
        mark, tone = _STREAMS.get(printed.stream, (safe(printed.stream[:3]), "faint"))
        body = "bad" if printed.stream == "traceback" else "text"
        for line in printed.text.rstrip("\n").split("\n"):
            shown = safe(line[:_LONGEST]).expandtabs(4)
            if len(line) > _LONGEST:
                shown += f"… {len(line) - _LONGEST:,} more characters"
            yield Text(
                Piece(f"{mark} ", tone), Piece(shown, body), hang=4, jump=printed.position, copy=lambda line=line: line
            )
