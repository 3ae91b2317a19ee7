"""Mutants for requests between processes, the activity of runs, and runs that nothing executes."""

from typing import Final

from tests.mutants.mutant import Mutant

_REQUESTS: Final = "tests/engine/queue/test_requests.py::"
_ACTIVITY: Final = "tests/engine/api/test_activity.py::"

MUTANTS: Final = (
    Mutant(
        "engine/store/requests.py",
        "select(requests).where(*is_new).order_by(requests.c.request_id)",
        "select(requests).where(*is_new).order_by(requests.c.request_id.desc())",
        "a host takes requests in order",
        "tests/engine/store/test_requests.py::test_host_takes_its_own_requests_once_and_in_order",
    ),
    Mutant(
        "engine/store/requests.py",
        "receipt=receipt, answered_at=at, arguments=None",
        "receipt=receipt, answered_at=at",
        "the text of a message is removed when its request is answered",
        _REQUESTS + "test_text_of_a_message_is_removed_when_the_request_is_answered",
    ),
    Mutant(
        "engine/queue/request_server.py",
        "Action.STEER: _ActionType(_SteerArguments, RequestedActions.steer)",
        "Action.SET_MODE: _ActionType(_SteerArguments, RequestedActions.steer)",
        "a run of another process can be steered",
        _REQUESTS + "test_reader_steers_a_run_and_gets_the_receipt_of_its_host",
    ),
    Mutant(
        "engine/queue/request_server.py",
        "_ActionType(_EditArguments, RequestedActions.edit)",
        "_ActionType(_EditArguments, RequestedActions.withdraw)",
        "a queued message of another process can be edited",
        _REQUESTS + "test_change_of_a_message_is_made_and_recorded_by_its_host[steering.edited]",
    ),
    Mutant(
        "engine/queue/request_server.py",
        "_ActionType(_ItemArguments, RequestedActions.withdraw)",
        "_ActionType(_ItemArguments, RequestedActions.pause_message)",
        "a queued message of another process can be withdrawn",
        _REQUESTS + "test_change_of_a_message_is_made_and_recorded_by_its_host[steering.withdrawn]",
    ),
    Mutant(
        "engine/queue/request_server.py",
        "Action.STOP: _ActionType(_NoArguments, RequestedActions.stop)",
        "Action.MOVE: _ActionType(_NoArguments, RequestedActions.stop)",
        "a run of another process can be stopped",
        "tests/engine/api/test_processes.py::test_reader_can_cancel_a_run",
    ),
    Mutant(
        "engine/queue/request_server.py",
        "if not self._has_live_run() and rounds % IDLE_ROUNDS:",
        "if not self._has_live_run():",
        "a host without a live run still carries out requests",
        _ACTIVITY + "test_stale_run_of_another_host_is_closed_by_that_host",
    ),
    Mutant(
        "engine/queue/request_sender.py",
        "if host is None or hosts.process_of(tx.connection, host) is None:",
        "if host is None:",
        "the sender finds out by the lock that the host is gone",
        _REQUESTS + "test_message_to_a_host_that_is_gone_waits_here",
    ),
    Mutant(
        "engine/queue/request_sender.py",
        "        requests.remove(tx.connection, request_id)\n        return True",
        "        requests.get(tx.connection, request_id)\n        return True",
        "a request that was not taken is withdrawn",
        _REQUESTS + "test_request_that_a_suspended_host_does_not_take_is_withdrawn",
    ),
    Mutant(
        "engine/queue/requests.py",
        "        if item is not None:\n",
        "        if item is None:\n",
        "what a dead host has done decides the receipt of a taken request",
        _REQUESTS + "test_what_a_dead_host_has_done_decides_the_receipt",
    ),
    Mutant(
        "engine/host.py",
        "        settle_requests(tx, self.host_id, at=now)\n",
        "        settle_requests(tx, self.host_id[:0], at=now)\n",
        "a host that is closed answers the requests that it leaves",
        _REQUESTS + "test_host_that_has_ended_leaves_no_request_unanswered[closed]",
    ),
    Mutant(
        "engine/host.py",
        "    settle_requests(tx, host_id, at=now)\n",
        "    settle_requests(tx, host_id[:0], at=now)\n",
        "recovery answers the requests that a dead host has left",
        _REQUESTS + "test_host_that_has_ended_leaves_no_request_unanswered[killed]",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "return _Accepted(_Acceptance.REFUSED, error=CannotSteer(reason))",
        "pass",
        "a message that the named run cannot claim is refused and not queued",
        _REQUESTS + "test_dropped_message_that_is_refused_elsewhere_can_still_be_sent_again",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "if resend is not None and accepted.acceptance is not _Acceptance.REFUSED:",
        "if resend is not None:",
        "a dropped message that was refused can be sent again",
        _REQUESTS + "test_dropped_message_that_is_refused_elsewhere_can_still_be_sent_again",
    ),
    Mutant(
        "engine/host.py",
        "if runner_id not in (None, live.order.binding.runner_id):",
        "if runner_id is None:",
        "a run receives only messages for its own runner",
        _REQUESTS + "test_message_that_the_run_elsewhere_cannot_claim_waits_here_with_the_reason",
    ),
    Mutant(
        "engine/host.py",
        "now - self._activity_written_at < ACTIVITY_US",
        "now - self._activity_written_at < 0",
        "activity is written at most once a second",
        _ACTIVITY + "test_activity_is_written_once_a_second_for_all_runs_together",
    ),
    Mutant(
        "engine/run/live.py",
        "self.last_activity_at = self._clock.now()",
        "self.last_activity_at = self.started_at",
        "a call is activity",
        _ACTIVITY + "test_results_and_calls_are_activity_and_other_entries_are_not",
    ),
    Mutant(
        "engine/run/live.py",
        "        self.last_activity_at = entry.at\n",
        "        self.last_activity_at = self.started_at\n",
        "a result is activity",
        _ACTIVITY + "test_results_and_calls_are_activity_and_other_entries_are_not",
    ),
    Mutant(
        "engine/host.py",
        "run.active_at <= idle_since and is_executed(run.run_id) is None",
        "run.active_at <= idle_since",
        "a run that is running or paused is never stale",
        _ACTIVITY + "test_paused_run_is_not_stale",
    ),
    Mutant(
        "engine/host.py",
        "if run.active_at <= idle_since and is_executed",
        "if is_executed",
        "a run that was active is not stale",
        _ACTIVITY + "test_stale_run_is_closed_and_a_running_or_paused_one_is_not",
    ),
    Mutant(
        "console/model/prompt/intent.py",
        "cannot_steer = now.is_external or now.is_stopping",
        "cannot_steer = now.is_elsewhere or now.is_stopping",
        "the console steers a run of another process",
        "tests/console/health/test_other_hosts.py"
        "::test_run_of_another_host_is_steered_edited_and_stopped_from_the_console",
    ),
    Mutant(
        "console/cli/steer.py",
        "            return ExitCode.NO\n",
        "            return ExitCode.OK\n",
        "`trackside steer` exits 1 if the message is refused",
        "tests/console/cli/test_steer.py::test_message_that_cannot_be_delivered_is_refused_with_the_reason",
    ),
)
