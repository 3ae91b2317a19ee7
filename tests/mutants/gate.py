"""Mutants of the rules of the access gate, their clauses, and cancelled calls."""

from typing import Final

from tests.mutants.mutant import Mutant

_SERVED: Final = "engine/access/served_call.py"
_GATE: Final = "engine/access/gate.py"
_MODEL: Final = "engine/access/calls/model.py"
_APIS: Final = "engine/run/call_permissions.py"
_ATTACK: Final = "tests/engine/access/test_attacks.py::test_attack_is_refused_and_recorded_and_changes_nothing"
_CALLS: Final = "tests/engine/access/test_calls.py"
_CONTEXT: Final = "tests/engine/run/test_context.py"
_NO_PERMISSIONS: Final = "tests/engine/access/test_gate.py::" + (
    "test_a_runner_without_permissions_gets_the_missing_permission_for_each_call"
)
_MODEL_OPERATIONS: Final = (
    "tests/engine/access/test_gate.py::test_model_operations_are_granted_separately_and_either_allows_count_tokens"
)
_STOPPED: Final = (
    "tests/engine/access/test_attacks.py::test_stopped_run_has_its_call_interrupted_and_may_only_call_run_get"
)

MUTANTS: Final = (
    # Rules of the gate
    Mutant(
        _GATE, "    if not allowed:", "    if not clause:", "a call that is not allowed is refused", _NO_PERMISSIONS
    ),
    Mutant(
        _GATE,
        "granted = grants.operations.get(name)",
        "granted = grants.operations.get(name, frozenset(operations))",
        "a resource that was not granted is refused",
        f"{_ATTACK}[model not granted]",
    ),
    Mutant(
        _GATE,
        "if granted.isdisjoint(operations):",
        "if not granted:",
        "an operation that was not granted is refused",
        f"{_ATTACK}[rerank by a language model]",
    ),
    Mutant(
        _GATE,
        "return Decision(True, grants.clauses[name], resource=name)",
        "return Decision(True, grants.clauses[name])",
        "a decision has the resource of the call",
        "tests/engine/access/test_resources.py::test_model_reply_is_a_message_and_its_usage_is_seen_by_the_host",
    ),
    Mutant(
        _GATE,
        "if scope in grants.state_scopes:",
        "if scope in grants.state_scopes or scope in grants.scopes_off:",
        "a write to a scope that is off is refused",
        f"{_ATTACK}[write to a scope that is off]",
    ),
    Mutant(
        _GATE,
        'is not a state scope", ErrorCode.INVALID_ARGUMENT)',
        'is not a state scope")',
        "an unknown scope is an invalid argument, even for a read",
        f"{_ATTACK}[unknown scope]",
    ),
    Mutant(
        _GATE,
        "if decision.allowed or decision.code is not ErrorCode.UNAUTHORIZED:",
        "if decision.allowed or decision.code is ErrorCode.UNAUTHORIZED:",
        "a scope that is off reads as empty",
        "tests/engine/access/test_attacks.py::test_a_scope_that_is_off_or_has_no_identity_reads_as_empty",
    ),
    Mutant(
        "engine/access/calls/state.py",
        'CallType("state_delete", KeyArguments, (require_scope,), delete)',
        'CallType("state_delete", KeyArguments, (require_readable_scope,), delete)',
        "a delete in a scope without identity is refused",
        f"{_ATTACK}[delete in a scope without identity]",
    ),
    Mutant(
        _GATE,
        "if named is not None and named != grants.conversation_id:",
        'if named == "":',
        "a run reads only its own conversation",
        f"{_ATTACK}[conversation by id]",
    ),
    Mutant(
        _GATE,
        "if named is not None and named != grants.conversation_id:",
        "if named and named != grants.conversation_id:",
        "an empty conversation id is refused as foreign",
        f"{_ATTACK}[conversation by an empty id]",
    ),
    Mutant(
        _GATE,
        "if name in CONVERSATION_FIELDS and value != getattr(grants, name):",
        "if name in CONVERSATION_FIELDS and value not in (None, getattr(grants, name)):",
        "a null filter does not widen the scope",
        f"{_ATTACK}[thread_id None by filter]",
    ),
    Mutant(
        _GATE,
        "if name in CONVERSATION_FIELDS and value != getattr(grants, name):",
        "if name in CONVERSATION_FIELDS and value is None:",
        "a filter with a foreign place is refused",
        f"{_ATTACK}[bot_id 'b2' by filter]",
    ),
    Mutant(
        _GATE,
        "if name in SEARCH_FILTERS and not _is_list_of_strings(value):",
        "if name in SEARCH_FILTERS and not value:",
        "a filter must be a list of texts",
        f"{_ATTACK}[filter that is not a list]",
    ),
    Mutant(
        "engine/access/calls/history.py",
        "SearchArguments, (require_own_filters,), search_history",
        "SearchArguments, (), search_history",
        "the gate checks the filters of a search",
        f"{_ATTACK}[conversation_id 'theirs' by filter]",
    ),
    # Operations of models
    Mutant(
        _MODEL,
        '"model_id", "invoke"),), invoke',
        '"model_id", "invoke", "rerank"),), invoke',
        "a rerank model cannot be invoked",
        f"{_ATTACK}[answer by a rerank model]",
    ),
    Mutant(
        _MODEL,
        '(require_resource("model", "model_id", "stream"),),',
        '(require_resource("model", "model_id", "stream", "rerank"),),',
        "a rerank model cannot be streamed",
        f"{_ATTACK}[stream by a rerank model]",
    ),
    Mutant(
        _MODEL,
        '"model_id", "rerank"),), rerank',
        '"model_id", "rerank", "invoke"),), rerank',
        "a language model cannot rerank",
        f"{_ATTACK}[rerank by a language model]",
    ),
    Mutant(
        _MODEL,
        '"model_id", "invoke", "stream"),), count',
        '"model_id", "invoke"),), count',
        "either invoke or stream allows count_tokens",
        _MODEL_OPERATIONS,
    ),
    # The clauses
    Mutant(
        _APIS,
        "if operation in getattr(self._manifest.permissions, kind):",
        "if getattr(self._manifest.permissions, kind):",
        "one permitted operation does not allow the others",
        _MODEL_OPERATIONS,
    ),
    Mutant(
        _APIS,
        "if clause.allowed and not self._has_conversation:",
        "if clause.allowed and not clause.words:",
        "paging and pulls need a conversation",
        "tests/engine/access/test_attacks.py::test_run_without_conversation_reads_only_its_own_artifacts_and_event",
    ),
    Mutant(
        _APIS,
        'yield "event_page", self._in_conversation(self._permitted("events", "page"))',
        'yield "event_page", self._permitted("events", "page")',
        "event_page needs a conversation",
        f"{_CONTEXT}::test_available_apis_require_their_permission_and_some_a_conversation",
    ),
    Mutant(
        _APIS,
        'yield call, self._permitted("artifacts", "read")',
        'yield call, self._permitted("artifacts", "metadata")',
        "reading an artifact needs its own permission",
        f"{_CONTEXT}::test_each_permission_allows_its_own_call",
    ),
    *(
        Mutant(_APIS, f'("{call}", "{kind}", "{needed}")', f'("{call}", "{kind}", "{other}")', rule, _NO_PERMISSIONS)
        for call, kind, needed, other, rule in (
            ("invoke_llm", "models", "invoke", "stream", "invoke_llm needs models.invoke"),
            ("invoke_llm_stream", "models", "stream", "invoke", "invoke_llm_stream needs models.stream"),
            ("invoke_rerank", "models", "rerank", "invoke", "invoke_rerank needs models.rerank"),
            ("get_tool_detail", "tools", "detail", "call", "get_tool_detail needs tools.detail"),
            ("call_tool", "tools", "call", "detail", "call_tool needs tools.call"),
            (
                "retrieve_knowledge",
                "knowledge_bases",
                "retrieve",
                "list",
                "retrieve_knowledge needs knowledge_bases.retrieve",
            ),
            (
                "list_knowledge_bases",
                "knowledge_bases",
                "list",
                "retrieve",
                "list_knowledge_bases needs knowledge_bases.list",
            ),
        )
    ),
    Mutant(
        _APIS,
        'either = (self._permitted("models", "invoke"), self._permitted("models", "stream"))',
        'either = (self._permitted("models", "invoke"),)',
        "count_tokens needs the permission to invoke or stream",
        _MODEL_OPERATIONS,
    ),
    Mutant(
        _APIS,
        'if not getattr(self._binding.resource_policy, f"allow_{kind}_storage"):',
        "if not self._binding.resource_policy.allow_plugin_storage:",
        "each storage needs its own policy",
        "tests/engine/access/test_guards.py::test_allowed_plugin_storage_does_not_allow_workspace_storage",
    ),
    Mutant(
        _APIS,
        "if not policy.enable_state:",
        "if policy.enable_state is None:",
        "the policy can turn the state calls off",
        "tests/engine/access/test_state_and_storage.py::test_state_calls_are_refused_if_the_policy_turns_state_off",
    ),
    # Interrupted calls
    Mutant(
        _SERVED,
        "raise stopped_decision(run.stop_reason).refusal() from None\n        except AgentAPIException",
        "raise\n        except AgentAPIException",
        "a call interrupted by a stop has the reason",
        _STOPPED,
    ),
    Mutant(
        _SERVED,
        '"the run\'s deadline has passed", ErrorCode.DEADLINE_EXCEEDED',
        '"the run\'s deadline has passed", ErrorCode.CANCELLED',
        "a call interrupted by the deadline fails as deadline_exceeded",
        f"{_CALLS}::test_the_deadline_interrupts_calls_in_flight",
    ),
    Mutant(
        _SERVED,
        '"the run was stopped", ErrorCode.CANCELLED',
        '"the run was stopped", ErrorCode.DEADLINE_EXCEEDED',
        "a call interrupted by a cancel fails as cancelled",
        _STOPPED,
    ),
    Mutant(
        _SERVED,
        'ErrorCode.CANCELLED, "the runner stopped waiting',
        'ErrorCode.RUNTIME_ERROR, "the runner stopped waiting',
        "a call cancelled by its runner is recorded as cancelled",
        f"{_CALLS}::test_call_cancelled_by_its_runner_is_stopped_and_recorded_as_cancelled",
    ),
    Mutant(
        _SERVED,
        "self._record_stream(streamed.close(), error)",
        "self._record_stream(streamed.close(), None)",
        "a stream left early is recorded as cancelled",
        f"{_CALLS}::test_stream_left_early_is_closed_and_its_delivered_chunks_are_recorded",
    ),
)
