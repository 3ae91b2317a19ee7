"""Pages of items with cursors, the same for every call that has them."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

T = TypeVar("T")
LONGEST: Final = 100
Limit = Annotated[int, Field(ge=1)]
"""More than 100 is cut to 100; less than 1 is an error."""


def at_most(limit: int) -> int:
    return min(limit, LONGEST)


def page_of(found: Sequence[T], limit: int, item: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """A page from `limit + 1` rows: the one too many only says that there is more."""
    items = [item(row) for row in found[:limit]]
    has_more = len(found) > limit
    return {
        "items": items,
        "next_cursor": items[-1]["cursor"] if has_more and items else None,
        "prev_cursor": items[0]["cursor"] if items else None,
        "has_more": has_more,
        "total_count": None,
    }
