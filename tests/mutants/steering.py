"""Mutants of the path of a message into a run: dispatch, claims, the queue and its order, pulls."""

from typing import Final

from tests.mutants.mutant import Mutant

_CLAIMS: Final = "tests/engine/queue/test_claims.py"
_PULLS: Final = "tests/engine/queue/test_pulls.py"
_EDITS: Final = "tests/engine/queue/test_user_edits.py"
_LEFTOVERS: Final = "tests/engine/queue/test_leftovers.py"
_GUARDS: Final = "tests/engine/queue/test_guards.py"

MUTANTS: Final = (
    # Which messages are claimed
    Mutant(
        "engine/run/run_order.py",
        "else (conversation, self.envelope.thread_id)",
        "else (conversation, None)",
        "a message is offered to the run of its own thread",
        f"{_PULLS}::test_pull_returns_only_messages_claimed_by_its_run",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if order.conversation_key != run.order.conversation_key:",
        "if order.slot != run.order.slot:",
        "a run claims no message for another bot or workspace",
        f"{_CLAIMS}::test_a_message_to_another_bot_or_workspace_waits_for_the_slot",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if order.binding.runner_id != run.order.binding.runner_id:",
        "if not run.order.binding.runner_id:",
        "a run claims no message for another runner",
        f"{_CLAIMS}::test_a_message_for_another_runner_waits_for_the_slot",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if not order.envelope.is_message:",
        "if not order.envelope.event_type:",
        "a run claims only messages",
        f"{_CLAIMS}::test_only_messages_are_claimed_and_other_events_wait_for_the_slot",
    ),
    Mutant(
        "engine/queue/claims.py",
        'if not grants.apis["steering_pull"].allowed:',
        'if "steering_pull" not in grants.apis:',
        "a runner that cannot be steered claims nothing",
        f"{_CLAIMS}::test_runner_that_cannot_be_steered_claims_nothing",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "None if offer.after or state is None else state.run",
        "None if state is None else state.run",
        "a message for after the run is never claimed",
        f"{_CLAIMS}::test_a_message_for_after_the_run_is_never_claimed",
    ),
    Mutant(
        "engine/queue/claims.py",
        "return reason_not_deliverable(order.envelope)",
        "return None",
        "a message too large for a pull does not block others",
        "tests/engine/queue/test_contents.py"
        "::test_a_message_too_large_for_a_pull_waits_for_the_slot_and_blocks_no_other",
    ),
    # When a run claims
    Mutant(
        "engine/queue/dispatch.py",
        "await run.started.wait()\n        reason = reason_not_claimable(run, order)",
        "await asyncio.sleep(0)\n        reason = reason_not_claimable(run, order)",
        "a claim is recorded after run.started",
        f"{_CLAIMS}::test_message_can_be_claimed_from_creation_and_is_recorded_after_run_started",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if run.stop_reason is not None or run.final_result is not None or run.has_ended:",
        "if run.stop_reason is not None or run.has_ended:",
        "nothing is claimed after the terminal result",
        f"{_CLAIMS}::test_nothing_is_claimed_after_the_terminal_result",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if run.stop_reason is not None or run.final_result is not None or run.has_ended:",
        "if run.final_result is not None or run.has_ended:",
        "nothing is claimed after a stop was requested",
        f"{_CLAIMS}::test_nothing_is_claimed_after_a_stop_was_requested[timeout]",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if runs.is_to_be_cancelled(tx.connection, run_id):",
        "if run.cancel_requested_at is not None:",
        "nothing is claimed after a cancel is written",
        f"{_GUARDS}::test_nothing_is_claimed_after_a_cancel_is_written",
    ),
    Mutant(
        "engine/queue/claims.py",
        "if not runs.is_live(tx.connection, self.run_id):",
        "if self._run.has_ended:",
        "whether a run can still claim is decided by the writer",
        f"{_GUARDS}::test_message_to_a_run_closed_by_another_process_gets_its_own_run",
    ),
    Mutant(
        "engine/queue/claims.py",
        "item.conversation_id) >= MAX_QUEUE_ITEMS:",
        "item.conversation_id) > MAX_QUEUE_ITEMS:",
        "at most 100 messages are queued for a run",
        f"{_CLAIMS}::test_at_most_a_hundred_messages_are_queued_for_a_run_and_the_next_waits_for_the_slot_with_a_reason",
    ),
    # Records
    Mutant(
        "engine/queue/claims.py",
        "replace(event, metadata=self._event_metadata(now))",
        "event",
        "the event log records that a message was claimed by the active run",
        f"{_CLAIMS}::test_a_claimed_message_is_logged_as_absorbed_into_the_active_run",
    ),
    Mutant(
        "engine/journal/recorded_decision.py",
        "self.refuse(tx, str(error))",
        "str(error)",
        "a refused claim is recorded and leaves no gap",
        f"{_CLAIMS}::test_message_waits_for_the_slot_if_its_claim_fails[its row]",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "if claim is not None:\n                claim.refuse(",
        "if claim is not None and known is None:\n                claim.refuse(",
        "a repeated event leaves no gap in the journal of the active run",
        f"{_CLAIMS}::test_repeat_of_a_claimed_event_is_recognised",
    ),
    Mutant(
        "engine/journal/recorded_decision.py",
        "if not self._is_broken and runs.is_live(tx.connection, entry.run_id):",
        "if not self._is_broken:",
        "no entry follows run.finished",
        f"{_GUARDS}::test_no_entry_follows_the_end_of_a_run_closed_by_another_process",
    ),
    # Messages that wait for the slot
    Mutant(
        "engine/queue/dispatch.py",
        "if order.slot is not None and self._first_pending(tx.connection, order.slot) is not None:",
        "if order.slot is not None and order.run_id is None:",
        "a new message does not overtake queued ones",
        f"{_GUARDS}::test_new_message_does_not_overtake_queued_ones_when_the_slot_becomes_free",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "if state.run is live:",
        "if state.run is not None:",
        "a run that starts right after another claims messages",
        f"{_CLAIMS}::test_run_that_starts_right_after_another_claims_messages",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "envelope=with_text(event.order.envelope, item.text))",
        "envelope=event.order.envelope)",
        "a message that waits for the slot has its edited text",
        f"{_EDITS}::test_a_message_that_waits_for_the_slot_can_be_edited_moved_and_paused",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "return item.run_id if item is not None and item.mode == Mode.STEER else None",
        "return item.own_run_id if item is not None and item.mode == Mode.STEER else None",
        "an event that was claimed is answered with the run that claimed it",
        f"{_LEFTOVERS}::test_repeat_of_a_dropped_event_is_answered_with_the_run_that_claimed_it",
    ),
    # The queue
    Mutant(
        "engine/store/queue.py",
        "_ORDER: Final = (queue.c.place, queue.c.item_id)",
        "_ORDER: Final = (queue.c.item_id,)",
        "messages are pulled in the order of their places",
        f"{_PULLS}::test_the_order_is_first_in_first_out_also_after_a_reorder",
    ),
    Mutant(
        "engine/store/queue.py",
        "place=last + 1",
        "place=last",
        "a new message gets the last place",
        "tests/engine/store/test_queue.py::test_messages_wait_for_the_slot_in_their_order",
    ),
    Mutant(
        "engine/store/queue.py",
        'and_(queue.c.run_id == bindparam("run"), queue.c.mode == Mode.STEER)',
        'and_(queue.c.run_id == bindparam("run"))',
        "a run pulls only messages that it claimed",
        f"{_CLAIMS}::test_a_message_for_after_the_run_is_never_claimed",
    ),
    Mutant(
        "engine/store/queue.py",
        "queue.c.fate == Fate.QUEUED, _CLAIMED_BY)",
        "queue.c.fate == Fate.QUEUED)",
        "a pull takes no message of another run",
        f"{_PULLS}::test_pull_returns_only_messages_claimed_by_its_run",
    ),
    Mutant(
        "engine/store/queue.py",
        ".where(_HERE, queue.c.fate == Fate.QUEUED, _CLAIMED_BY)",
        ".where(_HERE, queue.c.fate.in_(EDITABLE), _CLAIMED_BY)",
        "a paused item is not pulled",
        f"{_EDITS}::test_a_paused_item_is_skipped_and_keeps_its_place",
    ),
    Mutant(
        "engine/store/queue.py",
        "EDITABLE: Final = frozenset({Fate.QUEUED, Fate.PAUSED})",
        "EDITABLE: Final = frozenset({Fate.QUEUED, Fate.PAUSED, Fate.PULLED})",
        "a pulled message cannot be changed",
        "tests/engine/queue/test_changes.py::test_edit_and_pull_are_decided_in_one_step[pull]",
    ),
    Mutant(
        "engine/store/queue.py",
        "ids.index(before)",
        "ids.index(before) + 1",
        "a message is moved before another, not after it",
        f"{_EDITS}::test_item_set_to_after_becomes_its_own_run_in_its_place",
    ),
    # Pulls
    Mutant(
        "engine/access/calls/steering.py",
        'if arguments.mode != "all":',
        'if arguments.mode == "one":',
        "one-at-a-time returns one message",
        f"{_PULLS}::test_one_at_a_time_returns_the_first_each_time[one-at-a-time]",
    ),
    Mutant(
        "engine/access/calls/steering.py",
        "elif arguments.limit is not None and arguments.limit > 0:",
        "elif arguments.limit is not None:",
        "a limit of zero or less returns all messages",
        f"{_PULLS}::test_limit_is_a_maximum_and_no_limit_returns_all",
    ),
    Mutant(
        "engine/access/calls/steering.py",
        "written=partial(mark_injected, run, items, services.remove_claim, services.clock),",
        "written=mark_injected(run, items, services.remove_claim, services.clock) or int,",
        "a message is injected only after the reply was written",
        f"{_PULLS}::test_message_is_injected_only_after_the_reply_was_written",
    ),
    Mutant(
        "engine/runtimes/answers.py",
        "(reply.written if is_written else reply.lost)()",
        "reply.written()",
        "a message whose reply could not be written is not injected",
        f"{_GUARDS}::test_reply_that_cannot_be_written_counts_as_lost",
    ),
    Mutant(
        "engine/store/queue.py",
        "return save(conn, replace(item, pulled_at=None, pulled_position=None))",
        "return save(conn, replace(item, pulled_at=None, pulled_position=None, place=2**31))",
        "messages of a cancelled pull keep their place",
        f"{_PULLS}::test_pull_cancelled_before_its_reply_returns_items_to_their_places",
    ),
    Mutant(
        "engine/queue/pulls.py",
        "transcript.remove(tx.connection, transcript_line_id(item.item_id))",
        "transcript.has(tx.connection, transcript_line_id(item.item_id))",
        "messages of a cancelled pull are not in the transcript",
        f"{_PULLS}::test_pull_cancelled_before_its_reply_returns_items_to_their_places",
    ),
    Mutant(
        "engine/queue/items.py",
        "line_id = transcript_line_id(item.item_id)",
        "line_id = transcript_line_id(item.item_id + item.fate)",
        "a pulled and dropped message is one line",
        f"{_PULLS}::test_run_stopped_during_a_pull_drops_the_pulled_messages",
    ),
    Mutant(
        "engine/queue/pulls.py",
        "entry.turn + (self._begins_turn and bool(items))",
        "entry.turn + self._begins_turn",
        "an empty pull starts no turn",
        f"{_PULLS}::test_only_a_pull_that_returns_messages_starts_a_turn",
    ),
    Mutant(
        "engine/queue/pulls.py",
        "event_log.attach(tx.connection, item.event_id, run_id)",
        "event_log.seen(tx.connection, item.event_id)",
        "the event of a delivered message belongs to the run that claimed it",
        f"{_GUARDS}::test_event_of_a_delivered_message_belongs_to_the_run_that_claimed_it",
    ),
    Mutant(
        "engine/queue/pulls.py",
        "if left < 0 and number:",
        "if not left and number:",
        "messages beyond the size of one reply come with the next pull",
        "tests/engine/queue/test_contents.py::test_messages_beyond_the_size_of_one_reply_come_with_the_next_pull",
    ),
)
