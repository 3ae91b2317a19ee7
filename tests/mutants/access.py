"""Mutants of the call server, its limits, and the journal of a call."""

from typing import Final

from tests.mutants.mutant import Mutant

_SERVER: Final = "engine/access/server.py"
_SERVED: Final = "engine/access/served_call.py"
_RECORDER: Final = "engine/journal/recorder.py"
_ATTACK: Final = "tests/engine/access/test_attacks.py::test_attack_is_refused_and_recorded_and_changes_nothing"
_ATTACKS: Final = "tests/engine/access/test_attacks.py"
_CALLS: Final = "tests/engine/access/test_calls.py"
_GUARDS: Final = "tests/engine/access/test_guards.py"
_STOPPED: Final = f"{_ATTACKS}::test_stopped_run_has_its_call_interrupted_and_may_only_call_run_get"
_RATE_LIMIT: Final = f"{_CALLS}::test_rate_limit_is_2_000_calls_per_second_and_refills_over_time"
_IN_FLIGHT: Final = f"{_CALLS}::test_at_most_128_calls_are_in_flight_and_finished_calls_make_room"

MUTANTS: Final = (
    # The calling run
    Mutant(
        _SERVER,
        "if run.has_ended:\n            return _RefusedCall(RUN_ENDED)",
        "if run.has_ended and run.final_result is not None:\n            return _RefusedCall(RUN_ENDED)",
        "calls after the end of a run are refused",
        f"{_ATTACKS}::test_calls_after_the_end_of_the_run_are_refused_and_not_recorded",
    ),
    Mutant(
        _SERVER,
        "if run.final_result is not None:\n            return RUN_ENDED",
        "if run.final_result is not None and name != ALLOWED_WHILE_STOPPING:\n            return RUN_ENDED",
        "calls after the terminal result are refused",
        f"{_ATTACKS}::test_calls_after_the_terminal_result_are_refused",
    ),
    Mutant(
        _SERVER,
        "if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:",
        'if run.stop_reason == "host" and name != ALLOWED_WHILE_STOPPING:',
        "a run that is being stopped may only call run_get",
        _STOPPED,
    ),
    Mutant(
        _SERVER,
        "if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:",
        "if run.stop_reason is not None:",
        "run_get is answered while a run is being stopped",
        _STOPPED,
    ),
    Mutant(
        _SERVER,
        'if data.get("run_id") != run.order.run_id:',
        'if data.get("run_id", run.order.run_id) != run.order.run_id:',
        "a call must have its run id",
        f"{_ATTACK}[no run id]",
    ),
    Mutant(
        _SERVER,
        'if data.get("run_id") != run.order.run_id:',
        'if data.get("run_id") is None:',
        "a call with the id of another run is refused",
        f"{_ATTACKS}::test_id_of_another_live_run_is_refused",
    ),
    # Identity of the caller
    Mutant(
        _SERVER,
        'IDENTITY_FIELDS: Final = ("plugin_identity", "caller_plugin_identity")',
        'IDENTITY_FIELDS: Final = ("caller_plugin_identity",)',
        "a foreign plugin_identity is refused",
        f"{_ATTACK}[plugin identity 'local/other' as plugin_identity]",
    ),
    Mutant(
        _SERVER,
        'IDENTITY_FIELDS: Final = ("plugin_identity", "caller_plugin_identity")',
        'IDENTITY_FIELDS: Final = ("plugin_identity",)',
        "a foreign caller_plugin_identity is refused",
        f"{_ATTACK}[plugin identity 'local/other' as caller_plugin_identity]",
    ),
    Mutant(
        _SERVER,
        "if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY_FIELDS):",
        "if any(data.get(key) not in (None, run.order.grants.plugin) for key in IDENTITY_FIELDS):",
        "a null plugin identity is refused",
        f"{_ATTACK}[plugin identity None as plugin_identity]",
    ),
    Mutant(
        _SERVER,
        "if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY_FIELDS):",
        "if any(key in data and not data[key] for key in IDENTITY_FIELDS):",
        "the identity of a caller is that of its connection",
        f"{_ATTACK}[plugin identity 'local/other' as plugin_identity]",
    ),
    Mutant(
        _SERVER,
        'if key != "run_id" and key not in IDENTITY_FIELDS}',
        'if key != "run_id"}',
        "a call may name its own plugin identity",
        f"{_GUARDS}::test_call_may_name_its_own_plugin_identity",
    ),
    # Limits
    Mutant(
        "engine/access/rate_limit.py",
        "if self._tokens < 1:",
        "if self._tokens < 0:",
        "a run may make at most 2,000 calls per second",
        _RATE_LIMIT,
    ),
    Mutant(
        "engine/access/rate_limit.py",
        "min(MAX_CALLS_PER_SECOND, self._tokens + (now - self._filled_at) * MAX_CALLS_PER_SECOND)",
        "self._tokens + (now - self._filled_at) * MAX_CALLS_PER_SECOND",
        "unused calls do not accumulate beyond one second",
        _RATE_LIMIT,
    ),
    Mutant(
        "engine/access/rate_limit.py",
        "if self.in_flight >= MAX_CALLS_IN_FLIGHT:",
        "if self.in_flight > MAX_CALLS_IN_FLIGHT:",
        "at most 128 calls are in flight",
        _IN_FLIGHT,
    ),
    Mutant(
        _SERVED,
        "self._rate_limit.in_flight -= 1",
        "self._rate_limit.in_flight -= 0",
        "an answered call is no longer in flight",
        _IN_FLIGHT,
    ),
    Mutant(
        _SERVED,
        "        rate_limit.in_flight += 1\n",
        "        rate_limit.in_flight += not call.call_type.name.endswith('stream')\n",
        "a stream counts as in flight until it ends",
        f"{_GUARDS}::test_streams_count_as_in_flight_until_they_end",
    ),
    Mutant(
        "engine/runtimes/inprocess.py",
        "            raise\n        finally:\n            call.close()",
        "            raise\n        finally:\n            call.close() if action == 'x' else None",
        "an ended stream is no longer in flight",
        f"{_GUARDS}::test_streams_count_as_in_flight_until_they_end",
    ),
    Mutant(
        "engine/access/call.py",
        "retryable = self.code is ErrorCode.RATE_LIMITED",
        "retryable = self.code is ErrorCode.CANCELLED",
        "the refusal of a call over the limit is retryable",
        _IN_FLIGHT,
    ),
    # Calls and arguments
    Mutant(
        "engine/access/call.py",
        'ConfigDict(extra="forbid", strict=True',
        'ConfigDict(extra="ignore", strict=True',
        "an unknown argument is refused",
        f"{_ATTACK}[unknown argument]",
    ),
    Mutant(
        "engine/access/call.py",
        "strict=True, frozen=True",
        "strict=False, frozen=True",
        "a number given as text is refused",
        f"{_ATTACK}[history_page with {{'limit': '10'}}]",
    ),
    Mutant(
        _SERVER,
        'is not a call of this host", ErrorCode.NOT_FOUND',
        'is not a call of this host", ErrorCode.INVALID_ARGUMENT',
        "an unknown call is not found",
        f"{_ATTACK}[unknown call]",
    ),
    # The journal
    Mutant(
        _SERVED,
        '"allowed": decision.allowed, "clause": decision.clause}',
        '"allowed": decision.allowed}',
        "a decision is recorded with the clause that decided it",
        f"{_CALLS}::test_call_decision_and_reply_are_recorded_in_this_order",
    ),
    Mutant(
        _SERVED,
        "data, outcome=Outcome.REFUSED, reason=decision.clause)",
        "data)",
        "a refusal is recorded as refused",
        f"{_ATTACK}[conversation by id]",
    ),
    Mutant(
        _SERVED,
        "record_decision(run, self._call.call_id, refusal.decision)",
        "record_decision(run, self._call.call_id, Decision(True, ''))",
        "a refusal by the handler is recorded as the decision",
        f"{_ATTACK}[thread by cursor]",
    ),
    Mutant(
        _SERVED,
        "if self._call.call_type.leaves_host:",
        "if self._call.call_type.leaves_host is None:",
        "a model call is committed before it is made",
        f"{_GUARDS}::test_nothing_leaves_the_host_before_the_call_is_in_the_journal[invoke_llm]",
    ),
    Mutant(
        _RECORDER,
        "MAX_ENTRY_PART_BYTES: Final = 32 * 1024",
        "MAX_ENTRY_PART_BYTES: Final = 64 * 1024",
        "large requests and replies are stored by reference",
        f"{_CALLS}::test_a_large_request_and_a_large_reply_are_kept_by_reference",
    ),
    Mutant(
        _SERVED,
        "if len(text) > MAX_REPLY_BYTES:",
        "if len(text) > 2 * MAX_REPLY_BYTES:",
        "a reply too large for a frame is refused",
        f"{_CALLS}::test_reply_too_large_for_a_frame_fails_as_payload_too_large",
    ),
    Mutant(
        _RECORDER,
        "return self._size + self.parts.stored_bytes > JOURNAL_LIMIT",
        "return self._size > JOURNAL_LIMIT",
        "data stored by reference counts for the journal's limit",
        f"{_CALLS}::test_data_stored_by_reference_counts_for_the_journals_limit",
    ),
    Mutant(
        _RECORDER,
        "covered = {name: self.cover(part.decode()).encode() for name, part in large.items()}",
        "covered = {name: part for name, part in large.items()}",
        "secrets are masked in large replies",
        f"{_CALLS}::test_secrets_are_masked_in_recorded_calls_and_reach_the_resource",
    ),
    Mutant(
        _RECORDER,
        "written = self._marks.cover(text if text is not None else orjson.dumps(data).decode())",
        "written = text if text is not None else orjson.dumps(data).decode()",
        "secrets are masked in calls",
        f"{_CALLS}::test_secrets_are_masked_in_recorded_calls_and_reach_the_resource",
    ),
)
