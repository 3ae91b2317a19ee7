"""Mutants of queued messages: edits of the user, leftovers of a run, receipts."""

from typing import Final

from tests.mutants.mutant import Mutant

_EDITS: Final = "tests/engine/queue/test_user_edits.py"
_CHANGES: Final = "tests/engine/queue/test_changes.py"
_LEFTOVERS: Final = "tests/engine/queue/test_leftovers.py"
_RECEIPTS: Final = "tests/engine/queue/test_receipts.py"
_GUARDS: Final = "tests/engine/queue/test_guards.py"

_DELETED: Final = "tests/engine/queue/test_deleted_session.py"

MUTANTS: Final = (
    Mutant(
        "engine/queue/dispatch.py",
        "text = order.secret_mask.cover_words(envelope.input.to_text())",
        "text = envelope.input.to_text()",
        "the title of a session holds no secret",
        "tests/engine/journal/test_secret_mask.py::test_no_secret_is_left_in_the_database",
    ),
    # A deleted session
    Mutant(
        "engine/api/sessions.py",
        "            drop_with_session(tx, session_id, at=now)\n",
        '            drop_with_session(tx, "", at=now)\n',
        "a queued message of a deleted session has a fate in the event log",
        f"{_DELETED}::test_a_paused_message_of_a_deleted_session_is_dropped_with_the_reason",
    ),
    Mutant(
        "engine/queue/decided_elsewhere.py",
        "if fate in (None, Fate.DROPPED) and",
        "if fate is Fate.DROPPED and",
        "the sender of a message whose session was deleted does not wait for ever",
        f"{_DELETED}::test_a_paused_message_of_a_deleted_session_is_dropped_with_the_reason",
    ),
    Mutant(
        "engine/host.py",
        "            if is_idle and not self.dispatcher.pending:\n",
        "            if is_idle:\n",
        "an idle host follows what other processes decide about its queued messages",
        f"{_DELETED}::test_a_message_of_a_session_that_another_process_deletes_is_dropped",
    ),
    # Edits
    Mutant(
        "engine/queue/dispatch.py",
        "elif known is None and is_deleted:",
        "elif known is None and False:",
        "an event that continues a deleted session is refused",
        "tests/engine/api/test_sessions.py::test_event_that_continues_a_deleted_session_is_refused_and_leaves_nothing",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "return queue.save(tx.connection, edited), {",
        "return queue.save(tx.connection, item), {",
        "the runner gets the edited text of a message",
        f"{_EDITS}::test_a_queued_item_can_be_edited",
    ),
    Mutant(
        "engine/intake/envelope.py",
        'others = [part for part in given.contents if part.type != "text"]',
        "others = given.contents[:0]",
        "an edit changes the text and keeps the images",
        f"{_EDITS}::test_edit_changes_the_text_and_keeps_the_images",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "withdrawn = queue.decide(tx.connection, item.item_id, Fate.WITHDRAWN, at=now)",
        "withdrawn = queue.advance(item, Fate.WITHDRAWN)",
        "a withdrawn message is not in the transcript",
        f"{_EDITS}::test_a_withdrawn_item_is_never_in_the_transcript",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "event.ticket.started.cancel()",
        "event.ticket.started.done()",
        "the ticket of a withdrawn message is resolved",
        f"{_EDITS}::test_message_that_waits_for_the_slot_can_be_withdrawn",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "return queue.save(tx.connection, replace(item, mode=Mode.AFTER)), {",
        "return replace(item, mode=Mode.AFTER), {",
        "a message set to after is not pulled",
        f"{_EDITS}::test_mode_of_a_claimed_item_can_be_set_to_after_and_back",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "reason = reason_not_claimable(run, event.order) or reason_not_deliverable(current_envelope(item))",
        "reason = reason_not_deliverable(current_envelope(item))",
        "a message cannot be set to steer at the end of the run",
        f"{_EDITS}::test_mode_cannot_be_set_to_steer_at_the_end_of_the_run",
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "if item.host != self._host and item.fate not in FINAL_FATES:",
        "if item.host is None and item.fate not in FINAL_FATES:",
        "a queued message of another process is changed by that process",
        f"{_CHANGES}::test_queued_message_of_another_host_is_changed_by_that_host",
    ),
    # Leftovers
    Mutant(
        "engine/queue/leftovers.py",
        "Fate.DROPPED, at=at, reason=reason)\n        write_transcript_line(tx, dropped, end.secret_mask",
        "Fate.DROPPED, at=at)\n        write_transcript_line(tx, dropped, end.secret_mask",
        "queued messages of an ended run are dropped with the reason",
        f"{_LEFTOVERS}::test_messages_still_queued_when_a_run_ends_are_dropped_with_the_reason",
    ),
    Mutant(
        "engine/store/queue.py",
        "queue.c.fate.in_(_OPEN), _CLAIMED_BY).order_by",
        "queue.c.fate.in_(_OPEN)).order_by",
        "the end of a run drops only its own messages",
        f"{_GUARDS}::test_end_of_a_run_drops_only_its_own_queued_messages",
    ),
    Mutant(
        "engine/queue/leftovers.py",
        "write_transcript_line(tx, dropped, end.secret_mask, run_id=run.run_id, at=at)",
        "str(dropped)",
        "a dropped message is in the transcript",
        f"{_LEFTOVERS}::test_a_dropped_message_is_a_line_of_the_transcript",
    ),
    Mutant(
        "engine/queue/leftovers.py",
        "reason in (FailureCode.LOST, FailureCode.HOST_RESTARTED)",
        "reason == FailureCode.HOST_RESTARTED",
        "messages of a lost runner are dropped as runner_lost",
        f"{_GUARDS}::test_each_end_of_a_run_has_its_own_drop_reason",
    ),
    Mutant(
        "engine/store/queue.py",
        "if SENT_AGAIN in item.metadata:",
        "if item.metadata.get(SENT_AGAIN) == item_id:",
        "a dropped message can be resent only once",
        f"{_LEFTOVERS}::test_a_message_is_resent_only_once",
    ),
    Mutant(
        "engine/store/queue.py",
        "if item.fate not in (Fate.DROPPED, Fate.WITHDRAWN):",
        "if item.fate in EDITABLE:",
        "a delivered message cannot be resent",
        f"{_LEFTOVERS}::test_only_dropped_or_withdrawn_messages_can_be_resent[injected]",
    ),
    Mutant(
        "engine/api/runs.py",
        "(item for item in items if item.mode == Mode.STEER and item.fate == Fate.DROPPED)",
        "(item for item in items if item.mode == Mode.STEER)",
        "a stop returns only undelivered texts",
        f"{_LEFTOVERS}::test_stopping_a_run_returns_its_undelivered_texts",
    ),
    # Receipts
    Mutant(
        "engine/queue/receipts.py",
        "else after.at - item.pulled_at",
        "else after.at - item.created_at",
        "the latency is measured from the pull to the first result",
        f"{_RECEIPTS}::test_a_receipt_has_the_times_of_queueing_pull_and_delivery_and_the_first_result_after_it",
    ),
    Mutant(
        "engine/store/entries.py",
        "type NOT IN ('{EntryKind.CALL_REQUESTED}', '{EntryKind.OUTPUT}')",
        "type NOT IN ('{EntryKind.OUTPUT}')",
        "a call does not count as a result",
        f"{_RECEIPTS}::test_calls_output_and_ignored_results_do_not_count_as_first_result",
    ),
    Mutant(
        "engine/access/calls/steering.py",
        "run.last_pull_at = now",
        "run.last_pull_at = run.last_pull_at or now",
        "a run reports its last pull",
        f"{_RECEIPTS}::test_run_reports_its_last_pull_or_that_it_never_pulled",
    ),
)
