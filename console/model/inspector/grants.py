"""The frozen grants of a run as a list of permissions with their clauses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from console.model.inspector.data import Permission

_STORAGE_KINDS = ("plugin", "workspace")


def permission_groups(authorization: Mapping[str, Any] | None) -> Sequence[tuple[str, Sequence[Permission]]]:
    """Return the permissions in the snapshot of a run, by group; empty without a snapshot."""
    if not authorization:
        return ()
    return tuple((title, tuple(rows)) for title, rows in _groups(authorization) if rows)


def _groups(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, list[Permission]]]:
    apis = cast("dict[str, dict[str, Any]]", snapshot.get("apis", {}))
    calls = [(name, bool(api.get("allowed")), str(api.get("clause", ""))) for name, api in apis.items()]
    yield "Calls", [Permission(name, allowed, _word(allowed), clause) for name, allowed, clause in calls]
    operations = cast("dict[str, list[str]]", snapshot.get("operations", {}))
    clauses = cast("dict[str, str]", snapshot.get("clauses", {}))
    yield (
        "Resources",
        [
            Permission(name, True, ", ".join(allowed_operations), clauses.get(name, ""))
            for name, allowed_operations in operations.items()
            if not name.startswith("storage:")
        ],
    )
    on = cast("dict[str, str]", snapshot.get("state_scopes", {}))
    off = cast("dict[str, str]", snapshot.get("scopes_off", {}))
    scopes = [Permission(scope, True, "on", f"state_policy.state_scopes has {scope}") for scope in on]
    yield "State", [*scopes, *(Permission(scope, False, "off", clause) for scope, clause in off.items())]
    yield "Storage", [_storage(kind, operations, clauses, apis) for kind in _STORAGE_KINDS]


def _storage(
    kind: str, operations: Mapping[str, list[str]], clauses: Mapping[str, str], apis: Mapping[str, Mapping[str, Any]]
) -> Permission:
    name = f"storage:{kind}"
    if name in operations:
        return Permission(kind, True, ", ".join(operations[name]), clauses.get(name, ""))
    return Permission(kind, False, "no", str(apis.get(f"get_{kind}_storage", {}).get("clause", "")))


def _word(allowed: bool) -> str:
    return "yes" if allowed else "no"
