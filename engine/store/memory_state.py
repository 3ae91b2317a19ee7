"""In-memory state for tests, with the functions of `engine.store.state` but without a connection."""

from collections.abc import Iterable
from typing import Any

from engine.store.json_text import decode
from engine.store.scope_identity import ScopeIdentity
from engine.store.state import DEFAULT_LIMITS, ChangeOrigin, StateLimits, Written, canonical, checked, fallback


class MemoryState:
    """State with the behaviour of `engine.store.state`, which lives as long as the object."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}
        self._changes: list[tuple[str, str, str | None, int, ChangeOrigin]] = []
        self._last_row = 0

    def put(
        self,
        identity: ScopeIdentity,
        key: str,
        value: object,
        change: ChangeOrigin,
        limits: StateLimits | None = DEFAULT_LIMITS,
        *,
        masked: str | None = None,  # noqa: ARG002  (tests read the values that runners wrote)
    ) -> None:
        key, text = checked(key, value)
        held = self._values.get(identity.key, {})
        if limits is not None:
            sizes = {name: len(name.encode()) + len(stored.encode()) for name, stored in held.items()}
            limits.check(
                identity.scope,
                total_bytes=sum(sizes.values()),
                keys=len(held),
                added_bytes=len(key.encode()) + len(text.encode()) - sizes.get(key, 0),
                is_new=key not in held,
            )
        self._values.setdefault(identity.key, {})[key] = text
        self._note(identity, key, text, change)

    def delete(self, identity: ScopeIdentity, key: str, change: ChangeOrigin) -> bool:
        key = canonical(key)
        if self._values.get(identity.key, {}).pop(key, None) is None:
            return False
        self._note(identity, key, None, change)
        return True

    def clear(self, identity: ScopeIdentity, change: ChangeOrigin) -> int:
        return sum(self.delete(identity, key, change) for key in self.all_of(identity.key))

    def get(self, identity: ScopeIdentity, key: str) -> Any:
        key = canonical(key)
        text = self._values.get(identity.key, {}).get(key)
        return fallback(identity, key) if text is None else decode(text)

    def keys(
        self, identity: ScopeIdentity, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> tuple[list[str], bool]:
        found = sorted(key for key in self._values.get(identity.key, {}) if key.startswith(prefix) and key > after)
        return found[:limit], len(found) > limit

    def all_of(self, scope_key: str) -> dict[str, Any]:
        return {key: decode(text) for key, text in sorted(self._values.get(scope_key, {}).items())}

    def at(self, scope_keys: Iterable[str], journal_row: int) -> dict[str, dict[str, Written]]:
        result: dict[str, dict[str, Written]] = {scope_key: {} for scope_key in scope_keys}
        for scope_key, key, text, row, change in self._changes:
            if scope_key not in result or row > journal_row:
                continue
            if text is None:
                result[scope_key].pop(key, None)
            else:
                written = Written(decode(text), change.run_id, change.position, row, change.editor, change.at)
                result[scope_key][key] = written
        return result

    def _note(self, identity: ScopeIdentity, key: str, text: str | None, change: ChangeOrigin) -> None:
        row = self._last_row + 1 if change.journal_row is None else change.journal_row
        self._last_row = max(self._last_row, change.journal_row or 0)
        self._changes.append((identity.key, key, text, row, change))
