"""Finds turns and matches among the entries of a run."""

from console.model.stream.filter import FilterProgress
from console.model.stream.index import SIZE, NotRead, Window, number_of


def turn_of(window: Window, position: int) -> int:
    """The turn that an entry belongs to."""
    chunk = window.chunk(number_of(position))
    return chunk.turns[min(position - chunk.first, chunk.known - 1)]


def turn_start(window: Window, turn: int) -> int | None:
    """The first position of a turn or of a later one, or None.

    Turns only rise, so this is a binary search: a run of a million entries takes nine steps.
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


def match_after(window: Window, progress: FilterProgress, position: int) -> int | None:
    """The next match of a filter."""
    for number in range(position // SIZE, window.last_number + 1):
        place = _matches(window, progress, number).find(1, max(0, position - number * SIZE))
        if place >= 0:
            return number * SIZE + 1 + place
    return None


def match_before(window: Window, progress: FilterProgress, position: int) -> int | None:
    """The previous match of a filter."""
    for number in range(number_of(min(position - 1, window.last)), -1, -1):
        place = _matches(window, progress, number).rfind(1, 0, max(0, position - number * SIZE - 1))
        if place >= 0:
            return number * SIZE + 1 + place
    return None


def _matches(window: Window, progress: FilterProgress, number: int) -> bytes:
    mask = progress.decided.get(number)
    if mask is not None:
        return mask
    if progress.unfound(number):
        window.needs[number] = None
        raise NotRead(number)
    chunk = window.chunk(number)
    return progress.mask(chunk, 0, chunk.known)
