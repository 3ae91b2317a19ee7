"""Mutants of what a run can read of its own data: ownership, cursors, pages and search."""

from typing import Final

from tests.mutants.mutant import Mutant

_OWNERSHIP: Final = "engine/access/ownership.py"
_CURSORS: Final = "engine/store/cursors.py"
_PAGES: Final = "engine/access/paging.py"
_HISTORY: Final = "engine/access/calls/history.py"
_RUN: Final = "engine/access/calls/run.py"
_ATTACK: Final = "tests/engine/access/test_attacks.py::test_attack_is_refused_and_recorded_and_changes_nothing"
_GUARDS: Final = "tests/engine/access/test_guards.py"
_OWN_PLACE: Final = f"{_GUARDS}::test_run_reads_only_lines_and_events_of_its_own_conversation_key"
_INVALID_CURSOR: Final = f"{_GUARDS}::test_cursor_with_trailing_text_is_invalid"
_LINES: Final = "tests/engine/access/test_paging.py::TestHistory"
_ENTRIES: Final = "tests/engine/access/test_paging.py::TestOwnJournal"
_SEARCH: Final = "tests/engine/access/test_search.py::test_search_finds_words_in_the_runs_conversation_newest_first"
_SEAL: Final = "parts = [api, place.conversation_id, place.thread_id, place.bot_id, place.workspace_id]"

