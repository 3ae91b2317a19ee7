"""Mutants of what bounds a hostile child: work in a turn of the loop, memory, and the disk."""

from typing import Final

from tests.mutants.mutant import Mutant

_FLOODS: Final = "tests/engine/runtimes/test_floods.py"
_HOSTILE: Final = "tests/engine/faults/test_hostile.py"
_PAGING: Final = "tests/engine/access/test_paging.py"
_RECORDER: Final = "tests/engine/journal/test_recorder.py"

MUTANTS: Final = (
    # Work in a turn of the loop
    Mutant(
        "engine/runtimes/pipes.py",
        'if data.count(b"\\n") <= LINES_PER_TURN:',
        'if data.count(b"\\n") <= 10**9:',
        "a turn of the loop handles so many lines of a child",
        f"{_FLOODS}::test_a_flood_of_output_leaves_the_loop_to_others",
    ),
    Mutant(
        "engine/runtimes/pipes.py",
        "transport.max_size = READ_BYTES",
        "transport.max_size = 16 * READ_BYTES",
        "a turn of the loop reads so many bytes of a pipe",
        f"{_FLOODS}::test_a_large_pipe_is_read_a_little_in_each_turn",
    ),
    Mutant(
        "engine/runtimes/pipes.py",
        "        self._is_scheduled = False\n        if self._is_paused:",
        "        self._is_scheduled = False\n        if False:",
        "a paused pipe passes nothing on, also not what was read",
        f"{_FLOODS}::test_a_paused_pipe_passes_nothing_on_and_knows_how_much_is_unread",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "wire.Decoder(max_parsed=MAX_PARSED_BYTES)",
        "wire.Decoder()",
        "a large result is checked off the loop",
        f"{_FLOODS}::test_large_results_are_checked_in_a_thread_and_keep_their_order",
    ),
    Mutant(
        "engine/runtimes/wire.py",
        "self._next_lines = lines[place + 1 :]",
        "self._next_lines = []",
        "nothing behind a large line is lost",
        "tests/engine/runtimes/test_wire.py::test_a_joined_frame_that_is_parsed_elsewhere_keeps_its_place",
    ),
    Mutant(
        "engine/runtimes/wire.py",
        "return type(kind) is str and kind in _FRAGMENT_TYPES",
        "return kind in _FRAGMENT_TYPES",
        "no line makes the decoder raise",
        "tests/engine/runtimes/test_wire.py::test_values_that_are_not_frames_are_faults",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "if wire.too_wide(line):",
        "if False:",
        "a frame has at most 100,000 containers",
        f"{_HOSTILE}::test_a_result_of_too_many_parts_is_refused_without_decoding_it",
    ),
    Mutant(
        "engine/run/normalise.py",
        "problem = _oversized(data) or validate_payload(kind, data)",
        "problem = validate_payload(kind, data)",
        "a list of a message has at most 10,000 items",
        f"{_HOSTILE}::test_a_message_of_too_many_parts_is_dropped",
    ),
    # Memory
    Mutant(
        "engine/run/normalise.py",
        "        ]\n        self._forget_lowest()\n        return True",
        "        ]\n        pass\n        return True",
        "sequence numbers that split ranges are remembered in bounded memory",
        "tests/engine/run/test_sequence.py"
        "::test_numbers_that_split_the_skipped_ranges_are_remembered_in_bounded_memory",
    ),
    Mutant(
        "engine/journal/delta_text.py",
        "return text * min(times, TEXT_LIMIT // len(text) + 1)",
        "return text * times",
        "equal chunks are not joined beyond the limit",
        "tests/engine/journal/test_delta_text.py::test_many_equal_chunks_take_no_more_memory_than_the_limit",
    ),
    Mutant(
        "engine/runtimes/answers.py",
        "if not self._room.is_set() or self._waiting:",
        "if False:",
        "no call is started while replies are unread",
        f"{_FLOODS}::test_calls_wait_while_the_runner_reads_no_replies",
    ),
    Mutant(
        "engine/access/reply_slots.py",
        "self._free = asyncio.Semaphore(MAX_LARGE_REPLIES)",
        "self._free = asyncio.Semaphore(100)",
        "a run has few large replies in memory",
        f"{_PAGING}::test_few_large_replies_of_a_run_are_in_memory_at_once",
    ),
    Mutant(
        "engine/store/async_reader.py",
        "        if left < 0 and rows:\n",
        "        if left < 0:\n",
        "a page has at least one item",
        f"{_PAGING}::TestLargeItems::test_an_item_that_is_too_large_alone_is_a_page",
    ),
    Mutant(
        "engine/access/paging.py",
        "has_more = len(found) > limit or isinstance(found, CutList)",
        "has_more = len(found) > limit",
        "a page that is cut says that there is more",
        f"{_PAGING}::TestLargeItems::test_history",
    ),
    Mutant(
        "engine/store/writer.py",
        "self._added_size += size\n",
        "self._added_size += 0\n",
        "the memory of operations fills the queue",
        "tests/engine/store/test_writer.py::test_the_memory_of_operations_fills_the_queue_too",
    ),
    Mutant(
        "engine/events.py",
        " and self._buffered_characters <= MAX_BUFFERED_CHARACTERS:",
        ":",
        "large entries are buffered for a slow subscriber in bounded memory",
        "tests/engine/api/test_subscriptions.py"
        "::test_slow_subscriber_of_large_entries_misses_nothing_in_bounded_memory",
    ),
    # The journal and the disk
    Mutant(
        "engine/run/live.py",
        "if self._unreadable_lines <= UNREADABLE_ENTRIES:",
        "if True:",
        "a flood of bad lines is counted in few entries",
        f"{_HOSTILE}::test_a_flood_of_bad_lines_is_counted_in_few_entries",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "self._output_size += len(written) + ROW_BYTES",
        "self._output_size += size",
        "empty lines count what they take on disk",
        f"{_RECORDER}::test_empty_lines_count_what_they_take_on_disk",
    ),
    Mutant(
        "engine/run/live.py",
        "self.recorder.output(stream, text)\n        self.check_journal_limit()",
        "self.recorder.output(stream, text)\n        pass",
        "output fills the journal",
        f"{_HOSTILE}::test_empty_output_fills_the_journal_like_anything_else",
    ),
    # The end of the output
    Mutant(
        "engine/runtimes/child.py",
        "is_over = pipe.handled_bytes == before or pipe.handled_bytes >= total",
        "is_over = True",
        "output is read to its end, however long that takes",
        f"{_FLOODS}::test_slow_reading_of_a_large_pipe_loses_no_line",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "            if size:\n                run.sink.output_lost(stream, size)",
        "            if False:\n                run.sink.output_lost(stream, size)",
        "output that was not read is counted",
        f"{_FLOODS}::test_output_that_a_killed_runner_left_unread_is_counted",
    ),
)
