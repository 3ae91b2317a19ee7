"""Attacks with operations that were not granted, and with invalid arguments."""

from typing import Any

from tests.support.access.attacks import ANSWERED, CHILD, INVALID, NOT_FOUND, TOO_LARGE, UNAUTHORIZED, Attack
from tests.support.own_and_foreign_data import collect


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


HELLO = [{"role": "user", "content": "hi"}]
OPERATIONS = [
    Attack("model not granted", lambda s: s.api.invoke_llm("m2", HELLO), UNAUTHORIZED, "model 'm2' was not granted"),
    Attack("unknown model", lambda s: s.api.invoke_llm("m*", HELLO), UNAUTHORIZED, "model 'm*' was not granted"),
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
        lambda s: collect(s.api.invoke_llm_stream("rank", HELLO)),
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
        "65 documents; the limit is 64",
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
    Attack("unknown scope", lambda s: s.api.state_get("bot", "k"), INVALID, "'bot' is not a state scope"),
    Attack(
        "scope key as a scope",
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
        "NaN without the child's check",
        lambda s: s.raw_call("state_set", run_id=s.ctx.run_id, scope="actor", key="k", value=float("nan")),
        INVALID,
        "state_set: not JSON",
        CHILD,
    ),
    Attack(
        "10,000 levels without the child's check",
        lambda s: s.raw_call("state_set", run_id=s.ctx.run_id, scope="actor", key="k", value=deep(10_000)),
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
        "the value has 1048577 bytes",
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
        lambda s: s.raw_call("set_plugin_storage", run_id=s.ctx.run_id, key="k", value_base64="é"),
        INVALID,
        "value_base64 is not",
        ANSWERED,
    ),
]
