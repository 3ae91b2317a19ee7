"""The runner's own numbering of its results: a claim that is checked, never waited for."""

from typing import Final

_MOST_GAPS: Final = 1_000


class Sequence:
    """Tells a repeat from a gap in bounded memory.

    What was skipped is kept as ranges. A range forgotten because there were too many counts as skipped, so a late
    result is applied with a warning rather than lost.
    """

    def __init__(self) -> None:
        self._highest = 0
        self._skipped: list[tuple[int, int]] = []
        self._forgotten_below = 0

    def note(self, claim: object) -> tuple[bool, str | None]:
        """Whether this result is a repeat, and what is odd about its number."""
        if claim is None:
            return False, None
        if not isinstance(claim, int) or isinstance(claim, bool):
            return False, f"sequence {claim!r:.40} is not an integer"
        if claim < 1:
            return False, f"sequence {claim} is not positive"
        if claim > self._highest:
            return False, self._advance(claim)
        if claim < self._forgotten_below or self._take_skipped(claim):
            return False, f"sequence {claim} came after {self._highest}"
        return True, f"sequence {claim} was seen before"

    def _advance(self, claim: int) -> str | None:
        expected = self._highest + 1
        self._highest = claim
        if claim == expected:
            return None
        self._skipped.append((expected, claim - 1))
        if len(self._skipped) > _MOST_GAPS:
            self._forgotten_below = self._skipped.pop(0)[1] + 1
        return f"sequence {claim} where {expected} was due"

    def _take_skipped(self, claim: int) -> bool:
        for index, (first, last) in enumerate(self._skipped):
            if first <= claim <= last:
                self._skipped[index : index + 1] = [
                    part for part in ((first, claim - 1), (claim + 1, last)) if part[0] <= part[1]
                ]
                return True
        return False
