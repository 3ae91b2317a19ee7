"""Mutants of what is stored in clear, how it is shown, how an edit puts secrets back, and of the log."""

from typing import Final

from tests.mutants.mutant import Mutant

_MASK: Final = "engine/journal/secret_mask.py"
_FIELDS: Final = "tests/engine/run/test_secret_fields.py"
_PUT_BACK: Final = "tests/engine/journal/test_put_back.py"
_CONTENTS: Final = "tests/engine/queue/test_contents.py"
_BREAKPOINTS: Final = "tests/engine/run/test_breakpoints.py"
_LOG: Final = "tests/console/cli/test_log.py"
_SHOWN: Final = f"{_FIELDS}::test_users_line_is_masked_for_the_user_and_in_clear_for_the_runner"
_STATE: Final = f"{_FIELDS}::test_state_is_read_with_its_secrets_masked_and_an_edit_keeps_them"
_ARTIFACT: Final = f"{_FIELDS}::test_artifact_is_listed_with_its_secrets_masked_and_its_runner_gets_them_back"
_NAMES: Final = f"{_FIELDS}::test_ids_and_keys_of_a_runner_with_a_secret_are_refused"
_LEARNED: Final = f"{_FIELDS}::test_secret_that_an_earlier_run_saved_is_masked_in_later_runs"
_USER_TEXTS: Final = f"{_FIELDS}::test_texts_that_the_user_writes_outside_of_a_run_are_masked"
_GRANTS: Final = f"{_FIELDS}::test_stored_grants_are_masked_and_keep_the_keys_of_the_state"
_QUEUE: Final = f"{_CONTENTS}::test_queue_shows_a_message_masked_and_keeps_it_in_clear_only_until_its_fate_is_decided"
_RESTORED: Final = f"{_CONTENTS}::test_withdrawn_message_is_restored_with_its_secret_or_refused"
_REPLY: Final = f"{_BREAKPOINTS}::test_paused_reply_is_shown_masked_and_an_edit_puts_the_secret_back"
_UPGRADE: Final = "tests/engine/store/test_upgrade.py::test_upgrade_masks_the_messages_whose_fate_is_decided[0005]"

