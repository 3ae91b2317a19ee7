"""The attack table: what a runner may not do, the code that it is refused with, and how the reason begins."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.access.world import OTHERS, collected, raw

Ids = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Scene:
    """What an attack knows: its own context, and ids of everyone else's things."""

    ctx: Any
    others: Ids

    @property
    def api(self) -> Any:
        return self.ctx.api

    @property
    def theirs(self) -> dict[str, str]:
        return self.others["conversation"]

    def raw(self, action: str, **data: Any) -> Awaitable[Any]:
        return raw(self.ctx, action, **data)


@dataclass(frozen=True)
class Attack:
    name: str
    make: Callable[[Scene], Awaitable[Any]]
    code: str
    words: str
    """How the reason begins."""
    where: str = "call.decided"
    """The entry that records it: the gate's decision, or the answer that failed. `child`: it never left the child."""


UNAUTHORIZED, INVALID, NOT_FOUND, TOO_LARGE = "unauthorized", "invalid_argument", "not_found", "payload_too_large"
ANSWERED, CHILD = "call.replied", "child"


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


FOREIGN_CURSOR = "this cursor belongs to another call or another conversation"
OWN_ONLY = "a run reads its own conversation only"
ANOTHER_PLUGIN = "the call claims to come from another plugin"

PLACES = [
    Attack("conversation by id", lambda s: s.api.history_page("theirs"), UNAUTHORIZED, OWN_ONLY),
    Attack("conversation by an empty id", lambda s: s.api.history_page(""), UNAUTHORIZED, OWN_ONLY),
    *(
        Attack(
            f"{name} by cursor",
            lambda s, n=name: s.api.history_page(before_cursor=s.others[n]["history"]),
            UNAUTHORIZED,
            FOREIGN_CURSOR,
        )
        for name in OTHERS
    ),
    Attack(
        "conversation by cursor, forward",
        lambda s: s.api.history_page(after_cursor=s.theirs["history"], direction="forward"),
        UNAUTHORIZED,
        FOREIGN_CURSOR,
    ),
    Attack(
        "events by cursor",
        lambda s: s.api.event_page(before_cursor=s.theirs["events"]),
        UNAUTHORIZED,
        FOREIGN_CURSOR,
    ),
    Attack(
        "events by a cursor of the history",
        lambda s: s.api.event_page(before_cursor=s.ctx.context.latest_cursor),
        UNAUTHORIZED,
        FOREIGN_CURSOR,
    ),
    Attack(
        "another run's entries by cursor",
        lambda s: s.api.run_events_page(after_cursor=s.theirs["entries"]),
        UNAUTHORIZED,
        FOREIGN_CURSOR,
    ),
    Attack("made-up cursor", lambda s: s.api.history_page(before_cursor="1 OR 1=1"), INVALID, "this is not"),
    *(
        Attack(
            f"{key} {value!r} by filter",
            lambda s, k=key, v=value: s.api.history_search("walnut", {k: v}),
            UNAUTHORIZED,
            f"filters.{key} names another than the run's own",
        )
        for key, value in (
            ("conversation_id", "theirs"),
            ("conversation_id", None),
            ("conversation_id", ["ours", "theirs"]),
            ("thread_id", None),
            ("bot_id", "b2"),
            ("workspace_id", "w2"),
        )
    ),
    Attack(
        "a filter that there is not",
        lambda s: s.api.history_search("walnut", {"run_id": s.theirs["run_id"]}),
        INVALID,
        "filters.run_id: only roles and item_types filter",
    ),
    Attack(
        "a filter that is no list",
        lambda s: s.api.history_search("walnut", {"roles": {"$ne": 1}}),
        INVALID,
        "filters.roles: a list of texts",
    ),
    *(
        Attack(
            f"event of another {name}",
            lambda s, n=name: s.api.event_get(s.others[n]["event_id"]),
            UNAUTHORIZED,
            "event 'said-",
        )
        for name in OTHERS
    ),
    *(
        Attack(
            f"artifact of another {name}: {call}",
            lambda s, n=name, c=call: getattr(s.api, c)(s.others[n]["artifact"]),
            UNAUTHORIZED,
            f"artifact 'art-{name}' is not of this run's conversation",
        )
        for name, call in (
            *((name, "artifact_metadata") for name in OTHERS),
            ("conversation", "artifact_read"),
            ("conversation", "artifact_read_range"),
            ("thread", "artifact_read"),
        )
    ),
]

