"""Requests between processes: their order, their receipts, and what is kept of them."""

from sqlalchemy import Connection

from engine.store import requests
from engine.store.async_reader import run_query


def add(conn: Connection, action: str = "stop", host: str = "host_1") -> int:
    return requests.add(
        conn, host=host, run_id="run_1", action=action, arguments={"text": "walnut"}, sender="process 1", at=5
    )


def test_host_takes_its_own_requests_once_and_in_order(conn: Connection):
    first, foreign, second = add(conn, "steer"), add(conn, host="host_2"), add(conn, "stop")

    assert run_query(conn, requests.is_waiting_query("host_1"))
    taken = requests.take(conn, "host_1", at=7)

    assert [(request.request_id, request.action) for request in taken] == [(first, "steer"), (second, "stop")]
    assert requests.take(conn, "host_1", at=8) == []
    assert not run_query(conn, requests.is_waiting_query("host_1"))
    assert [request.request_id for request in requests.take(conn, "host_2", at=9)] == [foreign]


def test_answer_removes_the_arguments_and_is_given_once(conn: Connection):
    request_id = add(conn)

    requests.answer(conn, request_id, {"run_id": "run_1"}, at=7)
    requests.answer(conn, request_id, {"error": "StoreError"}, at=8)

    (answered,) = run_query(conn, requests.find_query(request_id))
    assert (answered.arguments, answered.receipt, answered.answered_at) == (None, {"run_id": "run_1"}, 7)
    assert requests.unanswered(conn, "host_1") == []


def test_only_old_receipts_are_removed(conn: Connection):
    old, new, unanswered = add(conn), add(conn), add(conn)
    requests.answer(conn, old, {}, at=10)
    requests.answer(conn, new, {}, at=20)

    requests.remove_answered(conn, before=20)

    assert [requests.get(conn, number) is None for number in (old, new, unanswered)] == [True, False, False]
