"""Attacks on foreign conversations, files and names, with the code and the reason of each refusal."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.support.own_and_foreign_data import FOREIGN_PLACES, raw_call

Ids = dict[str, dict[str, str]]


@dataclass(frozen=True)
class AttackInput:
    """The input of an attack: the context of its run, and the ids of foreign data."""

    ctx: Any
    others: Ids

    @property
    def api(self) -> Any:
        return self.ctx.api

    @property
    def theirs(self) -> dict[str, str]:
        return self.others["conversation"]

    def raw_call(self, action: str, **data: Any) -> Awaitable[Any]:
        return raw_call(self.ctx, action, **data)


@dataclass(frozen=True)
class Attack:
    name: str
    make: Callable[[AttackInput], Awaitable[Any]]
    code: str
    words: str
    """How the reason begins."""
    where: str = "call.decided"
    """The entry that records it: the gate's decision, or the failed reply. `child`: the call never left the child."""


UNAUTHORIZED, INVALID, NOT_FOUND, TOO_LARGE = "unauthorized", "invalid_argument", "not_found", "payload_too_large"
ANSWERED, CHILD = "call.replied", "child"


FOREIGN_CURSOR = "this cursor belongs to another call or another conversation"
OWN_ONLY = "a run can read only its own conversation"
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
        for name in FOREIGN_PLACES
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
            f"filters.{key} is not the run's own",
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
        "filter that is not a list",
        lambda s: s.api.history_search("walnut", {"roles": {"$ne": 1}}),
        INVALID,
        "filters.roles must be a list of strings",
    ),
    *(
        Attack(
            f"event of another {name}",
            lambda s, n=name: s.api.event_get(s.others[n]["event_id"]),
            NOT_FOUND,
            "this run can read no event 'said-",
        )
        for name in FOREIGN_PLACES
    ),
    *(
        Attack(
            f"artifact of another {name}: {call}",
            lambda s, n=name, c=call: getattr(s.api, c)(s.others[n]["artifact"]),
            NOT_FOUND,
            f"this run can read no artifact 'art-{name}'",
        )
        for name, call in (
            *((name, "artifact_metadata") for name in FOREIGN_PLACES),
            ("conversation", "artifact_read"),
            ("conversation", "artifact_read_range"),
            ("thread", "artifact_read"),
        )
    ),
]

ARTIFACTS = [
    Attack(
        "expired artifact", lambda s: s.api.artifact_metadata("expired"), NOT_FOUND, "this run can read no artifact 'ex"
    ),
    Attack("expired artifact, read", lambda s: s.api.artifact_read("expired"), NOT_FOUND, "this run can read no art"),
    Attack("unknown artifact", lambda s: s.api.artifact_read("%"), NOT_FOUND, "this run can read no artifact '%'"),
    Attack("event that never was", lambda s: s.api.event_get("%"), NOT_FOUND, "this run can read no event '%'"),
    Attack(
        "the host's own artifact",
        lambda s: s.api.artifact_read("large-reply"),
        NOT_FOUND,
        "this run can read no artifact 'large-reply'",
    ),
    Attack(
        "file swapped for a link",
        lambda s: s.api.artifact_read("swapped"),
        UNAUTHORIZED,
        "the file of artifact swapped is outside its root",
    ),
    Attack(
        "folder swapped for a link",
        lambda s: s.api.artifact_read_range("swapped-folder"),
        UNAUTHORIZED,
        "the file of artifact swapped-folder is outside its root",
    ),
    Attack("file that is gone", lambda s: s.api.artifact_read("gone"), NOT_FOUND, "the file of", ANSWERED),
    Attack(
        "file by .. that the config names",
        lambda s: s.api.get_file("../outside.txt"),
        UNAUTHORIZED,
        "file '../outside.txt' was not granted",
    ),
    Attack(
        "file by ..", lambda s: s.api.get_file("../trackside.yaml"), UNAUTHORIZED, "file '../trackside.yaml' was not"
    ),
    Attack(
        "file by absolute path", lambda s: s.api.get_file("/etc/hostname"), UNAUTHORIZED, "file '/etc/hostname' was"
    ),
    Attack(
        "file replaced by a link",
        lambda s: s.api.get_file("notes.txt"),
        UNAUTHORIZED,
        "file 'notes.txt' was not granted",
    ),
]

IDENTITIES = [
    *(
        Attack(
            f"plugin identity {identity!r} as {key}",
            lambda s, k=key, i=identity: s.raw_call("get_plugin_storage", run_id=s.ctx.run_id, key="k", **{k: i}),
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
        lambda s: s.raw_call("get_plugin_storage", run_id=s.ctx.run_id, key="k", owner="plugin:local/other"),
        INVALID,
        "get_plugin_storage.owner: unknown key",
    ),
    Attack("no run id", lambda s: s.raw_call("run_get"), UNAUTHORIZED, "the call has no run_id"),
    Attack("null run id", lambda s: s.raw_call("run_get", run_id=None), UNAUTHORIZED, "the call has no run_id"),
    Attack(
        "run id that is not text",
        lambda s: s.raw_call("run_get", run_id=[s.ctx.run_id]),
        UNAUTHORIZED,
        "the call has the run_id of another",
    ),
    Attack(
        "an ended run's id",
        lambda s: s.raw_call("state_get", run_id=s.theirs["run_id"], scope="conversation", key="k"),
        UNAUTHORIZED,
        "the call has the run_id of another run",
    ),
    Attack(
        "unknown call",
        lambda s: s.raw_call("format_disk", run_id=s.ctx.run_id),
        NOT_FOUND,
        "'format_disk' is no",
    ),
    Attack(
        "unknown argument",
        lambda s: s.raw_call("run_get", run_id=s.ctx.run_id, all_runs=True),
        INVALID,
        "run_get.all_runs: unknown key",
    ),
    Attack(
        "missing argument",
        lambda s: s.raw_call("state_get", run_id=s.ctx.run_id, scope="actor"),
        INVALID,
        "state_get.key: field required",
    ),
]
