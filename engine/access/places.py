"""A run's own place, and what belongs to it."""

from collections.abc import Callable

from engine.access.action import Decision, Refused
from engine.facts.cursors import CursorForeign, CursorRefused
from engine.facts.rows import Place
from engine.protocol.errors import ErrorCode
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
        raise Refused(Decision(False, str(error))) from None
    except CursorRefused as error:
        raise Refused(Decision(False, str(error), ErrorCode.INVALID_ARGUMENT)) from None


def check_place(run: LiveRun, kind: str, ident: str, place: Place, *, run_id: str | None) -> None:
    """A run reads its own conversation, thread, bot and workspace; without a conversation, only what is its own."""
    own, what, resource = place_of_run(run), f"{kind} {ident!r:.80}", f"{kind}:{ident:.80}"
    if own.conversation_id is None and run_id != run.order.run_id:
        raise Refused(Decision(False, f"{what} is not of this run", resource=resource))
    if place != own:
        raise Refused(Decision(False, f"{what} is not of this run's conversation", resource=resource))
