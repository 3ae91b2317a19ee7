"""The conversation of a session as blocks, run by run."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from console.model.conversation.blocks import Block
from console.model.conversation.run_blocks import RunBlocks
from engine.events import Entry


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
        """Grows with every change."""
        self.runs: dict[str, RunBlocks] = {}
        self.has_later = False
        """The session goes on below with entries that have not been read."""
        self._resendable: tuple[int, frozenset[str]] | None = None
        """The revision and the argument of the last `set_resendable`."""

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
        return run_blocks.last_position if run_blocks else 0

    def apply(self, entries: Iterable[Entry]) -> None:
        """Apply a batch of entries of one or more runs, each in order. Entries that were applied before are skipped."""
        changed: dict[str, RunBlocks] = {}
        for entry in entries:
            run_blocks = changed.get(entry.run_id)
            if run_blocks is None:
                run_blocks = changed[entry.run_id] = self.run_blocks(entry.run_id)
            run_blocks.apply(entry)
        for run_blocks in changed.values():
            run_blocks.finish_batch()
        self.revision += bool(changed)

    def prepend(self, earlier: "ConversationModel") -> None:
        """Put the blocks of earlier runs, or of an earlier part of the first run, above. Takes over the other model."""
        known = self.runs
        for run_id, run_blocks in earlier.runs.items():
            if run_id in known:
                known[run_id].join_above(run_blocks)
            else:
                run_blocks.append = self.append
        first = self.blocks[0].number if self.blocks else 0
        for number, block in enumerate(earlier.blocks, start=first - len(earlier.blocks)):
            block.number = number
        self.blocks[:0] = earlier.blocks
        self.runs = {**earlier.runs, **known}
        self.revision += 1

    def set_resendable(self, item_ids: frozenset[str]) -> None:
        """Set which dropped messages the user can take back to the prompt."""
        if (self.revision, item_ids) == self._resendable:
            return
        for run_blocks in self.runs.values():
            for item_id, block in run_blocks.open_items.dropped.items():
                if block.is_settled is (item_id in item_ids):
                    block.is_settled = not block.is_settled
                    block.version += 1
                    self.revision += 1
        self._resendable = self.revision, item_ids

    def block(self, number: int) -> Block | None:
        """The block with this number, or None."""
        index = number - self.blocks[0].number if self.blocks else -1
        return self.blocks[index] if 0 <= index < len(self.blocks) else None

    def number_after(self, run_id: str, position: int) -> int | None:
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
            self.runs[run_id] = RunBlocks(run_id, self.append)
        return self.runs[run_id]

    def append(self, block: Block) -> None:
        block.number = self.blocks[-1].number + 1 if self.blocks else 0
        self.blocks.append(block)
