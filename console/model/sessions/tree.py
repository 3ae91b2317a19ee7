"""Sessions as far as they were read: each family where its newest member belongs, forks under their parents."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.api import SessionRow

Rank = tuple[int, str]
"""When something was active last; the id decides between two."""


class Branch(NamedTuple):
    """A session at its place."""

    row: "SessionRow"
    depth: int
    is_open: bool | None
    """Whether all that it begot is shown; None: that is nothing."""


@dataclass(eq=False, slots=True)
class _Family:
    """Those that came of one session, wherever they stand."""

    rank: Rank
    """Of its newest member."""
    members: Sequence[str]
    height: int
    """How many of them are to be seen: the others are folded away."""


class Tree:
    """Knows what was read, what is folded, and nothing of a screen.

    Whatever is new, only its family is taken from the list and put in again: ten thousand sessions cost as little as
    ten. What was read is not to be seen before `arrange`, so that a list never changes under whoever draws it.
    """

    def __init__(self) -> None:
        self._rows: dict[str, SessionRow] = {}
        self._children: dict[str, set[str]] = {}
        self._missing: set[str] = set()
        self._gone: set[str] = set()
        """Parents that were asked for and are not there."""
        self._folded: set[str] = set()
        self._hidden: frozenset[str] = frozenset()
        self._stale: dict[str, None] = {}
        """Sessions that are not, or not any more, at the place where they belong."""
        self._families: dict[str, _Family] = {}
        """Of each session that has a place."""
        self.branches: list[Branch] = []
        """All that is to be seen, in order."""

    def __len__(self) -> int:
        """How many are known; those that are hidden are not counted."""
        return len(self._rows) - len(self._hidden & self._rows.keys())

    # What was read

    def add(self, rows: "Iterable[SessionRow]") -> bool:
        """Sessions as they are now; whether anything is new."""
        is_new = False
        for row in rows:
            session_id, parent = row.session.session_id, row.session.parent_session_id
            known = self._rows.get(session_id)
            if known == row:
                continue
            if known is not None:
                self._disown(known)
            self._rows[session_id] = row
            self._missing.discard(session_id)
            if parent:
                self._children.setdefault(parent, set()).add(session_id)
                if parent not in self._rows and parent not in self._gone:
                    self._missing.add(parent)
            self._stale[session_id] = None
            is_new = True
        return is_new

    def missing(self) -> list[str]:
        """Parents that are to be read, so that no child stands without its own."""
        return sorted(self._missing)

    def lose(self, session_ids: Iterable[str]) -> None:
        """These are not there any more; their children stand for themselves."""
        for session_id in session_ids:
            known = self._rows.pop(session_id, None)
            if known is not None:
                self._disown(known)
            self._gone.add(session_id)
            self._missing.discard(session_id)
            self._stale[session_id] = None

    def _disown(self, row: "SessionRow") -> None:
        if parent := row.session.parent_session_id:
            self._children[parent].discard(row.session.session_id)
            self._stale[parent] = None
            if not self._children[parent]:
                self._missing.discard(parent)

    @property
    def ids(self) -> Collection[str]:
        """All that are known, in no order."""
        return self._rows.keys()

    def row_of(self, session_id: str) -> "SessionRow | None":
        return self._rows.get(session_id)

    def parent_of(self, session_id: str) -> str | None:
        row = self._rows.get(session_id)
        return row.session.parent_session_id if row is not None else None

    def begot(self, session_id: str) -> int:
        """How many of a session's children were read."""
        return len(self._children.get(session_id, ()))

    def fold(self, session_id: str, *, is_open: bool) -> None:
        if is_open:
            self._folded.discard(session_id)
        else:
            self._folded.add(session_id)
        self._stale[session_id] = None

    # What is to be seen

    def arrange(self, hidden: Collection[str] = ()) -> Sequence[Branch]:
        """Put everything where it belongs; of those that are hidden only the children are seen."""
        hidden = frozenset(hidden)
        stale = {**self._stale, **dict.fromkeys(hidden ^ self._hidden)}
        self._hidden = hidden
        self._stale = {}
        loose = {name: None for each in stale for name in self._uproot(each)}
        self._plant([name for name in {**loose, **stale} if self._is_seen(name)])
        return self.branches

    def place_of(self, session_id: str) -> int | None:
        """Where a session stands; nothing where it is not seen."""
        family = self._families.get(session_id)
        if family is None:
            return None
        start = self._place(family.rank)
        members = range(start, start + family.height)
        return next((at for at in members if self.branches[at].row.session.session_id == session_id), None)

    def _is_seen(self, session_id: str) -> bool:
        return session_id in self._rows and session_id not in self._hidden

    def _uproot(self, session_id: str) -> Iterator[str]:
        """Take the families away that a session has, or is going to have, to do with; gives their members."""
        parent = self.parent_of(session_id)
        for name in (session_id, *((parent,) if parent else ()), *self._children.get(session_id, ())):
            family = self._families.get(name)
            if family is None:
                continue
            start = self._place(family.rank)
            del self.branches[start : start + family.height]
            for member in family.members:
                del self._families[member]
            yield from family.members

    def _plant(self, names: Sequence[str]) -> None:
        waiting = dict.fromkeys(names)
        roots = [name for name in names if not self._is_seen(self._rows[name].session.parent_session_id or "")]
        for root in roots:
            self._put(root, waiting)
        while waiting:  # they name each other as parents: a damaged database must not hang the screen
            self._put(next(iter(waiting)), waiting)

    def _put(self, root: str, waiting: dict[str, None]) -> None:
        """A family where its newest member belongs."""
        members: list[str] = []
        branches: list[Branch] = []
        # No recursion: a fork of a fork of a fork may go deeper than Python does.
        ahead = [(root, 0, True)]
        while ahead:
            name, depth, is_shown = ahead.pop()
            if name not in waiting:
                continue  # met before
            del waiting[name]
            members.append(name)
            row, begot = self._rows[name], self._children.get(name, ())
            is_open = name not in self._folded
            if is_shown:
                has_all = is_open and len(begot) >= row.children
                branches.append(Branch(row, depth, has_all if begot or row.children else None))
            own = sorted((child for child in begot if self._is_seen(child)), key=self._rank)
            ahead += [(child, depth + 1, is_shown and is_open) for child in own]
        family = _Family(max(map(self._rank, members)), members, len(branches))
        self._families |= dict.fromkeys(members, family)
        start = self._place(family.rank)
        self.branches[start:start] = branches

    def _rank(self, session_id: str) -> Rank:
        return self._rows[session_id].session.last_active, session_id

    def _place(self, rank: Rank) -> int:
        """Where the first stands whose family is not newer."""
        low, high = 0, len(self.branches)
        while low < high:
            middle = (low + high) // 2
            if self._families[self.branches[middle].row.session.session_id].rank > rank:
                low = middle + 1
            else:
                high = middle
        return low
