"""Mutants of state: its owner, its values, and its history."""

from typing import Final

from tests.mutants.mutant import Mutant

_SCOPES: Final = "engine/store/scope_identity.py"
_OWNER: Final = '_OWNER: Final = ("runner_id", "binding_id", "bot_id", "workspace_id")'
_IDENTITY: Final = "tests/engine/run/test_state.py::test_scopes_with_different_identities_are_separate"
_KEY: Final = "tests/engine/run/test_state.py::test_the_key_of_a_scope_is_a_hash_over_sorted_compact_json"

_LIMITS: Final = "tests/engine/store/test_state_limits.py"
_RUN_LIMITS: Final = "tests/engine/run/test_state_limits.py"

MUTANTS: Final = (
    # The parts of a scope's key
    Mutant(
        _SCOPES,
        _OWNER,
        '_OWNER: Final = ("binding_id", "bot_id", "workspace_id")',
        "a scope key depends on the runner",
        _KEY,
    ),
    Mutant(
        _SCOPES,
        _OWNER,
        '_OWNER: Final = ("runner_id", "bot_id", "workspace_id")',
        "a scope key depends on the binding",
        "tests/engine/run/test_state.py::test_another_binding_has_its_own_state",
    ),
    Mutant(
        _SCOPES,
        _OWNER,
        '_OWNER: Final = ("runner_id", "binding_id", "workspace_id")',
        "a scope key depends on the bot",
        _IDENTITY,
    ),
    Mutant(
        _SCOPES,
        _OWNER,
        '_OWNER: Final = ("runner_id", "binding_id", "bot_id")',
        "a scope key depends on the workspace",
        _IDENTITY,
    ),
    Mutant(
        _SCOPES,
        '(*_OWNER, "conversation_id", "thread_id")',
        '(*_OWNER, "conversation_id")',
        "the key of a conversation depends on the thread",
        _IDENTITY,
    ),
    Mutant(
        _SCOPES,
        '(*_OWNER, "actor_type", "actor_id")',
        '(*_OWNER, "actor_id")',
        "the key of an actor depends on its type",
        _IDENTITY,
    ),
    Mutant(
        _SCOPES,
        '(*_OWNER, "subject_type", "subject_id")',
        '(*_OWNER, "subject_type")',
        "the key of a subject depends on its id",
        _IDENTITY,
    ),
    Mutant(
        _SCOPES,
        '"actor_type": actor_type or "user"',
        '"actor_type": actor_type or "unknown"',
        "the default type of an actor is user",
        "tests/engine/store/test_state.py::test_identity_has_only_the_parts_of_its_key_and_default_types",
    ),
    Mutant(
        _SCOPES,
        'sort_keys=True, separators=(",", ":")',
        "sort_keys=True",
        "a scope's key is made of compact JSON",
        "tests/engine/store/test_state.py::test_a_scope_key_is_a_digest_of_sorted_compact_json",
    ),
    Mutant(
        _SCOPES,
        "if needed is not None and not known[needed]:",
        "if needed is not None and needed not in known:",
        "a scope whose identity the event lacks has no key",
        "tests/engine/run/test_state.py::test_a_scope_whose_identity_the_event_lacks_reads_empty_and_refuses_writes",
    ),
    # Policy
    Mutant(
        "engine/run/scopes_of_run.py",
        "elif scope not in policy.state_scopes:",
        "elif not policy.state_scopes:",
        "a scope that is off by policy reads empty and refuses writes",
        "tests/engine/run/test_state.py::test_a_scope_that_is_off_by_policy_reads_empty_and_refuses_writes",
    ),
    Mutant(
        "engine/run/scopes_of_run.py",
        "if not policy.enable_state:",
        "if policy.enable_state is None:",
        "state that is off reads empty and refuses writes",
        "tests/engine/run/test_state.py::test_state_that_is_off_reads_empty_and_refuses_writes",
    ),
    # Stored data
    Mutant(
        "engine/store/state.py",
        "MAX_KEY_CHARACTERS: Final = 255",
        "MAX_KEY_CHARACTERS: Final = 256",
        "a state key has at most 255 characters",
        "tests/engine/store/test_state.py::test_limits_of_keys_and_values_are_exact",
    ),
    Mutant(
        "engine/store/state.py",
        "        if added_bytes > 0 and total_bytes + added_bytes > self.max_bytes:",
        "        if added_bytes > 0 and total_bytes > self.max_bytes:",
        "a state scope is limited to the byte",
        f"{_LIMITS}::test_a_scope_is_limited_to_the_byte_and_refuses_what_exceeds_it",
    ),
    Mutant(
        "engine/store/state.py",
        "        if is_new and keys + 1 > self.max_keys:",
        "        if is_new and keys > self.max_keys:",
        "a state scope is limited to a number of keys",
        f"{_LIMITS}::test_a_scope_is_limited_to_a_number_of_keys",
    ),
    Mutant(
        "engine/run/effects.py",
        "state.put(tx.connection, identity, key, value, change, limits, masked=masked)",
        "state.put(tx.connection, identity, key, value, change, None, masked=masked)",
        "a result cannot exceed the limits of its scope",
        f"{_RUN_LIMITS}::test_a_write_that_exceeds_a_scope_is_refused_to_calls_results_and_the_user",
    ),
    Mutant(
        "engine/access/calls/state.py",
        "state.put(tx.connection, identity, key, value, change, limits, masked=masked)",
        "state.put(tx.connection, identity, key, value, change, None, masked=masked)",
        "a call cannot exceed the limits of its scope",
        f"{_RUN_LIMITS}::test_a_write_that_exceeds_a_scope_is_refused_to_calls_results_and_the_user",
    ),
    Mutant(
        "engine/run/state_snapshot.py",
        "key=lambda value: (-value.size, value.scope, value.key)",
        "key=lambda value: (value.size, value.scope, value.key)",
        "a snapshot that is too large is sent without its largest values",
        f"{_RUN_LIMITS}::test_a_snapshot_that_is_too_large_is_sent_without_its_largest_values",
    ),
    Mutant(
        "engine/store/state.py",
        "_is_deeper(value, MAX_VALUE_DEPTH):",
        "_is_deeper(value, 200):",
        "a state value is not nested deeper than a context can carry",
        f"{_LIMITS}::test_a_value_is_not_nested_deeper_than_a_context_can_carry",
    ),
    Mutant(
        "engine/store/state.py",
        "MAX_VALUE_BYTES: Final = 256 << 10",
        "MAX_VALUE_BYTES: Final = 257 << 10",
        "a state value has at most 256 KiB",
        "tests/engine/store/test_state.py::test_limits_of_keys_and_values_are_exact",
    ),
    Mutant(
        "engine/store/state.py",
        "size = len(text.encode())",
        "size = len(text)",
        "a state value is measured in bytes",
        "tests/engine/store/test_state.py::test_limits_of_keys_and_values_are_exact",
    ),
    Mutant(
        "engine/store/state.py",
        "return EXTERNAL if key == ALIAS else key",
        "return key",
        "conversation_id is an alias of external.conversation_id",
        "tests/engine/store/test_state.py::test_alias_conversation_id_reads_as_the_conversation_until_it_is_set",
    ),
    Mutant(
        "engine/store/state.py",
        "func.substr(state.c.state_key, 1, len(prefix)) == prefix",
        'state.c.state_key.like(prefix + "%")',
        "a prefix is matched literally",
        "tests/engine/store/test_state.py::test_keys_are_sorted_and_a_prefix_is_taken_literally",
    ),
    Mutant(
        "engine/store/state.py",
        "state_changes.c.journal_row <= journal_row",
        "state_changes.c.journal_row < journal_row",
        "a scope can be read as of any entry",
        "tests/engine/store/test_state.py::test_scope_can_be_read_as_of_any_entry_with_the_writer_of_each_value",
    ),
    Mutant(
        "engine/store/state.py",
        "if gone:\n        _note(",
        "if not gone:\n        _note(",
        "every change is recorded, including deletions",
        "tests/engine/store/test_state.py::test_every_change_of_a_key_is_kept",
    ),
)
