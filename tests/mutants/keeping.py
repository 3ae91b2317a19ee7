"""Faults in what the run-scoped API keeps and gives back: artifacts, state, storage, files, and models' answers."""

from typing import Final

from tests.mutants.mutant import Mutant

_ARTIFACT: Final = "engine/access/artifact.py"
_STATE: Final = "engine/access/state.py"
_STORAGE: Final = "engine/facts/storage.py"
_ATTACKS: Final = "tests/access/test_attacks.py"
_ATTACK: Final = f"{_ATTACKS}::test_an_attack_is_refused_recorded_and_harmless"
_GUARDS: Final = "tests/access/test_guards.py"
_KEPT: Final = "tests/access/test_state_and_storage.py"
_RANGE: Final = "tests/access/test_artifacts.py::test_a_range_is_just_that_range"
_QUOTA: Final = f"{_ATTACKS}::test_storage_ends_at_its_quota_and_what_was_there_stays"
_COMMITTED: Final = f"{_GUARDS}::test_a_write_is_not_answered_before_its_commit"
_BEFORE: Final = f"{_GUARDS}::test_nothing_leaves_the_host_before_the_call_is_in_the_journal"

MUTANTS: Final = (
    # Artifacts
    Mutant(
        _ARTIFACT,
        "if is_internal(row):",
        "if is_internal(row) and row.run_id == run.order.run_id:",
        "the host's own artifacts are hidden",
        f"{_ATTACK}[the host's own artifact]",
    ),
    Mutant(
        _ARTIFACT,
        "artifacts.get(conn, artifact_id, now=room.clock.now())",
        "artifacts.get(conn, artifact_id, now=0)",
        "an expired artifact is not found",
        f"{_ATTACK}[expired artifact]",
    ),
    Mutant(
        _ARTIFACT,
        "place = Place(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)",
        "place = Place(row.conversation_id, run.order.grants.thread_id, row.bot_id, row.workspace_id)",
        "an artifact of another thread is not read",
        f"{_ATTACK}[artifact of another thread: artifact_read]",
    ),
    Mutant(
        _ARTIFACT,
        "raise Refused(Decision(False, str(error), resource=",
        "raise Refused(Decision(False, str(error), ErrorCode.NOT_FOUND, resource=",
        "a path that leads out of its root is unauthorized",
        f"{_ATTACK}[file swapped for a link]",
    ),
    Mutant(
        _ARTIFACT,
        "if row.storage not in (Storage.BLOB, Storage.FILE):",
        "if row.storage not in (Storage.BLOB,):",
        "a reply never has a path",
        _RANGE,
    ),
    Mutant(
        _ARTIFACT,
        "has_more = offset + len(content) < (row.size_bytes or 0)",
        "has_more = offset + len(content) <= (row.size_bytes or 0)",
        "at the end of an artifact there is no more",
        _RANGE,
    ),
    Mutant(
        _ARTIFACT,
        "READ if given.limit is None else given.limit",
        "READ",
        "a read has no more than its limit",
        _RANGE,
    ),
    Mutant(
        _ARTIFACT,
        "Offset = Annotated[int, Field(ge=0)]",
        "Offset = Annotated[int, Field(ge=-1)]",
        "a negative offset is an invalid argument",
        f"{_ATTACK}[artifact_read_range with {{'offset': -1}}]",
    ),
    # State
    Mutant(
        "engine/access/room.py",
        "if not run.is_settled:",
        "if run.is_settled:",
        "a run sees its own earlier results",
        f"{_GUARDS}::test_a_read_waits_for_the_runs_own_earlier_results",
    ),
    Mutant(
        _STATE,
        "await room.write(lambda tx: state.put(tx.connection, identity, given.key, given.value, change))",
        "room.write(lambda tx: state.put(tx.connection, identity, given.key, given.value, change))",
        "the reply to state_set leaves after the commit",
        f"{_COMMITTED}[state_set]",
    ),
    Mutant(
        "engine/access/storage.py",
        "await room.write(lambda tx: storage.put(",
        "room.write(lambda tx: storage.put(",
        "the reply to set_plugin_storage leaves after the commit",
        f"{_COMMITTED}[set_plugin_storage]",
    ),
    Mutant(
        _STATE,
        "too_large = isinstance(error, StateTooLarge)",
        "too_large = False",
        "a value over its size is payload_too_large",
        f"{_ATTACK}[value over 256 KiB]",
    ),
    Mutant(
        _STATE,
        "too_large = isinstance(error, StateTooLarge)",
        "too_large = True",
        "a key over its length is an invalid argument",
        f"{_ATTACK}[key over 255]",
    ),
    Mutant(
        _STATE,
        "run_id=run.order.run_id, position=run.recorder.position)",
        "run_id=run.order.run_id)",
        "a change names the entry that made it",
        f"{_KEPT}::test_a_change_names_the_run_and_the_entry_of_the_call_that_made_it",
    ),
    Mutant(
        _STATE,
        'prefix=given.prefix or "", limit=LONGEST',
        'prefix=given.prefix or "", limit=10 * LONGEST',
        "keys are listed a hundred at a time",
        f"{_KEPT}::test_keys_are_sorted_and_a_hundred_at_a_time",
    ),
    # Storage
    Mutant(
        "engine/access/storage.py",
        'return f"plugin:{grants.plugin}"',
        "return f\"plugin:{grants.plugin.partition('/')[0]}\"",
        "a plugin's storage is its own",
        f"{_ATTACK}[another plugin's storage]",
    ),
    Mutant(
        "engine/access/storage.py",
        "return f\"workspace:{grants.workspace_id or ''}\"",
        'return "workspace:"',
        "a workspace's storage is its own",
        f"{_ATTACK}[another workspace's storage]",
    ),
    Mutant(
        _STORAGE,
        "select(storage.c.key).where(storage.c.owner == owner)",
        'select(storage.c.key).where(storage.c.owner != "")',
        "no keys of another owner are listed",
        f"{_ATTACKS}::test_one_plugin_never_lists_the_keys_of_another",
    ),
    Mutant(
        _STORAGE,
        "if used + len(value) > QUOTA:",
        "if used > QUOTA:",
        "storage ends at its quota",
        _QUOTA,
    ),
    Mutant(
        _STORAGE,
        "storage.c.owner == owner, storage.c.key != key\n",
        "storage.c.owner == owner\n",
        "a value that is replaced does not count",
        _QUOTA,
    ),
    Mutant(
        _STORAGE,
        "storage.c.owner == owner, storage.c.key != key\n",
        "storage.c.key != key\n",
        "the quota is each owner's own",
        _QUOTA,
    ),
    Mutant(_STORAGE, "if count >= MOST_KEYS:", "if count > MOST_KEYS:", "storage has so many keys at most", _QUOTA),
    Mutant(
        _STORAGE,
        "if len(value) > LARGEST_VALUE:",
        "if len(value) > LARGEST_VALUE + 1:",
        "one value has 1 MiB at most",
        f"{_ATTACK}[value over 1 MiB]",
    ),
    Mutant(
        "engine/access/storage.py",
        "base64.b64decode(given.value_base64, validate=True)",
        "base64.b64decode(given.value_base64)",
        "what is no base64 is not stored",
        f"{_GUARDS}::test_what_is_no_base64_is_not_stored_as_what_is_left_of_it",
    ),
    # Files
    Mutant(
        "engine/resources/files.py",
        "if not path.is_relative_to(real_root):",
        'if ".." in key:',
        "a link leads to no file outside the roots",
        f"{_ATTACK}[file that is a link by now]",
    ),
    Mutant(
        "engine/resources/files.py",
        "if not path.is_relative_to(real_root):",
        "if (real_root / key).is_symlink():",
        "no way up leads to a file outside the roots",
        f"{_ATTACK}[file by .. that the config names]",
    ),
    Mutant(
        "engine/resources/files.py",
        "if status.st_size > LARGEST:",
        "if status.st_size > 2 * LARGEST:",
        "a file over its limit is payload_too_large",
        f"{_GUARDS}::test_a_file_over_its_limit_is_payload_too_large",
    ),
    # Models and tools
    Mutant(
        "engine/access/model.py",
        "DOCUMENTS: Final = 64",
        "DOCUMENTS: Final = 65",
        "64 documents are reranked at most",
        f"{_ATTACK}[65 documents]",
    ),
    Mutant(
        "engine/access/model.py",
        "if len(given.documents) > DOCUMENTS:",
        "if len(given.documents) >= DOCUMENTS:",
        "64 documents fit",
        "tests/access/test_resources.py::test_64_documents_fit",
    ),
    Mutant(
        "engine/access/tool.py",
        "call, leaves_the_host=True)",
        "call)",
        "a tool call is committed before it is made",
        f"{_BEFORE}[call_tool]",
    ),
    Mutant(
        "engine/access/model.py",
        "rerank, leaves_the_host=True",
        "rerank, leaves_the_host=False",
        "reranking is committed before it is asked for",
        f"{_BEFORE}[invoke_rerank]",
    ),
    Mutant(
        "engine/access/model.py",
        "run.count_usage(frame.usage)",
        "run.count_usage(None)",
        "what a stream used counts for the run",
        "tests/access/test_resources.py::test_a_streamed_answer_comes_in_pieces_and_its_usage_counts",
    ),
)
