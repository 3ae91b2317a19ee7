"""The conversation of a session as blocks, run by run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from console.model.conversation.blocks import Block
from console.model.conversation.run_blocks import RunBlocks
from engine.events import Entry

_NOTHING: Final[Mapping[str, int]] = {}


class AsOf(NamedTuple):
    """The entry as of which the screen shows the session."""

    run_id: str
    position: int


class ConversationModel:
    """The blocks of a session in order. Entries are decoded here once; drawing code only reads blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        """Hidden blocks keep their place: `blocks[n].number` always rises by one."""
        self.revision = 0
        """Grows with every applied batch."""
        self.runs: dict[str, RunBlocks] = {}
        self.has_later = False
        """The session has later runs that have not been read."""
        self._offered: tuple[int, frozenset[str]] | None = None
        """The revision and the arguments of the last `offer`."""

    @classmethod
    def of(cls, *entries: Iterable[Entry], began: Mapping[str, int] = _NOTHING) -> "ConversationModel":
        """Build a model from pages of entries, in any order, maybe overlapping. `began` maps runs to start times."""
        talk = cls()
        by_run: dict[str, dict[int, Entry]] = {}
        for page in entries:
            for entry in page:
                by_run.setdefault(entry.run_id, {})[entry.position] = entry
        for found in sorted(by_run.values(), key=lambda found: min(entry.at for entry in found.values())):
            run_id = next(iter(found.values())).run_id
            if run_id in began:
                talk.run_blocks(run_id).begin_at(began[run_id])
            talk.apply(found[position] for position in sorted(found))
        return talk

    @property
    def run_ids(self) -> Sequence[str]:
        """The runs of the conversation, the earliest first."""
        return tuple(self.runs)

    def ends_with(self, run_id: str) -> bool:
        """Whether a run is the last known run of the session."""
        return not self.has_later and self.run_ids[-1:] == (run_id,)

    def last_position(self, run_id: str) -> int:
        """The position of the newest applied entry of a run, or 0."""
        run_blocks = self.runs.get(run_id)
        return run_blocks.last if run_blocks else 0

    def apply(self, entries: Iterable[Entry]) -> None:
        """Apply a batch of entries of one or more runs, each in order. Entries that were applied before are skipped."""
        touched: dict[str, RunBlocks] = {}
        for entry in entries:
            run_blocks = touched.get(entry.run_id)
            if run_blocks is None:
                run_blocks = touched[entry.run_id] = self.run_blocks(entry.run_id)
            run_blocks.take(entry)
        for run_blocks in touched.values():
            run_blocks.settle()
        self.revision += bool(touched)

    def put_above(self, earlier: "ConversationModel") -> None:
        """Put the blocks of earlier runs, or of the beginning of the first run, above. Takes over the other model."""
        known = self.runs
        for run_id, run_blocks in earlier.runs.items():
            if run_id in known:
                known[run_id].join_above(run_blocks)
            else:
                run_blocks.add = self.add
        first = self.blocks[0].number if self.blocks else 0
        for number, block in enumerate(earlier.blocks, start=first - len(earlier.blocks)):
            block.number = number
        self.blocks[:0] = earlier.blocks
        self.runs = {**earlier.runs, **known}
        self.revision += 1

    def offer(self, dropped: frozenset[str]) -> None:
        """Set which dropped messages the user can take back."""
        if (self.revision, dropped) == self._offered:
            return
        for run_blocks in self.runs.values():
            for item_id, block in run_blocks.open_ends.dropped.items():
                if block.is_settled is (item_id in dropped):
                    block.is_settled = not block.is_settled
                    block.version += 1
                    self.revision += 1
        self._offered = self.revision, dropped

    def block(self, number: int) -> Block | None:
        place = number - self.blocks[0].number if self.blocks else -1
        return self.blocks[place] if 0 <= place < len(self.blocks) else None

    def first_after(self, run_id: str, position: int) -> int | None:
        """The number of the first block after an entry, or None if the run is not loaded."""
        if run_id not in self.runs:
            return None
        first = None
        for block in reversed(self.blocks):
            if block.run_id == run_id and block.position <= position:
                return block.number + 1
            first = block.number if block.run_id == run_id else first
        return first

    def run_blocks(self, run_id: str) -> RunBlocks:
        """The blocks of a run; creates them for a new run."""
        if run_id not in self.runs:
            self.runs[run_id] = RunBlocks(run_id, self.add)
        return self.runs[run_id]

    def add(self, block: Block) -> None:
        """Append a block."""
        block.number = self.blocks[-1].number + 1 if self.blocks else 0
        self.blocks.append(block)
