"""Pages with cursors, the same for every call that returns pages."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from engine.store.async_reader import CutList

T = TypeVar("T")
MAX_PAGE_ITEMS: Final = 100
MAX_PAGE_CHARACTERS: Final = 2 << 20
"""A page of larger items has fewer of them, but at least one, and says that there are more."""
Limit = Annotated[int, Field(ge=1)]
"""More than 100 is reduced to 100; less than 1 is an error."""


def clamp_limit(limit: int) -> int:
    return min(limit, MAX_PAGE_ITEMS)


def build_page(found: Sequence[T], limit: int, item: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """Build a page from up to `limit + 1` rows; the last one, or that they were cut, only shows that there are more."""
    items = [item(row) for row in found[:limit]]
    has_more = len(found) > limit or isinstance(found, CutList)
    return {
        "items": items,
        "next_cursor": items[-1]["cursor"] if has_more and items else None,
        "prev_cursor": items[0]["cursor"] if items else None,
        "has_more": has_more,
        "total_count": None,
    }
