"""The tab of what was said to a run while it worked."""

from collections.abc import Callable

from console.model.inspect.facts import ReceiptsFacts
from console.model.inspect.receipts import pulling, told
from console.model.inspect.sheet import Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import one_line
from console.widgets.inspector.tab import Tab

_TONES = {"injected": "good", "pulled": "good", "dropped": "bad", "withdrawn": "faint"}


class ReceiptsTab(Tab[ReceiptsFacts]):
    """How the run listens, then each message: where it stands, and its way with the time of each step."""

    id = "receipts"
    name = "Receipts"
    short = "Said"
    empty = "Send something, then type while it works: what became of it is told here."
    hears = ("steering.", "message.", "tool.", "run.")

    def rows(self, facts: ReceiptsFacts) -> Source:
        words, is_odd = pulling(facts.steering, facts.now, facts.ended_at)
        parts: list[Source] = [Text(Piece(one_line(words, 500), "warn" if is_odd else "faint"))]
        for receipt in facts.steering.receipts:
            one = told(receipt, facts.now, facts.position, is_over=facts.ended_at is not None)
            if one is None:
                continue
            tone = _TONES.get(one.word, "warn")
            parts.append(
                Text(
                    Piece(f"{self.glyphs[one.glyph]} {one.word}  ", tone),
                    Piece(one_line(one.text, 400), "text"),
                    below=Piece(" → ".join(one_line(step, 200) for step in one.steps), "faint"),
                    jump=one.jump,
                    copy=_text(receipt.text),
                )
            )
        if len(parts) == 1:
            parts.append(Text(Piece("Nothing was said to it while it worked.", "faint")))
        return Stack(parts)


def _text(text: str | None) -> Callable[[], str]:
    return lambda: text or ""
