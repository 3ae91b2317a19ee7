"""Mutants of the call server, its limits, and the journal of a call."""

from typing import Final

from tests.mutants.mutant import Mutant

_DESK: Final = "engine/access/server.py"
_ATTACK: Final = "tests/engine/access/test_attacks.py::test_an_attack_is_refused_recorded_and_harmless"
_ATTACKS: Final = "tests/engine/access/test_attacks.py"
_CALLS: Final = "tests/engine/access/test_calls.py"
_GUARDS: Final = "tests/engine/access/test_guards.py"
_STOPPED: Final = f"{_ATTACKS}::test_a_stopped_run_has_its_call_interrupted_and_may_only_look_at_itself"
_BURST: Final = f"{_CALLS}::test_a_second_has_2_000_calls_and_fills_again_as_time_passes"
_CROWD: Final = f"{_CALLS}::test_128_calls_are_in_flight_at_most_and_there_is_room_again_after"

MUTANTS: Final = (
    # The run that calls
    Mutant(
        _DESK,
        "if run.has_ended:\n            raise RUN_ENDED.refusal()",
        "if run.has_ended and run.final_result is not None:\n            raise RUN_ENDED.refusal()",
        "after a run's end its id opens nothing",
        f"{_ATTACKS}::test_after_its_end_nothing_is_answered_and_nothing_recorded",
    ),
    Mutant(
        _DESK,
        "if run.final_result is not None:\n            return RUN_ENDED",
        "if run.final_result is not None and name != ALLOWED_WHILE_STOPPING:\n            return RUN_ENDED",
        "after its last result a run is answered nothing",
        f"{_ATTACKS}::test_after_its_last_result_a_run_is_answered_nothing",
    ),
    Mutant(
        _DESK,
        "if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:",
        "if run.stop_reason is StopReason.HOST and name != ALLOWED_WHILE_STOPPING:",
        "a run that is being stopped is answered no other call",
        _STOPPED,
    ),
    Mutant(
        _DESK,
        "if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:",
        "if run.stop_reason is not None:",
        "run_get is answered while a run is being stopped",
        _STOPPED,
    ),
    Mutant(
        _DESK,
        'if data.get("run_id") != run.order.run_id:',
        'if data.get("run_id", run.order.run_id) != run.order.run_id:',
        "a call names its run",
        f"{_ATTACK}[no run id]",
    ),
    Mutant(
        _DESK,
        'if data.get("run_id") != run.order.run_id:',
        'if data.get("run_id") is None:',
        "a call names no other run",
        f"{_ATTACKS}::test_another_live_runs_id_opens_nothing",
    ),
    # The plugin that calls
    Mutant(
        _DESK,
        'IDENTITY_FIELDS: Final = ("plugin_identity", "caller_plugin_identity")',
        'IDENTITY_FIELDS: Final = ("caller_plugin_identity",)',
        "a claimed plugin_identity is refused as such",
        f"{_ATTACK}[plugin identity 'local/other' as plugin_identity]",
    ),
    Mutant(
        _DESK,
        'IDENTITY_FIELDS: Final = ("plugin_identity", "caller_plugin_identity")',
        'IDENTITY_FIELDS: Final = ("plugin_identity",)',
        "a claimed caller_plugin_identity is refused as such",
        f"{_ATTACK}[plugin identity 'local/other' as caller_plugin_identity]",
    ),
    Mutant(
        _DESK,
        "if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY_FIELDS):",
        "if any(data.get(key) not in (None, run.order.grants.plugin) for key in IDENTITY_FIELDS):",
        "an identity that is nothing is not the run's own",
        f"{_ATTACK}[plugin identity None as plugin_identity]",
    ),
    Mutant(
        _DESK,
        "if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY_FIELDS):",
        "if any(key in data and not data[key] for key in IDENTITY_FIELDS):",
        "the connection says which plugin calls",
        f"{_ATTACK}[plugin identity 'local/other' as plugin_identity]",
    ),
    Mutant(
        _DESK,
        'if key != "run_id" and key not in IDENTITY_FIELDS}',
        'if key != "run_id"}',
        "a caller may repeat its own identity",
        f"{_GUARDS}::test_a_caller_may_repeat_its_own_identity",
    ),
    # How many
    Mutant(
        "engine/access/rate_limit.py",
        "if self._tokens < 1:",
        "if self._tokens < 0:",
        "a run has 2,000 calls a second and not one more",
        _BURST,
    ),
    Mutant(
        "engine/access/rate_limit.py",
        "min(MAX_CALLS_PER_SECOND, self._tokens + (now - self._filled_at) * MAX_CALLS_PER_SECOND)",
        "self._tokens + (now - self._filled_at) * MAX_CALLS_PER_SECOND",
        "calls that were not made are not saved up",
        _BURST,
    ),
    Mutant(
        "engine/access/rate_limit.py",
        "if self.in_flight >= MAX_CALLS_IN_FLIGHT:",
        "if self.in_flight > MAX_CALLS_IN_FLIGHT:",
        "128 calls are in flight at most",
        _CROWD,
    ),
    Mutant(
        _DESK,
        "            rate_limit.in_flight -= 1\n            if slot is not None:",
        "            rate_limit.in_flight -= 0\n            if slot is not None:",
        "a call that was answered makes room",
        _CROWD,
    ),
    Mutant(
        _DESK,
        "task = asyncio.current_task()\n        rate_limit.in_flight += 1",
        "task = asyncio.current_task()\n        rate_limit.in_flight += 0",
        "a stream is in flight until it ends",
        f"{_GUARDS}::test_streams_are_in_flight_until_they_end_and_there_is_room_again_after",
    ),
    Mutant(
        _DESK,
        "rate_limit.in_flight -= 1\n            if task is not None:",
        "rate_limit.in_flight -= 0\n            if task is not None:",
        "a stream that ended makes room",
        f"{_GUARDS}::test_streams_are_in_flight_until_they_end_and_there_is_room_again_after",
    ),
    Mutant(
        "engine/access/call.py",
        "retryable = self.code is ErrorCode.RATE_LIMITED",
        "retryable = self.code is ErrorCode.CANCELLED",
        "a call that was one too many can be made again",
        _CROWD,
    ),
    # What is called
    Mutant(
        "engine/access/call.py",
        'ConfigDict(extra="forbid", strict=True',
        'ConfigDict(extra="ignore", strict=True',
        "an argument that there is not is refused",
        f"{_ATTACK}[an argument that there is not]",
    ),
    Mutant(
        "engine/access/call.py",
        "strict=True, frozen=True",
        "strict=False, frozen=True",
        "a number as text is no number",
        f"{_ATTACK}[history_page with {{'limit': '10'}}]",
    ),
    Mutant(
        _DESK,
        'is not a call of this host", ErrorCode.NOT_FOUND',
        'is not a call of this host", ErrorCode.INVALID_ARGUMENT',
        "a call that there is not is not found",
        f"{_ATTACK}[a call that there is not]",
    ),
    # The journal
    Mutant(
        _DESK,
        '"allowed": decision.allowed, "clause": decision.clause}',
        '"allowed": decision.allowed}',
        "a decision is recorded with the clause that decided it",
        f"{_CALLS}::test_call_decision_and_reply_are_recorded_in_this_order",
    ),
    Mutant(
        _DESK,
        "data, outcome=Outcome.REFUSED, reason=decision.clause)",
        "data)",
        "a refusal is recorded as one",
        f"{_ATTACK}[conversation by id]",
    ),
    Mutant(
        _DESK,
        "self._record_decision(run, call_id, refusal.decision)",
        "self._record_decision(run, call_id, decision)",
        "what an answer refused is recorded as the decision",
        f"{_ATTACK}[thread by cursor]",
    ),
    Mutant(
        _DESK,
        "if call.call_type.leaves_host:",
        "if call.call_type.leaves_host is None:",
        "a model call is committed before it is made",
        f"{_GUARDS}::test_nothing_leaves_the_host_before_the_call_is_in_the_journal[invoke_llm]",
    ),
    Mutant(
        "engine/access/services.py",
        "MAX_ENTRY_PART_BYTES: Final = 32 * 1024",
        "MAX_ENTRY_PART_BYTES: Final = 64 * 1024",
        "large requests and replies are kept by reference",
        f"{_CALLS}::test_a_large_request_and_a_large_reply_are_kept_by_reference",
    ),
    Mutant(
        _DESK,
        "if len(text) > MAX_REPLY_BYTES:",
        "if len(text) > 2 * MAX_REPLY_BYTES:",
        "a reply fits into a frame",
        f"{_CALLS}::test_a_reply_too_large_for_a_frame_is_payload_too_large",
    ),
    Mutant(
        "engine/access/services.py",
        "run.recorder.count(len(blob))",
        "run.recorder.count(0)",
        "what is kept by reference counts for the journal's limit",
        f"{_CALLS}::test_data_stored_by_reference_counts_for_the_journals_limit",
    ),
    Mutant(
        "engine/access/services.py",
        "run.recorder.cover(blob.decode()).encode()",
        "blob",
        "secrets are marks in large replies",
        f"{_CALLS}::test_secrets_are_marks_in_calls_and_the_resource_gets_them_whole",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "written = self._marks.cover(text if text is not None else orjson.dumps(data).decode())",
        "written = text if text is not None else orjson.dumps(data).decode()",
        "secrets are marks in calls",
        f"{_CALLS}::test_secrets_are_marks_in_calls_and_the_resource_gets_them_whole",
    ),
)
