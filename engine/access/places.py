"""A run's own place, and what belongs to it."""

from collections.abc import Callable

from engine.facts.cursors import CursorForeign, CursorRefused
from engine.facts.rows import Place
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun


def place_of_run(run: LiveRun) -> Place:
    """Where the run's event was said, as it was frozen."""
    grants = run.order.grants
    return Place(grants.conversation_id, grants.thread_id, grants.bot_id, grants.workspace_id)


def position_in(read: Callable[[Place, str], int], place: Place, cursor: str | None) -> int | None:
    """The position that a cursor stands for; one of another conversation opens nothing."""
    if cursor is None:
        return None
    try:
        return read(place, cursor)
    except CursorForeign as error:
        raise AgentAPIException.of(ErrorCode.UNAUTHORIZED, str(error)) from None
    except CursorRefused as error:
        raise AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, str(error)) from None


def check_place(run: LiveRun, what: str, place: Place, *, run_id: str | None) -> None:
    """A run reads its own conversation, thread, bot and workspace; without a conversation, only what is its own."""
    own = place_of_run(run)
    if own.conversation_id is None and run_id != run.order.run_id:
        raise AgentAPIException.of(ErrorCode.UNAUTHORIZED, f"{what} is not of this run")
    if place != own:
        raise AgentAPIException.of(ErrorCode.UNAUTHORIZED, f"{what} is not of this run's conversation")