MUTANTS: Final = (
    # A whole session
    Mutant(
        "engine/api/search.py",
        """        place = None if conversation_id is None else WholeSession(conversation_id)
        return await self._core.read(lambda conn: search.find(""",
        """        place = None if conversation_id is None else search.ConversationKey(conversation_id)
        return await self._core.read(lambda conn: search.find(""",
        "a search in a session finds the lines of all threads and bots",
        "tests/console/cli/test_transcript.py"
        "::test_search_in_a_session_finds_the_lines_of_all_threads_and_bots_with_labels",
    ),
    Mutant(
        "engine/store/search.py",
        "        return table.c.conversation_id == self.conversation_id",
        "        return table.c.conversation_id.is_not(None)",
        "a search in a session finds no line of another one",
        "tests/engine/store/test_search.py::test_whole_session_is_searched_with_all_its_threads_and_bots",
    ),
    # Ownership of events and artifacts
    Mutant(
        _OWNERSHIP,
        "if own.conversation_id is None and run_id != run.order.run_id:",
        "if own.conversation_id is None and run_id is None:",
        "a run without conversation reads only its own data",
        f"{_GUARDS}::test_run_without_conversation_cannot_read_artifacts_of_another_such_run",
    ),
    *(
        Mutant(
            _OWNERSHIP,
            "    if place != own:",
            f"    if any(getattr(place, n) != getattr(own, n) for n in {parts!r}):",
            f"data of another {name} is refused",
            f"{_ATTACK}[event of another {name}]",
        )
        for name, parts in (
            ("conversation", ("thread_id", "bot_id", "workspace_id")),
            ("thread", ("conversation_id", "bot_id", "workspace_id")),
            ("bot", ("conversation_id", "thread_id", "workspace_id")),
            ("workspace", ("conversation_id", "thread_id", "bot_id")),
        )
    ),
    Mutant(
        _OWNERSHIP,
        "    if place != own:",
        "    if place.thread_id is not None and place != own:",
        "data without a thread does not belong to every thread",
        f"{_ATTACK}[artifact of another no thread: artifact_metadata]",
    ),
    Mutant(
        "engine/access/calls/event.py",
        'check_ownership(run, "event", arguments.event_id, place, run_id=row.run_id)',
        'row.run_id or check_ownership(run, "event", arguments.event_id, place, run_id=row.run_id)',
        "the conversation of an event is checked",
        f"{_ATTACK}[event of another conversation]",
    ),
    # Rows of a conversation
    *(
        Mutant("engine/store/row_mapping.py", "for each in fields(cls)))", after, rule, f"{_OWN_PLACE}[own]")
        for after, rule in (
            ("for each in fields(cls)[1:]))", "no line of another conversation is read"),
            ('for each in fields(cls) if each.name != "thread_id"))', "no line of another thread is read"),
            ('for each in fields(cls) if each.name != "bot_id"))', "no line of another bot is read"),
            ("for each in fields(cls)[:3]))", "no line of another workspace is read"),
        )
    ),
    Mutant(
        "engine/store/row_mapping.py",
        "table.c[each.name].is_not_distinct_from(bindparam(each.name))",
        "table.c[each.name] == bindparam(each.name)",
        "a missing part matches a missing part",
        f"{_OWN_PLACE}[no thread]",
    ),
    # Cursors
    Mutant(
        _CURSORS,
        'if match["owner"] != f"{mark}{_seal(api, place)}":',
        'if match["owner"][0] != mark:',
        "a cursor of another conversation is refused",
        f"{_ATTACK}[conversation by cursor]",
    ),
    *(
        Mutant(
            _CURSORS,
            _SEAL,
            _SEAL.replace(f", place.{name}_id", ""),
            f"a cursor of another {name} is refused",
            f"{_ATTACK}[{name} by cursor]",
        )
        for name in ("thread", "bot", "workspace")
    ),
    Mutant(
        "engine/access/calls/event.py",
        "read_cursor(cursors.read_events, place, arguments.before_cursor)",
        "read_cursor(cursors.read_history, place, arguments.before_cursor)",
        "a cursor of another call is refused",
        f"{_ATTACK}[events by a cursor of the history]",
    ),
    Mutant(
        _RUN,
        "= ConversationKey(run.order.run_id), clamp_limit(arguments.limit), run.order.run_id",
        '= ConversationKey(""), clamp_limit(arguments.limit), run.order.run_id',
        "a cursor of another run's journal is refused",
        f"{_ATTACK}[another run's entries by cursor]",
    ),
    Mutant(
        _CURSORS,
        "match = _FORM.fullmatch(cursor)",
        "match = _FORM.match(cursor)",
        "a cursor with trailing text is invalid",
        _INVALID_CURSOR,
    ),
    Mutant(
        _CURSORS,
        '[0-9a-f]{1,15})")',
        '[0-9a-f]+)")',
        "a cursor with an impossible position is invalid",
        _INVALID_CURSOR,
    ),
    Mutant(
        _OWNERSHIP,
        "raise CallRefused(Decision(False, str(error), ErrorCode.INVALID_ARGUMENT)) from None",
        "raise CallRefused(Decision(False, str(error))) from None",
        "an invalid cursor is an invalid argument",
        f"{_ATTACK}[made-up cursor]",
    ),
    # Pages
    Mutant(
        _PAGES,
        "return min(limit, MAX_PAGE_ITEMS)",
        "return limit",
        "a limit above 100 is cut to 100",
        f"{_LINES}::test_a_limit_above_100_is_cut_to_100",
    ),
    Mutant(
        _PAGES,
        "Limit = Annotated[int, Field(ge=1)]",
        "Limit = Annotated[int, Field(ge=0)]",
        "a limit below 1 is an error",
        f"{_ATTACK}[history_page with {{'limit': 0}}]",
    ),
    Mutant(
        _PAGES,
        "has_more = len(found) > limit",
        "has_more = len(found) >= limit",
        "has_more is false on the last page",
        f"{_LINES}::test_the_last_page_has_no_next_cursor",
    ),
    Mutant(
        _PAGES,
        'items[-1]["cursor"] if has_more and items else None',
        'items[-1]["cursor"] if items else None',
        "the last page has no next_cursor",
        f"{_LINES}::test_the_last_page_has_no_next_cursor",
    ),
    Mutant(
        _PAGES,
        '"prev_cursor": items[0]["cursor"]',
        '"prev_cursor": items[-1]["cursor"]',
        "prev_cursor is that of the first item",
        f"{_LINES}::test_backward_is_newest_first_and_exclusive",
    ),
    Mutant(
        _PAGES,
        "for row in found[:limit]]",
        "for row in found]",
        "the extra row that decides has_more is not returned",
        f"{_LINES}::test_backward_is_newest_first_and_exclusive",
    ),
    Mutant(
        _HISTORY,
        'oldest_first=arguments.direction == "forward"',
        'oldest_first=after is not None and arguments.direction == "forward"',
        "a forward page without a cursor starts at the first line",
        f"{_LINES}::test_a_page_without_a_cursor_starts_at_the_newest_line_and_a_forward_one_at_the_first",
    ),
    Mutant(
        _HISTORY,
        'oldest_first=arguments.direction == "forward"',
        "oldest_first=after is not None",
        "the direction applies with any combination of cursors",
        f"{_LINES}::test_pages_have_correct_edges_in_either_direction",
    ),
    Mutant(
        _HISTORY,
        "services.clock.now() if arguments.include_artifacts else None",
        "services.clock.now()",
        "a page has artifacts only on request",
        f"{_LINES}::test_page_includes_artifacts_only_on_request",
    ),
    Mutant(
        _RUN,
        'newest_first=arguments.direction == "backward"',
        'newest_first=arguments.direction == "backward" or (before is None and after is None)',
        "the journal without a cursor starts at the first entry",
        f"{_ENTRIES}::test_a_page_without_a_cursor_starts_at_the_first_entry",
    ),
    Mutant(
        _RUN,
        "        before=before,\n        limit",
        "        before=None,\n        limit",
        "a forward page of the journal ends at its edge",
        f"{_GUARDS}::test_page_of_the_journal_stays_between_both_cursors",
    ),
    # Search
    Mutant(
        _HISTORY,
        "conn, arguments.query, place, roles=roles",
        "conn, arguments.query, None, roles=roles",
        "search finds only lines of the run's own conversation",
        _SEARCH,
    ),
    Mutant(
        _HISTORY,
        'filters.get("roles"), filters.get("item_types")',
        'None, filters.get("item_types")',
        "search is filtered by roles",
        _SEARCH,
    ),
    Mutant(
        _HISTORY,
        "found[: clamp_limit(arguments.top_k)]",
        "found[: clamp_limit(100)]",
        "top_k limits the items of a search",
        "tests/engine/access/test_search.py::test_top_k_limits_items_but_not_the_count_and_items_have_artifacts",
    ),
    Mutant(
        "engine/store/search.py",
        "hits.order_by(_index.c.rowid.desc())",
        "hits.order_by(_index.c.rowid)",
        "search returns the newest lines",
        "tests/engine/store/test_search.py::test_lines_come_newest_first_and_hits_are_counted_to_a_thousand",
    ),
    Mutant(
        "engine/store/search.py",
        ".all()[::-1][:MAX_HITS]",
        ".all()[:MAX_HITS]",
        "search returns the newest lines of a small conversation",
        "tests/engine/access/test_search.py::test_top_k_limits_items_but_not_the_count_and_items_have_artifacts",
    ),
    Mutant(
        "engine/store/search.py",
        "conditions.append(place.within(transcript))",
        "conditions.append(transcript.c.seq > 0)",
        "a search hit is checked against the conversation of its line",
        "tests/engine/store/test_search.py::test_colliding_place_tokens_reveal_no_foreign_line",
    ),
    Mutant(
        "engine/store/search_index.py",
        """return f'"{terms}"'""",
        "return terms",
        "characters typed without a space must be adjacent",
        "tests/engine/store/test_search.py::test_the_query_does_not_find_the_line",
    ),
    Mutant(
        "engine/store/tokenizer.py",
        "for stretch in folded(query).split():",
        "for stretch in [folded(query)]:",
        "words between spaces are found in any order",
        _SEARCH,
    ),
)
