"""A session's conversation in blocks: runs that are over above, the run at work below."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from console.model.talk.blocks import Block
from console.model.talk.course import Course
from engine.events import Entry

_NOTHING: Final[Mapping[str, int]] = {}


class AsOf(NamedTuple):
    """The entry up to which the screen shows the world."""

    run_id: str
    position: int


class Talk:
    """What was said and done, in order. All JSON is read here, once; who draws it only looks at blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        """Those that are gone keep their place: `blocks[n].number` always rises by one."""
        self.revision = 0
        """Grows with every batch that came in."""
        self.courses: dict[str, Course] = {}
        self.has_later = False
        """The session goes on below what was read of it."""
        self._offered: tuple[int, frozenset[str]] | None = None
        """What was offered last, and when."""

    @classmethod
    def of(cls, *entries: Iterable[Entry], began: Mapping[str, int] = _NOTHING) -> "Talk":
        """Of one run or more, from pages in any order that may overlap; with when they began, where that is known."""
        talk = cls()
        by_run: dict[str, dict[int, Entry]] = {}
        for page in entries:
            for entry in page:
                by_run.setdefault(entry.run_id, {})[entry.position] = entry
        for found in sorted(by_run.values(), key=lambda found: min(entry.at for entry in found.values())):
            run_id = next(iter(found.values())).run_id
            if run_id in began:
                talk.course(run_id).begin_at(began[run_id])
            talk.apply(found[position] for position in sorted(found))
        return talk

    @property
    def run_ids(self) -> Sequence[str]:
        """The runs that are in it, the earliest first."""
        return tuple(self.courses)

    def ends_with(self, run_id: str) -> bool:
        """Whether a run is the last of its session, as far as that was heard of."""
        return not self.has_later and self.run_ids[-1:] == (run_id,)

    def last_position(self, run_id: str) -> int:
        """Of the newest entry of a run that is in it; 0 where none is."""
        course = self.courses.get(run_id)
        return course.last if course else 0

    def apply(self, entries: Iterable[Entry]) -> None:
        """A batch of one run's entries or of several runs', each rising. What was there already is passed over."""
        touched: dict[str, Course] = {}
        for entry in entries:
            course = touched.get(entry.run_id)
            if course is None:
                course = touched[entry.run_id] = self.course(entry.run_id)
            course.take(entry)
        for course in touched.values():
            course.settle()
        self.revision += bool(touched)

    def put_above(self, earlier: "Talk") -> None:
        """What came right before all that is here: runs, or the beginning of the first. The other talk is used up."""
        known = self.courses
        for run_id, course in earlier.courses.items():
            if run_id in known:
                known[run_id].come_after(course)
            else:
                course.add = self.add
        first = self.blocks[0].number if self.blocks else 0
        for number, block in enumerate(earlier.blocks, start=first - len(earlier.blocks)):
            block.number = number
        self.blocks[:0] = earlier.blocks
        self.courses = {**earlier.courses, **known}
        self.revision += 1

    def offer(self, dropped: frozenset[str]) -> None:
        """Of what was dropped only these can be had back."""
        if (self.revision, dropped) == self._offered:
            return
        for course in self.courses.values():
            for item_id, block in course.ties.dropped.items():
                if block.is_settled is (item_id in dropped):
                    block.is_settled = not block.is_settled
                    block.version += 1
                    self.revision += 1
        self._offered = self.revision, dropped

    def block(self, number: int) -> Block | None:
        """The block with this number."""
        place = number - self.blocks[0].number if self.blocks else -1
        return self.blocks[place] if 0 <= place < len(self.blocks) else None

    def first_after(self, run_id: str, position: int) -> int | None:
        """The number of the first block that lies after an entry; nothing where its run is not in the talk."""
        if run_id not in self.courses:
            return None
        first = None
        for block in reversed(self.blocks):
            if block.run_id == run_id and block.position <= position:
                return block.number + 1
            first = block.number if block.run_id == run_id else first
        return first

    def course(self, run_id: str) -> Course:
        """How a run is followed; it is one of the talk's from now on."""
        if run_id not in self.courses:
            self.courses[run_id] = Course(run_id, self.add)
        return self.courses[run_id]

    def add(self, block: Block) -> None:
        """One more at the end."""
        block.number = self.blocks[-1].number + 1 if self.blocks else 0
        self.blocks.append(block)
