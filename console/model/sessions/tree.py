"""The loaded sessions as a tree: forks under their parents, families ordered by their newest member."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.api import SessionRow

Rank = tuple[int, str]
"""When a session was last active; the id orders two with the same time."""


class SessionNode(NamedTuple):
    """A session at its place in the tree."""

    row: "SessionRow"
    depth: int
    is_open: bool | None
    """Whether all its children are shown; None if it has none."""


@dataclass(eq=False, slots=True)
class _Family:
    """A root session with all its loaded descendants."""

    rank: Rank
    """The rank of its newest member."""
    members: Sequence[str]
    height: int
    """The number of visible members; the others are folded away."""


class SessionTree:
    """Orders the loaded sessions, and knows which are folded.

    A change removes and inserts only the families that it concerns, so its cost does not depend on the number of
    loaded sessions. `nodes` changes only in `arrange`, so that it never changes while it is drawn.
    """

    def __init__(self) -> None:
        self._rows: dict[str, SessionRow] = {}
        self._children: dict[str, set[str]] = {}
        self._missing: set[str] = set()
        self._absent: set[str] = set()
        """Parents that were looked up and do not exist."""
        self._folded: set[str] = set()
        self._hidden: frozenset[str] = frozenset()
        self._stale: dict[str, None] = {}
        """Sessions whose families must be arranged again, in order."""
        self._families: dict[str, _Family] = {}
        """The family of each session that has a place."""
        self.nodes: list[SessionNode] = []
        """The visible sessions in order."""

    def __len__(self) -> int:
        """The number of loaded sessions without the hidden ones."""
        return len(self._rows) - len(self._hidden & self._rows.keys())

    # Loading

    def add(self, rows: "Iterable[SessionRow]") -> bool:
        """Add or update sessions. Returns whether anything changed."""
        is_new = False
        for row in rows:
            session_id, parent = row.session.session_id, row.session.parent_session_id
            known = self._rows.get(session_id)
            if known == row:
                continue
            if known is not None:
                self._detach(known)
            self._rows[session_id] = row
            self._missing.discard(session_id)
            if parent:
                self._children.setdefault(parent, set()).add(session_id)
                if parent not in self._rows and parent not in self._absent:
                    self._missing.add(parent)
            self._stale[session_id] = None
            is_new = True
        return is_new

    def missing_parents(self) -> list[str]:
        """Parents that must be loaded, so that each child is shown under its own."""
        return sorted(self._missing)

    def remove(self, session_ids: Iterable[str]) -> None:
        """Remove deleted sessions. Their children become roots."""
        for session_id in session_ids:
            known = self._rows.pop(session_id, None)
            if known is not None:
                self._detach(known)
            self._absent.add(session_id)
            self._missing.discard(session_id)
            self._stale[session_id] = None

    def _detach(self, row: "SessionRow") -> None:
        if parent := row.session.parent_session_id:
            self._children[parent].discard(row.session.session_id)
            self._stale[parent] = None
            if not self._children[parent]:
                self._missing.discard(parent)

    @property
    def ids(self) -> Collection[str]:
        """The loaded sessions, in no order."""
        return self._rows.keys()

    def row_of(self, session_id: str) -> "SessionRow | None":
        return self._rows.get(session_id)

    def parent_of(self, session_id: str) -> str | None:
        row = self._rows.get(session_id)
        return row.session.parent_session_id if row is not None else None

    def loaded_children(self, session_id: str) -> int:
        """The number of a session's children that are loaded."""
        return len(self._children.get(session_id, ()))

    def set_open(self, session_id: str, *, is_open: bool) -> None:
        """Fold or unfold a session."""
        if is_open:
            self._folded.discard(session_id)
        else:
            self._folded.add(session_id)
        self._stale[session_id] = None

    # Arranging

    def arrange(self, hidden: Collection[str] = ()) -> Sequence[SessionNode]:
        """Update and return `nodes`. Children of hidden sessions stay visible."""
        hidden = frozenset(hidden)
        stale = {**self._stale, **dict.fromkeys(hidden ^ self._hidden)}
        self._hidden = hidden
        self._stale = {}
        removed = {name: None for each in stale for name in self._remove_families(each)}
        self._insert_families([name for name in {**removed, **stale} if self._is_visible(name)])
        return self.nodes

    def index_of(self, session_id: str) -> int | None:
        """The index of a session in `nodes`; None if it is not visible."""
        family = self._families.get(session_id)
        if family is None:
            return None
        start = self._index_of_rank(family.rank)
        members = range(start, start + family.height)
        return next((at for at in members if self.nodes[at].row.session.session_id == session_id), None)

    def _is_visible(self, session_id: str) -> bool:
        return session_id in self._rows and session_id not in self._hidden

    def _remove_families(self, session_id: str) -> Iterator[str]:
        """Remove the families of a session, of its parent and of its children. Yields their members."""
        parent = self.parent_of(session_id)
        for name in (session_id, *((parent,) if parent else ()), *self._children.get(session_id, ())):
            family = self._families.get(name)
            if family is None:
                continue
            start = self._index_of_rank(family.rank)
            del self.nodes[start : start + family.height]
            for member in family.members:
                del self._families[member]
            yield from family.members

    def _insert_families(self, names: Sequence[str]) -> None:
        waiting = dict.fromkeys(names)
        roots = [name for name in names if not self._is_visible(self._rows[name].session.parent_session_id or "")]
        for root in roots:
            self._insert_family(root, waiting)
        while waiting:  # they name each other as parents: a damaged database must not hang the screen
            self._insert_family(next(iter(waiting)), waiting)

    def _insert_family(self, root: str, waiting: dict[str, None]) -> None:
        """Insert a family at the place of its newest member."""
        members: list[str] = []
        nodes: list[SessionNode] = []
        # Not recursive: forks of forks may be nested deeper than Python's stack.
        ahead = [(root, 0, True)]
        while ahead:
            name, depth, is_shown = ahead.pop()
            if name not in waiting:
                continue  # already inserted
            del waiting[name]
            members.append(name)
            row, children = self._rows[name], self._children.get(name, ())
            is_open = name not in self._folded
            if is_shown:
                has_all = is_open and len(children) >= row.children
                nodes.append(SessionNode(row, depth, has_all if children or row.children else None))
            visible = sorted((child for child in children if self._is_visible(child)), key=self._rank)
            ahead += [(child, depth + 1, is_shown and is_open) for child in visible]
        family = _Family(max(map(self._rank, members)), members, len(nodes))
        self._families |= dict.fromkeys(members, family)
        start = self._index_of_rank(family.rank)
        self.nodes[start:start] = nodes

    def _rank(self, session_id: str) -> Rank:
        return self._rows[session_id].session.last_active, session_id

    def _index_of_rank(self, rank: Rank) -> int:
        """The index of the first node whose family is not newer."""
        low, high = 0, len(self.nodes)
        while low < high:
            middle = (low + high) // 2
            if self._families[self.nodes[middle].row.session.session_id].rank > rank:
                low = middle + 1
            else:
                high = middle
        return low
