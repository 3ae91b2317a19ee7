"""Mutants of what the record of a run contains: order, streamed replies, stored parts, bytes, stops and turns."""

from typing import Final

from tests.mutants.mutant import Mutant

_SERVED: Final = "engine/access/served_call.py"
_STREAMED: Final = "engine/access/streamed_reply.py"
_PARTS: Final = "engine/store/parts.py"
_TURNS: Final = "engine/journal/turns.py"
_ORDER: Final = "tests/engine/run/test_record_order.py"
_RECORDED: Final = "tests/engine/run/test_recorded_context.py"
_CALLS: Final = "tests/engine/access/test_calls.py"
_PARTS_TEST: Final = "tests/engine/store/test_parts.py"
_BY_CALLS: Final = "tests/engine/journal/test_turns.py::test_run_with_model_calls_is_counted_by_calls"
_BY_RESULTS: Final = "tests/engine/journal/test_turns.py::test_run_without_model_calls_is_counted_by_results"

MUTANTS: Final = (
    # Order
    Mutant(
        "engine/run/live.py",
        "self._held_results.add(held.deliver)",
        "asyncio.get_running_loop().call_soon(held.deliver)",
        "a call behind a paused result is recorded after it",
        f"{_ORDER}::test_journal_has_the_order_of_the_wire",
    ),
    Mutant(
        _STREAMED,
        'text = b"[%d,%b]" % (self._run.recorder.position, _encode(frame))',
        'text = b"[%d,%b]" % (self._run.recorder.position + 1, _encode(frame))',
        "a frame has the position of the newest entry when it was sent",
        f"{_ORDER}::test_frames_are_recorded_with_the_entry_before_them",
    ),
    # Streamed replies
    Mutant(
        _STREAMED,
        "self._timer = asyncio.get_running_loop().call_later(GROUP_SECONDS, self._record_group)",
        "self._timer = asyncio.get_running_loop().call_later(3_600, self._record_group)",
        "frames are on disk while the reply is streamed",
        "tests/engine/faults/test_kill_in_stream.py::test_frames_that_the_runner_received_are_on_disk_after_a_kill",
    ),
    Mutant(
        _STREAMED,
        "            self._add(frame)\n        self._record_group()\n",
        "            self._add(frame)\n        self._group.clear()\n",
        "the last frames are recorded with the end of the reply",
        "tests/engine/access/test_resources.py::test_model_reply_is_streamed_in_chunks_and_its_usage_counts",
    ),
    Mutant(
        _STREAMED,
        "self._add(self._mask.cover(frame))",
        "self._add(frame)",
        "a secret that is split over two frames is masked",
        f"{_RECORDED}::test_secret_that_is_split_over_frames_is_masked",
    ),
    Mutant(
        "engine/journal/frame_mask.py",
        '"arguments": stream.add(arguments)}}',
        '"arguments": arguments}}',
        "a secret that is split over the arguments of a tool call is masked",
        f"{_RECORDED}::test_secret_that_is_split_over_frames_is_masked",
    ),
    # Context and results
    Mutant(
        "engine/journal/stored_context.py",
        "content = _masked(text, mask).encode()",
        "content = text.encode()",
        "secrets in the bytes of a context are masked",
        f"{_RECORDED}::test_secrets_in_the_bytes_of_the_context_are_masked",
    ),
    Mutant(
        "engine/journal/stored_context.py",
        "return Replacement(PREFIX + digest, {})",
        "return Replacement(None, {})",
        "a recorded context with bytes is valid",
        f"{_RECORDED}::test_bytes_in_the_context_come_back_as_they_were_sent",
    ),
    Mutant(
        "engine/run/normalise.py",
        "redacted = redact(data, with_digest)",
        "redacted = redact(data)",
        "a result with inline bytes keeps their digest",
        f"{_RECORDED}::test_result_with_bytes_keeps_their_digest",
    ),
    Mutant(
        "engine/run/live.py",
        "checked = checked._replace(data=data, text=text, payload=checked.payload | given)",
        "checked = checked._replace(payload=checked.payload | given)",
        "an artifact is recorded with the id that the host gave",
        f"{_RECORDED}::test_artifact_without_an_id_is_recorded_with_the_id_that_the_host_gave",
    ),
    # Stops
    Mutant(
        _SERVED,
        "**(_BY_RUNNER if self._is_cancelled else {})",
        "**{}",
        "the reply of a cancelled call says who cancelled it",
        f"{_CALLS}::test_call_cancelled_by_its_runner_is_stopped_and_recorded_as_cancelled",
    ),
    Mutant(
        _SERVED,
        "if self._has_reply and not self._run.has_ended:",
        "if self._has_reply and self._run.has_ended:",
        "a reply that crosses a cancel is recorded as cancelled",
        f"{_CALLS}::test_reply_that_crosses_a_cancel_is_recorded_as_cancelled_by_the_runner",
    ),
    Mutant(
        "engine/runtimes/answers.py",
        "call = self._calls.get(number) or self._answered.pop(number, None)",
        "call = self._calls.get(number)",
        "a cancel of an answered call is noticed",
        "tests/engine/runtimes/test_calls.py::test_cancel_of_an_answered_call_is_reported",
    ),
    Mutant(
        "engine/run/live.py",
        "                self.record_stop(reason, error)\n",
        "                pass\n",
        "a stop by the host is recorded",
        f"{_RECORDED}::test_deadline_is_recorded_as_a_stop",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        "live.record_stop(EndKind.LOST, ending.message)",
        "pass",
        "a lost process is recorded",
        "tests/engine/faults/test_chaos.py::test_misbehaving_runner_affects_only_its_own_run[exit]",
    ),
    # Parts
    Mutant(
        _PARTS,
        "crc32(content[before:end]) % _ONE_IN == 0",
        "(end - start) % _ONE_IN == 0",
        "two texts with a common end share their parts",
        f"{_PARTS_TEST}::test_content_that_was_stored_before_is_shared[without its beginning]",
    ),
    Mutant(
        _PARTS,
        "AND NOT EXISTS (SELECT 1 FROM part_uses WHERE digest = parts.digest)",
        "",
        "a part that a run uses is not deleted",
        f"{_PARTS_TEST}::test_every_run_that_uses_a_part_keeps_it",
    ),
    Mutant(
        _PARTS,
        "or digest_of(PartKind(kind), content) != digest:",
        "or not digest:",
        "a damaged part is noticed",
        f"{_PARTS_TEST}::test_damaged_content_is_not_returned",
    ),
    Mutant(
        "engine/api/runs.py",
        "if parts.is_used_by(conn, run_id, ref):",
        "if parts.is_digest(ref):",
        "a part is read only for a run that uses it",
        f"{_CALLS}::test_a_large_request_and_a_large_reply_are_kept_by_reference",
    ),
    # Turns
    Mutant(
        _TURNS,
        "if self._is_by_calls and self._has_begun and has_new:",
        "if self._is_by_calls and self._has_begun:",
        "a model call without a new tool result starts no turn",
        f"{_BY_CALLS}[fallback model]",
    ),
    Mutant(
        _TURNS,
        "if self._is_by_calls and self._has_begun and has_new:",
        "if self._is_by_calls and has_new:",
        "a turn that began with a pull goes on with its model call",
        f"{_BY_CALLS}[pull before the next model call]",
    ),
    Mutant(
        _TURNS,
        "            if not self._is_by_calls:\n                if self._has_begun",
        "            if True:\n                if self._has_begun",
        "results start no turn once the runner calls models",
        f"{_BY_CALLS}[two tools of one reply, one after the other]",
    ),
    Mutant(
        _TURNS,
        "return self._has_begun\n",
        "return True\n",
        "a pull before the first text starts no turn",
        f"{_BY_RESULTS}[pull before the first text]",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "if source == Source.RUNNER and outcome in _APPLIED:",
        "if source == Source.RUNNER:",
        "a dropped result starts no turn",
        "tests/engine/journal/test_recorder.py::test_dropped_result_starts_no_turn",
    ),
    Mutant(
        "engine/access/server.py",
        "if decision.allowed and action in MODEL_CALLS:",
        "if action in MODEL_CALLS:",
        "a refused model call is no turn",
        "tests/engine/access/test_guards.py::test_refused_model_call_does_not_count_as_a_turn",
    ),
)
