"""The Receipts tab: the steering messages of a run."""

from collections.abc import Callable

from console.model.inspector.data import ReceiptsData
from console.model.inspector.receipts import last_pull_words, receipt_words
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.ui.inspector.tab import RESULT_KINDS, RUN_KINDS, Tab
from engine.events import STEERING_KINDS

_TONES = {"delivered": "good", "pulled": "good", "dropped": "bad", "withdrawn": "faint"}
"""Tones by the word of a receipt."""


class ReceiptsTab(Tab[ReceiptsData]):
    """The last pull of the run, then each message with its state and the time of each step."""

    id = "receipts"
    name = "Receipts"
    short = "Said"
    empty = "Send a message while a run is in progress: its receipt is shown here."
    updated_by = (*STEERING_KINDS, *RESULT_KINDS, *RUN_KINDS)

    def rows(self, facts: ReceiptsData) -> Source:
        words, is_odd = last_pull_words(facts.steering, facts.now, facts.ended_at)
        parts: list[Source] = [Text(Piece(one_line(words, 500), "warn" if is_odd else "faint"))]
        for receipt in facts.steering.receipts:
            one = receipt_words(receipt, facts.now, facts.position, is_over=facts.ended_at is not None)
            if one is None:
                continue
            tone = _TONES.get(one.word, "warn")
            parts.append(
                Text(
                    Piece(f"{GLYPHS[one.glyph]} {one.word}  ", tone),
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
