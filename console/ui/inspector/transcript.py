"""The Transcript tab."""

from collections.abc import Callable

from console.model.inspector.data import TranscriptData, TranscriptRow
from console.model.inspector.json_tree import Tree
from console.model.text.lists import Group, Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe
from console.model.text.units import number
from console.ui.inspector.tab import RUN_KINDS, Tab
from engine.events import STEERING_KINDS, EntryKind, rfc3339

_OPENED = 1_200
"""Characters up to which a line is unfolded at first."""
_ROLES = {"user": "strong", "assistant": "good", "tool": "jump", "system": "warn"}


class TranscriptTab(Tab[TranscriptData]):
    """Every transcript line with number and role, the newest last."""

    id = "transcript"
    name = "Transcript"
    short = "Text"
    empty = "Send a message: the transcript of the session is shown here."
    updated_by = (EntryKind.MESSAGE_COMPLETED, *STEERING_KINDS, *RUN_KINDS)
    follows = True

    def rows(self, facts: TranscriptData) -> Source:
        parts: list[Source] = []
        if facts.session is None:
            return Stack([Text(Piece("The event has no session, so it has no transcript.", "faint"))])
        if facts.has_earlier:
            parts.append(Text(Piece(f"Earlier lines: trackside transcript {one_line(facts.session, 140)}", "faint")))
        parts += [self._line(said) for said in facts.lines]
        if not facts.lines:
            parts.append(Text(Piece("No messages yet.", "faint")))
        if facts.later:
            parts.append(Text(Piece(f"{number(facts.later, 'line')} came later.", "faint")))
        return Stack(parts)

    def _line(self, said: TranscriptRow) -> Source:
        time = rfc3339(said.at)[11:19]
        head = Text(
            Piece(f"{said.number} ", "faint"),
            Piece(one_line(said.role, 20), _ROLES.get(said.role, "strong")),
            right=Piece(time if said.is_of_this_run else f"{time} · another run", "faint"),
            wraps=False,
            copy=lambda: said.text,
        )
        return Group(
            head,
            self._body(said),
            folds=self.folds,
            path=("line", said.number),
            is_open=len(said.text) <= _OPENED,
            may_contain=lambda text: text.lower() in said.text.lower(),
        )

    def _body(self, said: TranscriptRow) -> Callable[[], Source]:
        def make() -> Source:
            lines = safe(said.text).expandtabs(4).split("\n")
            parts: list[Source] = [
                Text(Piece(line, "text"), indent=2, hang=0, copy=lambda: said.text) for line in lines
            ]
            if said.whole is not None:
                parts.append(Tree(said.whole, self.folds, root=("whole", said.number), indent=2))
            return Stack(parts)

        return make
