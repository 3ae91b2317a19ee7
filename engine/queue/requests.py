"""Requests between processes: a process asks the host of a run to steer or stop it, and gets the host's receipt.

The sender writes a row through its own writer. The host takes new rows in order, carries out each as its own user's
action, and writes the receipt into the row. A request that was not taken can be withdrawn; one that was taken is
answered, or settled from the database if the host has died. So a message is claimed once or refused, never both.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection

from engine.store import errors, queue, requests
from engine.store.batch import Transaction
from engine.store.errors import HostGone, StoreError
from engine.store.requests import RequestRow

ReceiptData = dict[str, Any]
"""What the host writes into the row: ids of what was done, or the error. Never the text of a message."""


class Action(StrEnum):
    """What a process can ask of the host of a run."""

    STEER = "steer"
    EDIT = "edit"
    WITHDRAW = "withdraw"
    MOVE = "move"
    PAUSE_MESSAGE = "pause_message"
    RESUME_MESSAGE = "resume_message"
    SET_MODE = "set_mode"
    STOP = "stop"
    CLOSE_STALE = "close_stale"


def settle_requests(tx: Transaction, host_id: str, *, at: int) -> None:
    """Inside the writer: answer the requests that a host has left, because it was closed or has died."""
    for request in requests.unanswered(tx.connection, host_id):
        requests.answer(tx.connection, request.request_id, _left_receipt(tx.connection, request), at=at)


def _left_receipt(conn: Connection, request: RequestRow) -> ReceiptData:
    """Return the receipt of a request that its host has left. Its message may have been claimed before that."""
    if request.action == Action.STEER and request.taken_at is not None:
        envelope = (request.arguments or {}).get("envelope", {})
        item = queue.of_event(conn, str(envelope.get("event_id")), envelope.get("conversation_id"))
        if item is not None:
            return {"item_id": item.item_id, "run_id": item.run_id, "is_repeat": False}
    return error_receipt(host_gone(request.run_id))


_ERRORS: Final[Mapping[str, type[StoreError]]] = {
    error.__name__: error
    for error in (
        errors.AlreadyDecided,
        errors.AlreadyFinal,
        errors.CannotSteer,
        errors.HostGone,
        errors.NotFound,
        errors.OwnedByOtherHost,
        errors.QueueFull,
        errors.SessionDeleted,
        errors.StoreError,
    )
}
"""Errors that a sender raises as the host did. Any other error becomes a StoreError with the same words."""


def error_receipt(error: Exception) -> ReceiptData:
    """Return the receipt of a request that was refused or has failed."""
    name = type(error).__name__
    return {"error": name if name in _ERRORS else StoreError.__name__, "message": str(error)}


def error_of(receipt: Mapping[str, Any]) -> StoreError | None:
    """Return the error that a receipt contains, to be raised by the sender; None if the request was carried out."""
    name = receipt.get("error")
    return None if name is None else _ERRORS.get(str(name), StoreError)(str(receipt.get("message", "")))


def host_gone(run_id: str | None) -> HostGone:
    """Return the error for a request to a host that has ended."""
    return HostGone(
        f"the host is gone: the process that hosted {run_words(run_id)} has ended. "
        "The next `trackside run` or console on this database closes what it left."
    )


def run_words(run_id: str | None) -> str:
    """Return the words for the run that a request is about, or for a message that waits without one."""
    return "the message" if run_id is None else f"run {run_id}"