ARTIFACTS = [
    Attack(
        "expired artifact", lambda s: s.api.artifact_metadata("expired"), NOT_FOUND, "no artifact expired", ANSWERED
    ),
    Attack("expired artifact, read", lambda s: s.api.artifact_read("expired"), NOT_FOUND, "no artifact", ANSWERED),
    Attack("artifact that never was", lambda s: s.api.artifact_read("%"), NOT_FOUND, "no artifact %", ANSWERED),
    Attack(
        "the host's own artifact",
        lambda s: s.api.artifact_read("large-reply"),
        NOT_FOUND,
        "no artifact 'large-reply'",
        ANSWERED,
    ),
    Attack(
        "file swapped for a link",
        lambda s: s.api.artifact_read("swapped"),
        UNAUTHORIZED,
        "the file of artifact swapped does not lie under its root",
    ),
    Attack(
        "folder swapped for a link",
        lambda s: s.api.artifact_read_range("swapped-folder"),
        UNAUTHORIZED,
        "the file of artifact swapped-folder does not lie under its root",
    ),
    Attack("file that is gone", lambda s: s.api.artifact_read("gone"), NOT_FOUND, "the file of", ANSWERED),
    Attack(
        "file by .. that the config names",
        lambda s: s.api.get_file("../outside.txt"),
        UNAUTHORIZED,
        "file '../outside.txt' does not lie under a file root",
        ANSWERED,
    ),
    Attack(
        "file by ..", lambda s: s.api.get_file("../trackside.yaml"), UNAUTHORIZED, "file '../trackside.yaml' was not"
    ),
    Attack(
        "file by absolute path", lambda s: s.api.get_file("/etc/hostname"), UNAUTHORIZED, "file '/etc/hostname' was"
    ),
    Attack(
        "file that is a link by now",
        lambda s: s.api.get_file("notes.txt"),
        UNAUTHORIZED,
        "file 'notes.txt' does not lie under a file root",
        ANSWERED,
    ),
]

IDENTITIES = [
    *(
        Attack(
            f"plugin identity {identity!r} as {key}",
            lambda s, k=key, i=identity: s.raw("get_plugin_storage", run_id=s.ctx.run_id, key="k", **{k: i}),
            UNAUTHORIZED,
            ANOTHER_PLUGIN,
        )
        for key, identity in (
            ("plugin_identity", "local/other"),
            ("plugin_identity", None),
            ("plugin_identity", ""),
            ("plugin_identity", {"author": "local", "name": "asks"}),
            ("caller_plugin_identity", "local/other"),
        )
    ),
    Attack(
        "a plugin named as an argument",
        lambda s: s.raw("get_plugin_storage", run_id=s.ctx.run_id, key="k", owner="plugin:local/other"),
        INVALID,
        "get_plugin_storage.owner: unknown key",
    ),
    Attack("no run id", lambda s: s.raw("run_get"), UNAUTHORIZED, "the call names no run"),
    Attack("null run id", lambda s: s.raw("run_get", run_id=None), UNAUTHORIZED, "the call names no run"),
    Attack(
        "run id that is no text",
        lambda s: s.raw("run_get", run_id=[s.ctx.run_id]),
        UNAUTHORIZED,
        "the call names another",
    ),
    Attack(
        "an ended run's id",
        lambda s: s.raw("state_get", run_id=s.theirs["run_id"], scope="conversation", key="k"),
        UNAUTHORIZED,
        "the call names another run than its own",
    ),
    Attack(
        "a call that there is not",
        lambda s: s.raw("format_disk", run_id=s.ctx.run_id),
        NOT_FOUND,
        "'format_disk' is no",
    ),
    Attack(
        "an argument that there is not",
        lambda s: s.raw("run_get", run_id=s.ctx.run_id, all_runs=True),
        INVALID,
        "run_get.all_runs: unknown key",
    ),
    Attack(
        "an argument left out",
        lambda s: s.raw("state_get", run_id=s.ctx.run_id, scope="actor"),
        INVALID,
        "state_get.key: field required",
    ),
]

