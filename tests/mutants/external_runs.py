"""Mutants of external runs, the calls for runs, skills, and the scope and match of agents."""

from typing import Final

from tests.mutants.mutant import Mutant

_EXTERNAL: Final = "engine/run/external_run.py"
_API: Final = "engine/api/runs.py"
_CALLS: Final = "engine/access/calls/run.py"
_FILES: Final = "engine/access/calls/files.py"
_FILTER: Final = "engine/project/event_filter.py"
_BINDING: Final = "engine/project/binding.py"
_CONFIG: Final = "engine/project/config.py"
_SKILLS: Final = "engine/project/skill_loader.py"
_RUNS: Final = "tests/engine/api/test_external_runs.py"
_SAME: Final = f"{_RUNS}::test_ten_thousand_results_from_outside_give_the_entries_of_the_same_runner_run_here"
_LIST: Final = "tests/engine/access/test_run_calls.py"
_BODIES: Final = "tests/engine/access/test_skills.py"
_LOADER: Final = "tests/engine/project/test_skills.py"
_BIND: Final = "tests/engine/project/test_binding.py"
_RECORD: Final = "tests/console/cli/test_record.py"

MUTANTS: Final = (
    # External runs
    Mutant(
        _EXTERNAL,
        "live.unreadable(value.reason, value.size + _FRAME_BYTES)",
        "live.unreadable(value.reason, value.size)",
        "results from outside are recorded like those of a child",
        _SAME,
    ),
    Mutant(
        _EXTERNAL,
        'if wire.too_wide(b"{" + line):',
        'if wire.too_wide(b""):',
        "results from outside have the limits of a child's",
        _SAME,
    ),
    Mutant(
        _EXTERNAL,
        'if result.get("run_id") == order.external_id else result',
        "if True else result",
        "a result with the id of another run fails the run",
        f"{_RUNS}::test_results_may_carry_the_id_of_the_run_elsewhere_and_no_other",
    ),
    Mutant(
        _EXTERNAL,
        "        async with self._order:\n            if isinstance(line, wire.Fault):",
        "        if True:\n            if isinstance(line, wire.Fault):",
        "large and small results keep their order",
        f"{_RUNS}::test_large_and_small_results_keep_their_order",
    ),
    Mutant(
        _EXTERNAL,
        "        if self._ending.done():\n            raise",
        "        if False:\n            raise",
        "no result is added to a run that has ended",
        f"{_RUNS}::test_no_result_is_added_once_the_end_is_decided",
    ),
    Mutant(
        _EXTERNAL,
        "    if order.breakpoints:",
        "    if False:",
        "an external run has no breakpoints",
        f"{_RUNS}::test_a_user_can_stop_it_but_not_pause_it",
    ),
    Mutant(
        "engine/api/core.py",
        "        if live.order.is_external:",
        "        if False:",
        "an external run cannot be paused",
        f"{_RUNS}::test_a_user_can_stop_it_but_not_pause_it",
    ),
    Mutant(
        _EXTERNAL,
        "apis = {name: Clause(False, EXECUTED_ELSEWHERE)",
        "apis = {name: Clause(True, EXECUTED_ELSEWHERE)",
        "an external run makes no calls and cannot be steered",
        f"{_RUNS}::test_results_have_their_effects_and_the_journal_says_that_the_run_is_external",
    ),
    Mutant(
        "engine/queue/claims.py",
        "    if run.order.is_external:",
        "    if False:",
        "a message says why an external run cannot be steered",
        f"{_RUNS}::test_an_external_run_takes_the_slot_and_messages_wait_for_its_end",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "        elif known is None and order.is_external:",
        "        elif False:",
        "an external run does not wait for its slot",
        f"{_RUNS}::test_nothing_is_recorded_of_a_run_whose_slot_or_event_is_taken",
    ),
    Mutant(
        _API,
        "        if ticket.is_repeat:\n            raise EventTaken",
        "        if False:\n            raise EventTaken",
        "an event that was accepted before makes no external run",
        f"{_RUNS}::test_nothing_is_recorded_of_a_run_whose_slot_or_event_is_taken",
    ),
    Mutant(
        _API,
        "        if status not in (None, run.status):",
        "        if False:",
        "a run that has ended cannot end with another status",
        f"{_RUNS}::test_a_terminal_result_decides_over_another_status",
    ),
    Mutant(
        _API,
        "        if run.host != self._core.require_host().host_id:",
        "        if False:",
        "an external run belongs to the process that created it",
        f"{_RUNS}::test_only_external_runs_of_this_process_take_results",
    ),
    Mutant(
        _API,
        "        if not run.metadata.get(runs.EXTERNAL):",
        "        if False:",
        "a run with a runner here takes no results from outside",
        f"{_RUNS}::test_only_external_runs_of_this_process_take_results",
    ),
    Mutant(
        "console/cli/record.py",
        "asyncio.ensure_future(engine.runs.wait_for_end(run_id)),",
        "asyncio.ensure_future(stopping.wait()),",
        "`record` ends with its run, also if its input is open",
        f"{_RECORD}::test_a_deadline_a_stop_and_a_signal_end_the_command_while_its_input_is_open",
    ),
    Mutant(
        "console/model/commands/availability.py",
        "    if now.is_external:",
        "    if False:",
        "the screen says why an external run cannot be paused",
        "tests/console/main/test_external_runs.py::test_an_external_run_can_be_stopped_but_not_paused_or_steered",
    ),
    # Calls for runs
    Mutant(
        "engine/store/runs.py",
        "query = select(runs).where(runs.c.runner_id == runner_id)",
        "query = select(runs)",
        "run_list lists runs of the same runner only",
        f"{_LIST}::test_run_list_has_the_runs_of_this_runner_in_this_place_newest_first",
    ),
    Mutant(
        "engine/store/runs.py",
        "        query = query.where(column == value)  # SQLAlchemy",
        "        query = query if value else query.where(column == value)  # SQLAlchemy",
        "run_list lists runs of the same place only",
        f"{_LIST}::test_run_list_has_the_runs_of_this_runner_in_this_place_newest_first",
    ),
    Mutant(
        "engine/store/runs.py",
        "        query = query.where(tuple_(*order) < before)",
        "        query = query.where(runs.c.created_at < before[0])",
        "a page of runs loses none that was created at the same time",
        f"{_LIST}::test_pages_of_runs_have_every_run_once",
    ),
    Mutant(
        _CALLS,
        "    if unknown is None:\n        return None",
        "    if True:\n        return None",
        "an unknown status is refused",
        f"{_LIST}::test_statuses_limit_the_list_and_an_unknown_one_is_refused",
    ),
    Mutant(
        _CALLS,
        "    if not found or found[0].runner_id != run.order.grants.runner_id:",
        "    if not found:",
        "run_cancel knows no runs of another runner",
        f"{_LIST}::test_runs_of_other_places_and_runners_and_unknown_runs_are_refused_alike",
    ),
    Mutant(
        _CALLS,
        "    if _place_of(found[0]) != conversation_key_of_run(run):",
        "    if False:",
        "run_cancel knows no runs of another place",
        f"{_LIST}::test_runs_of_other_places_and_runners_and_unknown_runs_are_refused_alike",
    ),
    Mutant(
        "engine/host.py",
        "        asyncio.get_running_loop().call_soon(stop)",
        "        stop()",
        "a run that stops itself gets the reply first",
        f"{_LIST}::test_a_run_can_stop_itself_and_gets_the_reply_first",
    ),
    Mutant(
        "engine/run/call_permissions.py",
        "yield call, self._in_conversation(Clause(True, ",
        "yield call, (Clause(True, ",
        "run_list and run_cancel need a conversation",
        f"{_LIST}::test_both_calls_need_a_conversation",
    ),
    # Skills
    Mutant(
        _FILES,
        "return (_require_file if arguments.skill_name is None else _require_skill)(grants, arguments)",
        "return _require_file(grants, arguments) if arguments.skill_name is None else Decision(True, '')",
        "the body of a skill needs a grant of the skill",
        f"{_BODIES}::test_body_of_a_granted_skill_is_read_and_others_are_refused",
    ),
    Mutant(
        "engine/resources/skills.py",
        "return split_header(file.read(MAX_FILE_BYTES))[1]",
        "return file.read(MAX_FILE_BYTES)",
        "the body of a skill has no header",
        f"{_LOADER}::test_a_folder_of_skills_and_a_single_skill_are_found",
    ),
    Mutant(
        _SKILLS,
        "            if name in folders:",
        "            if False:",
        "two skills cannot have one name",
        f"{_LOADER}::test_two_skills_of_one_name_are_an_error",
    ),
    Mutant(
        _CONFIG,
        "*map(self.path_of, scripts + known), *skills)",
        "*map(self.path_of, scripts + known))",
        "an edited skill is noticed",
        f"{_LOADER}::test_an_edited_and_an_added_skill_are_noticed",
    ),
    # Scope and match
    Mutant(
        _FILTER,
        "return envelope.bot_id == self.scope_id",
        "return True",
        "an agent of a bot handles only the events of the bot",
        f"{_BIND}::test_scope_limits_an_agent_to_a_bot_a_workspace_or_to_senders_that_name_it",
    ),
    Mutant(
        _FILTER,
        "return envelope.workspace_id == self.scope_id",
        "return envelope.bot_id == self.scope_id",
        "an agent of a workspace handles only the events of the workspace",
        f"{_BIND}::test_scope_limits_an_agent_to_a_bot_a_workspace_or_to_senders_that_name_it",
    ),
    Mutant(
        "engine/project/agents.py",
        '"workspace", "global"] = "global"',
        '"workspace", "global"] = "agent"',
        "an agent without a scope is global",
        f"{_BIND}::test_binding_copies_its_agent_config",
    ),
    Mutant(
        _FILTER,
        "return is_named or (self._is_in_scope(envelope) and self._matches(envelope))",
        "return is_named or self._is_in_scope(envelope)",
        "every pattern must fit",
        f"{_BIND}::test_every_pattern_must_fit_a_whole_field_of_the_event",
    ),
    Mutant(
        _FILTER,
        "return text is not None and matches_pattern(text, pattern)",
        'return matches_pattern(text or "", pattern)',
        "a missing field fits no pattern",
        f"{_BIND}::test_every_pattern_must_fit_a_whole_field_of_the_event",
    ),
    Mutant(
        _BINDING,
        "    if len(candidates) > 1:",
        '    if len(candidates) > 1 and all(one.scope.type == "global" for one in candidates):',
        "a narrower scope does not win over a wider one",
        f"{_BIND}::test_a_narrower_scope_does_not_win_over_a_wider_one",
    ),
    Mutant(
        _CONFIG,
        "if envelope is None or entry.handles(envelope):",
        "if True:",
        "an invalid agent matters only for the events that it would handle",
        f"{_BIND}::test_scope_and_match_of_trackside_yaml_choose_the_agent",
    ),
)
