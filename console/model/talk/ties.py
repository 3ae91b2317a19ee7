"""What ties a run's blocks to entries that are not there: begun here and ended later, or the other way round."""

from dataclasses import dataclass, field
from typing import NamedTuple

from console.model.talk.blocks import Answer, Filed, Steered, Tool


class Words(NamedTuple):
    """What a message says, and the files that came with it."""

    text: str = ""
    files: tuple[Filed, ...] = ()


@dataclass(slots=True)
class Ties:
    """By id. A run that is read in windows, from its end, has them until it is read to its beginning."""

    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """Calls without an answer."""
    answers: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """Answers without their call."""
    words: dict[str, Words] = field(default_factory=dict[str, Words])
    """What messages say that are on their way."""
    steered: dict[str, Steered] = field(default_factory=dict[str, Steered])
    """Messages that were pulled and have not landed."""
    untold: dict[str, Steered] = field(default_factory=dict[str, Steered])
    """Messages of which something was said before: that they were pulled, or their words."""
    dropped: dict[str, Steered] = field(default_factory=dict[str, Steered])
    """Messages that can be had back, as long as nobody has settled that."""

    def come_after(self, earlier: "Ties", *, is_over: bool) -> None:
        """Join with those of the entries before: what began there ends here."""
        for call_id, tool in earlier.tools.items():
            answer = self.answers.pop(call_id, None)
            if answer is not None:
                tool.answered(answer.answer, answer.at, answer.summary, answer.output, is_cut=answer.is_cut)
                answer.leave()
            elif is_over:
                tool.answered(Answer.NONE)
            else:
                self.tools.setdefault(call_id, tool)
        for item_id, landed in self.untold.items():
            pulled = earlier.steered.pop(item_id, None)
            if pulled is not None:
                pulled.leave()
            said = earlier.words.get(item_id, Words())
            landed.text = said.text or (pulled.text if pulled is not None else "") or landed.text
            landed.attachments = said.files or landed.attachments
            landed.version += 1
        self.steered = earlier.steered | self.steered
        self.words = earlier.words | self.words
        self.answers |= earlier.answers
        self.untold = earlier.untold | self.untold  # what has landed is shown, not that it was pulled
        self.dropped |= earlier.dropped
