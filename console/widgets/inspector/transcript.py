"""The tab of the session's transcript."""

from collections.abc import Callable

from console.model.inspect.facts import Said, TranscriptFacts
from console.model.inspect.sheet import Group, Source, Stack, Text
from console.model.inspect.tree import Tree
from console.model.piece import Piece
from console.model.safe import one_line, safe
from console.model.words import number
from console.widgets.inspector.tab import Tab
from engine.events import rfc3339

_OPENED = 1_200
"""Characters of a line up to which it is open by itself."""
_ROLES = {"user": "strong", "assistant": "good", "tool": "jump", "system": "warn"}


class TranscriptTab(Tab[TranscriptFacts]):
    """Every line with its number and role, the newest at the end."""

    id = "transcript"
    name = "Transcript"
    short = "Text"
    empty = "Send something: what is said in the session is shown here."
    hears = ("message.completed", "steering.", "run.")
    follows = True

    def rows(self, facts: TranscriptFacts) -> Source:
        parts: list[Source] = []
        if facts.session is None:
            return Stack([Text(Piece("The event has no session, so nothing is written down.", "faint"))])
        if facts.has_earlier:
            parts.append(Text(Piece(f"Earlier lines: trackside transcript {one_line(facts.session, 140)}", "faint")))
        parts += [self._line(said) for said in facts.lines]
        if not facts.lines:
            parts.append(Text(Piece("Nothing was said yet.", "faint")))
        if facts.later:
            parts.append(Text(Piece(f"{number(facts.later, 'line')} came later.", "faint")))
        return Stack(parts)

    def _line(self, said: Said) -> Source:
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
            may_hold=lambda text: text.lower() in said.text.lower(),
        )

    def _body(self, said: Said) -> Callable[[], Source]:
        def make() -> Source:
            lines = safe(said.text).expandtabs(4).split("\n")
            parts: list[Source] = [
                Text(Piece(line, "text"), indent=2, hang=0, copy=lambda: said.text) for line in lines
            ]
            if said.whole is not None:
                parts.append(Tree(said.whole, self.folds, root=("whole", said.number), indent=2))
            return Stack(parts)

        return make
