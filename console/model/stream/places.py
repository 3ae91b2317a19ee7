"""Places to go in a timeline: turns and matches, wherever they are. What is not in memory raises NotRead."""

from console.model.stream.chunks import SIZE, number_of
from console.model.stream.sieve import Sieve
from console.model.stream.window import NotRead, Window


def turn_of(window: Window, position: int) -> int:
    """The turn that an entry belongs to."""
    chunk = window.chunk(number_of(position))
    return chunk.turns[min(position - chunk.first, chunk.known - 1)]


def turn_start(window: Window, turn: int) -> int | None:
    """The first position of a turn, or of the next after it; none where there is none.

    Turns only rise, so it is found by halves: a run of a million takes nine looks.
    """
    if not window.last:
        return None
    low, high = 0, window.last_number
    while low < high:
        middle = (low + high) // 2
        if window.turns(middle)[1] >= turn:
            high = middle
        else:
            low = middle + 1
    if window.turns(low)[1] < turn:
        return None
    chunk = window.chunk(low)
    return chunk.first + next(offset for offset, each in enumerate(chunk.turns) if each >= turn)


def match_after(window: Window, sieve: Sieve, position: int) -> int | None:
    """The next entry that a filter means."""
    for number in range(position // SIZE, window.last_number + 1):
        place = _matches(window, sieve, number).find(1, max(0, position - number * SIZE))
        if place >= 0:
            return number * SIZE + 1 + place
    return None


def match_before(window: Window, sieve: Sieve, position: int) -> int | None:
    """The entry before that a filter means."""
    for number in range(number_of(min(position - 1, window.last)), -1, -1):
        place = _matches(window, sieve, number).rfind(1, 0, max(0, position - number * SIZE - 1))
        if place >= 0:
            return number * SIZE + 1 + place
    return None


def _matches(window: Window, sieve: Sieve, number: int) -> bytes:
    mask = sieve.decided.get(number)
    if mask is not None:
        return mask
    if sieve.unfound(number):
        window.needs[number] = None
        raise NotRead(number)
    chunk = window.chunk(number)
    return sieve.mask(chunk, 0, chunk.known)
