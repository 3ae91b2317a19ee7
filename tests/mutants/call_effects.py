"""Mutants of what calls store and return: artifacts, state, storage, files, and replies of models."""

from typing import Final

from tests.mutants.mutant import Mutant

_ARTIFACT: Final = "engine/access/calls/artifact.py"
_STATE: Final = "engine/access/calls/state.py"
_STORAGE: Final = "engine/store/storage.py"
_ATTACKS: Final = "tests/engine/access/test_attacks.py"
_ATTACK: Final = f"{_ATTACKS}::test_attack_is_refused_and_recorded_and_changes_nothing"
_GUARDS: Final = "tests/engine/access/test_guards.py"
_STATE_CALLS: Final = "tests/engine/access/test_state_and_storage.py"
_READ_RANGE: Final = "tests/engine/access/test_artifacts.py::test_read_range_returns_exactly_the_requested_bytes"
_QUOTA: Final = f"{_ATTACKS}::test_storage_over_its_quota_is_refused_and_existing_values_stay"
_COMMITTED: Final = f"{_GUARDS}::test_a_write_is_not_answered_before_its_commit"
_RECORDED_FIRST: Final = f"{_GUARDS}::test_nothing_leaves_the_host_before_the_call_is_in_the_journal"

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
        "artifacts.get(conn, artifact_id, now=services.clock.now())",
        "artifacts.get(conn, artifact_id, now=0)",
        "an expired artifact is not found",
        f"{_ATTACK}[expired artifact]",
    ),
    Mutant(
        _ARTIFACT,
        "place = ConversationKey(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)",
        "place = ConversationKey(row.conversation_id, run.order.grants.thread_id, row.bot_id, row.workspace_id)",
        "an artifact of another thread is not read",
        f"{_ATTACK}[artifact of another thread: artifact_read]",
    ),
    Mutant(
        _ARTIFACT,
        "raise CallRefused(Decision(False, str(error), resource=",
        "raise CallRefused(Decision(False, str(error), ErrorCode.NOT_FOUND, resource=",
        "a path outside its root is unauthorized",
        f"{_ATTACK}[file swapped for a link]",
    ),
    Mutant(
        _ARTIFACT,
        "if row.storage not in (Storage.BLOB, Storage.FILE):",
        "if row.storage not in (Storage.BLOB,):",
        "a reply has no file path",
        _READ_RANGE,
    ),
    Mutant(
        _ARTIFACT,
        "has_more = offset + len(content) < (row.size_bytes or 0)",
        "has_more = offset + len(content) <= (row.size_bytes or 0)",
        "has_more is false at the end of an artifact",
        _READ_RANGE,
    ),
    Mutant(
        _ARTIFACT,
        "READ if arguments.limit is None else arguments.limit",
        "READ",
        "a read returns at most its limit",
        _READ_RANGE,
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
        "engine/access/services.py",
        "if run.has_pending_writes:",
        "if not run.has_pending_writes:",
        "a run sees its own earlier results",
        f"{_GUARDS}::test_read_waits_for_earlier_results_of_the_same_run",
    ),
    Mutant(
        _STATE,
        "await services.write(lambda tx: state.put(tx.connection",
        "services.write(lambda tx: state.put(tx.connection",
        "the reply to state_set is sent after the commit",
        f"{_COMMITTED}[state_set]",
    ),
    Mutant(
        "engine/access/calls/storage.py",
        "await services.write(write)",
        "services.write(write)",
        "the reply to set_plugin_storage is sent after the commit",
        f"{_COMMITTED}[set_plugin_storage]",
    ),
    Mutant(
        _STATE,
        "too_large = isinstance(error, StateTooLarge | StateFull)",
        "too_large = False",
        "a value over the size limit fails as payload_too_large",
        f"{_ATTACK}[value over 256 KiB]",
    ),
    Mutant(
        _STATE,
        "too_large = isinstance(error, StateTooLarge | StateFull)",
        "too_large = True",
        "a key over the length limit is an invalid argument",
        f"{_ATTACK}[key over 255]",
    ),
    Mutant(
        "engine/access/services.py",
        "run_id=run.order.run_id, position=run.recorder.position",
        "run_id=run.order.run_id",
        "a state change has the entry that made it",
        f"{_STATE_CALLS}::test_state_change_has_the_run_and_entry_of_its_call",
    ),
    Mutant(
        _STATE,
        'prefix=arguments.prefix or "", limit=MAX_PAGE_ITEMS',
        'prefix=arguments.prefix or "", limit=10 * MAX_PAGE_ITEMS',
        "at most 100 keys are listed at a time",
        f"{_STATE_CALLS}::test_keys_are_sorted_and_paged_by_a_hundred",
    ),
    # Storage
    Mutant(
        "engine/access/calls/storage.py",
        "return storage.plugin_owner(grants.plugin)",
        "return storage.plugin_owner(grants.plugin.partition('/')[0])",
        "a plugin reads only its own storage",
        f"{_ATTACK}[another plugin's storage]",
    ),
    Mutant(
        "engine/access/calls/storage.py",
        "return storage.workspace_owner(grants.workspace_id)",
        "return storage.workspace_owner(None)",
        "a workspace has its own storage",
        f"{_ATTACK}[another workspace's storage]",
    ),
    Mutant(
        _STORAGE,
        "select(storage.c.key).where(storage.c.owner == owner)",
        'select(storage.c.key).where(storage.c.owner != "")',
        "keys of another owner are not listed",
        f"{_ATTACKS}::test_plugin_cannot_list_storage_keys_of_another_plugin",
    ),
    Mutant(
        _STORAGE,
        "if used + len(value) > QUOTA:",
        "if used > QUOTA:",
        "a write over the storage quota is refused",
        _QUOTA,
    ),
    Mutant(
        _STORAGE,
        "storage.c.owner == owner, storage.c.key != key\n",
        "storage.c.owner == owner\n",
        "a replaced value does not count for the quota",
        _QUOTA,
    ),
    Mutant(
        _STORAGE,
        "storage.c.owner == owner, storage.c.key != key\n",
        "storage.c.key != key\n",
        "each owner has its own quota",
        _QUOTA,
    ),
    Mutant(_STORAGE, "if count >= MAX_KEYS:", "if count > MAX_KEYS:", "the number of storage keys is limited", _QUOTA),
    Mutant(
        _STORAGE,
        "if len(value) > MAX_VALUE_BYTES:",
        "if len(value) > MAX_VALUE_BYTES + 1:",
        "a storage value has at most 1 MiB",
        f"{_ATTACK}[value over 1 MiB]",
    ),
    Mutant(
        "engine/access/calls/storage.py",
        "base64.b64decode(arguments.value_base64, validate=True)",
        "base64.b64decode(arguments.value_base64)",
        "invalid base64 is not stored",
        f"{_GUARDS}::test_invalid_base64_is_refused_and_not_stored_in_part",
    ),
    # Files
    Mutant(
        "engine/rooted_files.py",
        "if not path.is_relative_to(real_root):",
        'if ".." in name:',
        "a link to a file outside the roots is refused",
        f"{_ATTACK}[file replaced by a link]",
    ),
    Mutant(
        "engine/rooted_files.py",
        "if not path.is_relative_to(real_root):",
        'if not path.is_relative_to(real_root := path.parent if ".." in name else real_root):',
        "a path with .. to a file outside the roots is refused",
        f"{_ATTACK}[file by .. that the config names]",
    ),
    Mutant(
        "engine/resources/files.py",
        "if opened.status.st_size > MAX_FILE_BYTES:",
        "if opened.status.st_size > 2 * MAX_FILE_BYTES:",
        "a file over the size limit fails as payload_too_large",
        f"{_GUARDS}::test_file_over_the_size_limit_fails_as_payload_too_large",
    ),
    # Models and tools
    Mutant(
        "engine/access/calls/model.py",
        "MAX_RERANK_DOCUMENTS: Final = 64",
        "MAX_RERANK_DOCUMENTS: Final = 65",
        "at most 64 documents are reranked",
        f"{_ATTACK}[65 documents]",
    ),
    Mutant(
        "engine/access/calls/model.py",
        "if len(arguments.documents) > MAX_RERANK_DOCUMENTS:",
        "if len(arguments.documents) >= MAX_RERANK_DOCUMENTS:",
        "64 documents can be reranked",
        "tests/engine/access/test_resources.py::test_64_documents_can_be_reranked",
    ),
    Mutant(
        "engine/access/calls/tool.py",
        "call, leaves_host=True)",
        "call)",
        "a tool call is committed before it is made",
        f"{_RECORDED_FIRST}[call_tool]",
    ),
    Mutant(
        "engine/access/calls/model.py",
        "rerank, leaves_host=True",
        "rerank, leaves_host=False",
        "a rerank call is committed before it is made",
        f"{_RECORDED_FIRST}[invoke_rerank]",
    ),
    Mutant(
        "engine/access/calls/model.py",
        "run.usage_seen.add(usage)",
        "run.usage_seen.add(None)",
        "the usage of a stream counts for the run",
        "tests/engine/access/test_resources.py::test_model_reply_is_streamed_in_chunks_and_its_usage_counts",
    ),
)
