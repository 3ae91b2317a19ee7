"""Checks that a row or cursor belongs to the conversation of the run that asks for it."""

from collections.abc import Callable
from typing import TypeVar

from engine.access.call import CallRefused, Decision
from engine.protocol.errors import ErrorCode
from engine.run.live import LiveRun
from engine.store.cursors import CursorForeign, CursorRefused
from engine.store.row_mapping import ConversationKey

T = TypeVar("T")


def conversation_key_of_run(run: LiveRun) -> ConversationKey:
    """Return the conversation, thread, bot and workspace of a run, from its frozen grants."""
    grants = run.order.grants
    return ConversationKey(grants.conversation_id, grants.thread_id, grants.bot_id, grants.workspace_id)


def read_cursor(read: Callable[[ConversationKey, str], T], place: ConversationKey, cursor: str | None) -> T | None:
    """Return the position of a cursor. Raises CallRefused for a cursor of another conversation or a broken one."""
    if cursor is None:
        return None
    try:
        return read(place, cursor)
    except CursorForeign as error:
        raise CallRefused(Decision(False, str(error))) from None
    except CursorRefused as error:
        raise CallRefused(Decision(False, str(error), ErrorCode.INVALID_ARGUMENT)) from None


def check_ownership(run: LiveRun, kind: str, ident: str, place: ConversationKey, *, run_id: str | None) -> None:
    """Raise CallRefused unless a row is of the run's own conversation; without a conversation, of the run itself."""
    own = conversation_key_of_run(run)
    if own.conversation_id is None and run_id != run.order.run_id:
        raise not_found(kind, ident)
    if place != own:
        raise not_found(kind, ident)


def not_found(kind: str, ident: str) -> CallRefused:
    """Return the refusal for a row that does not exist or belongs to others.

    It is the same for both, in the reply and in the journal, which a runner can read: nobody learns which ids exist.
    """
    return CallRefused(
        Decision(
            False, f"this run can read no {kind} {ident!r:.80}", ErrorCode.NOT_FOUND, resource=f"{kind}:{ident:.80}"
        )
    )