HELLO = [{"role": "user", "content": "hi"}]
OPERATIONS = [
    Attack("model not granted", lambda s: s.api.invoke_llm("m2", HELLO), UNAUTHORIZED, "model 'm2' was not granted"),
    Attack("model that never was", lambda s: s.api.invoke_llm("m*", HELLO), UNAUTHORIZED, "model 'm*' was not granted"),
    Attack(
        "rerank by a language model",
        lambda s: s.api.invoke_rerank("m", "q", ["d"]),
        UNAUTHORIZED,
        "model 'm' was granted without rerank",
    ),
    Attack(
        "answer by a rerank model",
        lambda s: s.api.invoke_llm("rank", HELLO),
        UNAUTHORIZED,
        "model 'rank' was granted without invoke",
    ),
    Attack(
        "stream by a rerank model",
        lambda s: collected(s.api.invoke_llm_stream("rank", HELLO)),
        UNAUTHORIZED,
        "model 'rank' was granted without stream",
    ),
    Attack(
        "tokens of a rerank model",
        lambda s: s.api.count_tokens("rank", HELLO),
        UNAUTHORIZED,
        "model 'rank' was granted without invoke or stream",
    ),
    Attack(
        "tool not granted",
        lambda s: s.api.call_tool("launch", {}),
        UNAUTHORIZED,
        "tool 'launch' was not granted to this run",
    ),
    Attack(
        "detail of a tool not granted", lambda s: s.api.get_tool_detail("launch"), UNAUTHORIZED, "tool 'launch' was not"
    ),
    Attack(
        "knowledge not granted",
        lambda s: s.api.retrieve_knowledge("secrets", "walnut"),
        UNAUTHORIZED,
        "knowledge base 'secrets' was not",
    ),
    Attack(
        "65 documents",
        lambda s: s.api.invoke_rerank("rank", "q", ["d"] * 65),
        INVALID,
        "documents: 65 are more than 64",
        ANSWERED,
    ),
]

STATE = [
    Attack(
        "write to a scope that is off",
        lambda s: s.api.state_set("runner", "k", 1),
        UNAUTHORIZED,
        "scope runner is not in state_policy",
    ),
    Attack(
        "delete in a scope that is off",
        lambda s: s.api.state_delete("runner", "k"),
        UNAUTHORIZED,
        "scope runner is not in",
    ),
    Attack(
        "write to a scope without identity",
        lambda s: s.api.state_set("subject", "k", 1),
        UNAUTHORIZED,
        "the event has no subject",
    ),
    Attack(
        "delete in a scope without identity",
        lambda s: s.api.state_delete("subject", "k"),
        UNAUTHORIZED,
        "the event has no subject",
    ),
    Attack("a scope that there is not", lambda s: s.api.state_get("bot", "k"), INVALID, "'bot' is no state scope"),
    Attack(
        "a scope key for a scope",
        lambda s: s.api.state_get("conversation:v2:" + "0" * 64, "k"),
        INVALID,
        "'conversation:v2:",
    ),
    Attack(
        "key over 255", lambda s: s.api.state_set("actor", "k" * 256, 1), INVALID, "a state key has 1 to 255", ANSWERED
    ),
    Attack("empty key", lambda s: s.api.state_set("actor", "", 1), INVALID, "a state key has 1 to 255", ANSWERED),
    Attack("key that is a number", lambda s: s.api.state_set("actor", 7, 1), INVALID, "state_set.key: should be text"),
    Attack(
        "value over 256 KiB",
        lambda s: s.api.state_set("actor", "k", "x" * 262_143),
        TOO_LARGE,
        "the value of state key 'k' has 262145",
        ANSWERED,
    ),
    Attack(
        "value that is not JSON",
        lambda s: s.api.state_set("actor", "k", {1, 2}),
        INVALID,
        "state_set: value: a set",
        CHILD,
    ),
    Attack("NaN", lambda s: s.api.state_set("actor", "k", float("nan")), INVALID, "state_set: value: nan", CHILD),
    Attack(
        "10,000 levels",
        lambda s: s.api.state_set("actor", "k", deep(10_000)),
        INVALID,
        "state_set: value: deeper",
        CHILD,
    ),
    Attack(
        "NaN past the child's own look",
        lambda s: s.raw("state_set", run_id=s.ctx.run_id, scope="actor", key="k", value=float("nan")),
        INVALID,
        "state_set: not JSON",
        CHILD,
    ),
    Attack(
        "10,000 levels past it",
        lambda s: s.raw("state_set", run_id=s.ctx.run_id, scope="actor", key="k", value=deep(10_000)),
        INVALID,
        "state_set: nested deeper",
        CHILD,
    ),
    Attack(
        "a 16 MiB request",
        lambda s: s.api.state_set("actor", "k", "x" * (16 << 20)),
        TOO_LARGE,
        "state_set: 16777",
        CHILD,
    ),
]