MUTANTS: Final = (
    # Marks
    Mutant(
        _MASK,
        'return re.compile(f"{_MARK}[^‹›]*›|{self._values.pattern}")',
        "return self._values",
        "a mark is not masked again",
        f"{_PUT_BACK}::test_mark_is_not_masked_again",
    ),
    Mutant(
        _MASK,
        'return f"{_MARK}{self._values.sub(lambda secret: self._mark_of[secret[0]], inner)}›"',
        "return text",
        "a secret in a text that looks like a mark is masked",
        f"{_PUT_BACK}::test_secret_inside_a_text_that_looks_like_a_mark_is_masked",
    ),
    Mutant(
        _MASK,
        "        result[value] = unique",
        "        result[value] = name",
        "each mark stands for one secret",
        f"{_PUT_BACK}::test_each_mark_stands_for_one_secret",
    ),
    Mutant(
        _MASK,
        "return original if isinstance(shown, str) and edited == shown else self.put_back_words(edited)",
        "return self.put_back_words(edited)",
        "a masked number that was not edited is a number again",
        f"{_PUT_BACK}::test_value_that_was_not_edited_is_the_original_again",
    ),
    Mutant(
        _MASK,
        "if len(value) >= _SHORTEST_IN_NAME and value in name)",
        "if value in name)",
        "a short secret may be in a name",
        f"{_PUT_BACK}::test_only_a_long_secret_is_searched_for_in_names",
    ),
    # Events and results
    Mutant(
        "engine/run/prepare.py",
        "    refuse_secret_ids(envelope, binding.agent_id, mask)",
        "    pass",
        "an event with a secret in an id is refused",
        f"{_FIELDS}::test_event_with_a_secret_in_an_id_is_refused",
    ),
    Mutant(
        "engine/run/prepare.py",
        "secrets_in((*config.items(), *launch.env, *given))",
        "secrets_in((*config.items(), *launch.env))",
        "secrets in parameters are masked",
        f"{_FIELDS}::test_parameter_with_the_name_of_a_secret_is_masked",
    ),
    Mutant(
        "engine/run/live.py",
        "return self.order.secret_mask.cover_words(kind)[:MAX_TYPE_LENGTH]",
        "return self.order.secret_mask.cover_words(kind[:MAX_TYPE_LENGTH])",
        "the type of an unknown result is masked before it is cut",
        f"{_FIELDS}::test_type_of_an_unknown_result_is_masked_before_it_is_cut",
    ),
    Mutant(
        "engine/run/effects.py",
        "if (secret := self._order.secret_mask.secret_in_name(artifact_id)) is not None:",
        "if (secret := None) is not None:",
        "an artifact id with a secret is refused",
        _NAMES,
    ),
    Mutant(
        "engine/run/effects.py",
        "state.refuse_secret(mask.secret_in_name(key))",
        "pass",
        "a state key with a secret is refused",
        _NAMES,
    ),
    Mutant(
        "engine/run/effects.py",
        "artifacts.register(tx.connection, mask_artifact(row, content, self._order.secret_mask), content)",
        "artifacts.register(tx.connection, row, content)",
        "the fields of an artifact are masked",
        _ARTIFACT,
    ),
    Mutant(
        "engine/run/store_event.py",
        "row = mask_artifact(row, content, mask)",
        "del mask",
        "the fields of an attachment are masked",
        _ARTIFACT,
    ),
    Mutant(
        "engine/access/calls/artifact.py",
        "return _with_secrets(row, run.order.secret_mask)",
        "return row",
        "a runner gets the metadata that it wrote",
        _ARTIFACT,
    ),
    Mutant(
        "engine/api/artifacts.py",
        "return mask_ranges(content, [*noted, *mask.ranges_in(content)])",
        "return mask_ranges(content, mask.ranges_in(content))",
        "the content of an artifact is shown masked by a process that does not know the secret",
        _ARTIFACT,
    ),
    # The transcript
    Mutant(
        "engine/access/calls/history.py",
        "    line = _with_secrets(line, mask)",
        "    pass",
        "a runner pages the user's message in clear",
        _SHOWN,
    ),
    # State
    Mutant(
        "engine/store/state.py",
        'return func.coalesce(func.json_extract(table.c.masked, "$.shown"), table.c.value)',
        "return table.c.value",
        "state is shown masked",
        _STATE,
    ),
    Mutant(
        "engine/api/state.py",
        "clear, mask = SecretMask(secrets).put_back(value, former), SecretMask",
        "clear, mask = value, SecretMask",
        "an edit of a state value puts the secret back",
        _STATE,
    ),
    Mutant(
        "engine/store/state_edits.py",
        "state.put(conn, identity, key, decode(former), hand.change, limits, masked=masked)",
        "state.put(conn, identity, key, decode(former), hand.change, limits)",
        "a restored value is shown masked",
        _STATE,
    ),
    Mutant(
        "engine/store/state.py",
        "put(conn, identity, key, decode(text), change, limits=None, masked=masked)",
        "put(conn, identity, key, decode(text), change, limits=None)",
        "the state of a fork is shown masked",
        _STATE,
    ),
    Mutant(
        "engine/run/orchestrator.py",
        "        live.learn_secrets(facts.secrets)",
        "        pass",
        "secrets that an earlier run saved are masked in the context",
        _LEARNED,
    ),
    Mutant(
        "engine/access/calls/state.py",
        "    run.learn_secrets(secrets)",
        "    pass",
        "a secret that a run reads from state is masked",
        f"{_FIELDS}::test_secret_that_a_run_reads_from_state_is_masked",
    ),
    Mutant(
        "engine/run/live.py",
        "if self._delta_mask.is_outdated:",
        "if False:",
        "a learned secret is masked in deltas",
        _LEARNED,
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "        run.learn_secrets(order.secret_mask.secrets)",
        "        pass",
        "the secrets of a message are masked in the run that it joins",
        f"{_CONTENTS}::test_secret_that_only_the_message_knows_is_masked_in_the_run_that_it_joins",
    ),
    # Texts of the user
    Mutant(
        "engine/api/sessions.py",
        "        shown = (await self._core.secret_mask()).cover_value(title)",
        "        shown = title",
        "a title that the user gives is masked",
        _USER_TEXTS,
    ),
    Mutant(
        "engine/api/sessions.py",
        '        raise SessionRefused(f"the session id contains the secret {name}. Use an id without it.")',
        "        return",
        "a session whose id contains a secret is not created",
        f"{_FIELDS}::test_session_with_a_secret_in_its_id_is_not_created",
    ),
    Mutant(
        "engine/run/masked_event.py",
        """in (*_ids(envelope), ("the agent's id", agent_id)):""",
        "in _ids(envelope):",
        "an agent whose id contains a secret starts no run",
        f"{_FIELDS}::test_agent_with_a_secret_in_its_id_starts_no_run",
    ),
    # Grants
    Mutant(
        "engine/run/grants.py",
        '"resources": mask.cover_value(self.resources.model_dump(mode="json")),',
        '"resources": self.resources.model_dump(mode="json"),',
        "texts of granted resources are masked in the stored grants",
        _GRANTS,
    ),
    Mutant(
        "engine/run/rows.py",
        "authorization=order.grants.snapshot(order.secret_mask),",
        "authorization=order.secret_mask.cover_value(order.grants.snapshot(order.secret_mask)),",
        "keys of state scopes are not masked",
        _GRANTS,
    ),
    Mutant(
        "console/cli/grants.py",
        "    return [order.secret_mask.cover_words(text) for text in order.warnings]",
        "    return list(order.warnings)",
        "`run --grants` masks its warnings",
        "tests/console/cli/test_planted_secret.py::test_planted_secret_is_found_in_the_listed_places_and_nowhere_else",
    ),
    # The queue
    Mutant(
        "engine/store/queue.py",
        "item = as_shown(replace(item, decided_at=at))",
        "item = replace(item, decided_at=at)",
        "a message is masked when its fate is decided",
        _QUEUE,
    ),
    Mutant(
        "engine/api/queue.py",
        "return [queue.as_shown(item) for item in items]",
        "return items",
        "queued messages are listed masked",
        _QUEUE,
    ),
    Mutant(
        "engine/queue/user_edits.py",
        "edited = _with_text(item, _put_back(text, masks), masks)",
        "edited = _with_text(item, text, masks)",
        "an edit of a queued message puts the secret back",
        _QUEUE,
    ),
    Mutant(
        "engine/api/queue.py",
        "whole = put_back_secrets(envelope, mask)",
        "whole = envelope",
        "a message that is sent again has its secrets",
        _RESTORED,
    ),
    Mutant(
        "engine/api/queue.py",
        "if has_mark(whole.model_dump_json()):",
        "if False:",
        "a message whose secret is not known is not sent with its mark",
        _RESTORED,
    ),
    Mutant(
        "engine/store/migrations/versions/v0012_masked_values.py",
        "given = text, json.dumps(masked), json.dumps(metadata), item_id",
        "given = text, envelope_text, json.dumps(metadata), item_id",
        "an upgrade masks the messages whose fate is decided",
        _UPGRADE,
    ),
    Mutant(
        "engine/api/past_event.py",
        "envelope = mask_event(_with_raw(conn, envelope, lost, now), mask)",
        "envelope = _with_raw(conn, envelope, lost, now)",
        "large data of a past event is masked",
        "tests/engine/api/test_state_and_events.py::test_large_data_of_a_past_event_is_masked",
    ),
    # Paused replies
    Mutant(
        "engine/access/held_calls.py",
        "original=None if original is None else _masked(run, original),",
        "original=original,",
        "a paused reply is shown masked",
        _REPLY,
    ),
    Mutant(
        "engine/access/held_calls.py",
        "edit = check_edited_reply(call.call_type.name, run.order.secret_mask.put_back(reply, original))",
        "edit = check_edited_reply(call.call_type.name, reply)",
        "an edited reply gets its secrets back",
        _REPLY,
    ),
    Mutant(
        "console/ui/main/run_control.py",
        "if is_too_large(pause.edit or pause.original):",
        "if False:",
        "a reply that is too large is not opened in the editor",
        "tests/console/main/test_breakpoints.py::test_reply_that_is_too_large_for_the_editor_is_refused",
    ),
    # The log
    Mutant(
        "console/cli/main.py",
        "            sub.add_log()",
        "            pass",
        "every command has --log",
        f"{_LOG}::test_every_command_has_the_option",
    ),
    Mutant(
        "console/cli/log.py",
        "return safe(process_mask().cover_words(super().format(record)))",
        "return safe(super().format(record))",
        "secrets are masked in the log",
        f"{_LOG}::test_secrets_of_environment_arguments_and_runs_are_masked",
    ),
    Mutant(
        "console/cli/terminal.py",
        "for line in mask_secrets(message).splitlines() if line.strip())",
        "for line in message.splitlines() if line.strip())",
        "secrets are masked in errors",
        f"{_LOG}::test_secrets_of_runs_are_masked_in_errors_and_reports_of_failures",
    ),
    Mutant(
        "console/data/secret_text.py",
        "    return process_mask().cover_words(text)",
        "    return text",
        "secrets are masked in reports of failures",
        f"{_LOG}::test_secrets_of_runs_are_masked_in_errors_and_reports_of_failures",
    ),
    Mutant(
        "console/cli/log.py",
        "os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)",
        "os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)",
        "only its owner can read the log",
        f"{_LOG}::test_log_tells_what_a_run_did_and_is_private",
    ),
)
