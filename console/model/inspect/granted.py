"""The frozen grants of a run as a list: what it may do, and the clause behind each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from console.model.inspect.facts import Granted

_STORAGE = ("plugin", "workspace")


def granted(authorization: Mapping[str, Any] | None) -> Sequence[tuple[str, Sequence[Granted]]]:
    """By kind, as the snapshot of the run has them; nothing where it has none."""
    if not authorization:
        return ()
    return tuple((title, tuple(rows)) for title, rows in _sections(authorization) if rows)


def _sections(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, list[Granted]]]:
    apis = cast("dict[str, dict[str, Any]]", snapshot.get("apis", {}))
    calls = [(name, bool(api.get("allowed")), str(api.get("clause", ""))) for name, api in apis.items()]
    yield "Calls", [Granted(name, allowed, _word(allowed), clause) for name, allowed, clause in calls]
    operations = cast("dict[str, list[str]]", snapshot.get("operations", {}))
    clauses = cast("dict[str, str]", snapshot.get("clauses", {}))
    yield (
        "Resources",
        [
            Granted(name, True, ", ".join(able), clauses.get(name, ""))
            for name, able in operations.items()
            if not name.startswith("storage:")
        ],
    )
    on = cast("dict[str, str]", snapshot.get("state_scopes", {}))
    off = cast("dict[str, str]", snapshot.get("scopes_off", {}))
    scopes = [Granted(scope, True, "on", f"state_policy.state_scopes has {scope}") for scope in on]
    yield "State", [*scopes, *(Granted(scope, False, "off", clause) for scope, clause in off.items())]
    yield "Storage", [_storage(kind, operations, clauses, apis) for kind in _STORAGE]


def _storage(
    kind: str, operations: Mapping[str, list[str]], clauses: Mapping[str, str], apis: Mapping[str, Mapping[str, Any]]
) -> Granted:
    name = f"storage:{kind}"
    if name in operations:
        return Granted(kind, True, ", ".join(operations[name]), clauses.get(name, ""))
    return Granted(kind, False, "no", str(apis.get(f"get_{kind}_storage", {}).get("clause", "")))


def _word(allowed: bool) -> str:
    return "yes" if allowed else "no"