NUMBERS = [
    Attack(
        f"{call} with {bad}",
        lambda s, c=call, a=arguments, b=bad: getattr(s.api, c)(*a, **b),
        INVALID,
        f"{call}.{next(iter(bad))}: should be",
    )
    for call, arguments, bad in (
        ("history_page", (), {"limit": 0}),
        ("history_page", (), {"limit": -1}),
        ("history_page", (), {"limit": 2.5}),
        ("history_page", (), {"limit": "10"}),
        ("history_page", (), {"limit": True}),
        ("history_page", (), {"limit": None}),
        ("history_search", ("x",), {"top_k": 0}),
        ("history_search", ("x",), {"top_k": 1.0}),
        ("event_page", (), {"limit": 0}),
        ("run_events_page", (), {"limit": -3}),
        ("artifact_read", ("mine",), {"offset": -1}),
        ("artifact_read", ("mine",), {"offset": 0.5}),
        ("artifact_read", ("mine",), {"limit": 0}),
        ("artifact_read", ("mine",), {"limit": "all"}),
        ("artifact_read_range", ("mine",), {"offset": -1}),
        ("artifact_read_range", ("mine",), {"length": 0}),
        ("retrieve_knowledge", ("notes", "umbrella"), {"top_k": 0}),
        ("retrieve_knowledge", ("notes", "q"), {"top_k": "5"}),
        ("invoke_rerank", ("rank", "q", ["d"]), {"top_k": -1}),
    )
]

STORAGE = [
    Attack(
        "another plugin's storage", lambda s: s.api.get_plugin_storage("k"), NOT_FOUND, "nothing is stored", ANSWERED
    ),
    Attack(
        "another workspace's storage",
        lambda s: s.api.get_workspace_storage("of w2"),
        NOT_FOUND,
        "nothing is stored",
        ANSWERED,
    ),
    Attack(
        "storage by wildcard",
        lambda s: s.api.get_plugin_storage("%"),
        NOT_FOUND,
        "nothing is stored under '%'",
        ANSWERED,
    ),
    Attack(
        "value over 1 MiB",
        lambda s: s.api.set_plugin_storage("k", bytes((1 << 20) + 1)),
        TOO_LARGE,
        "1048577 bytes are more",
        ANSWERED,
    ),
    Attack(
        "storage key over 255",
        lambda s: s.api.set_plugin_storage("k" * 256, b""),
        INVALID,
        "a storage key has 1 to 255",
        ANSWERED,
    ),
    Attack(
        "value that is not base64",
        lambda s: s.raw("set_plugin_storage", run_id=s.ctx.run_id, key="k", value_base64="é"),
        INVALID,
        "value_base64 is not",
        ANSWERED,
    ),
]

ATTACKS = [*PLACES, *ARTIFACTS, *IDENTITIES, *OPERATIONS, *STATE, *NUMBERS, *STORAGE]
