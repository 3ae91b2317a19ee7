"""What a person asks for at a block that another screen shows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from console.model.talk.blocks import Event, You, files_of

if TYPE_CHECKING:
    from console.model.talk.blocks import Block

    _Widget = Widget
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Widget = object


class Asking(_Widget):
    """A part of the conversation."""

    @dataclass
    class EditEvent(Message):
        """The event that began a run is to be changed and sent as a new one."""

        run_id: str

    @dataclass
    class SeeArtifact(Message):
        """An artifact of a run is to be seen in full. A runner need not have given it an id."""

        run_id: str
        artifact_id: str
        name: str

    @dataclass
    class ForkAt(Message):
        """Someone wants to go on from a block, in a session of its own."""

        run_id: str
        position: int
        is_inherited: bool
        """It was said in the session that this one was forked from; its position is the line's."""

    if TYPE_CHECKING:

        @property
        def cursor(self) -> Block | None: ...
        def why_not(self, what: str) -> str | None: ...

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A letter that cannot act on a block is meant for the prompt, so it is no key then."""
        return action not in ("copy", "fold", "retry", "edit", "artifact", "fork") or self.why_not(action) is None

    def action_edit(self) -> None:
        if isinstance(block := self.cursor, You | Event):
            self.post_message(self.EditEvent(block.run_id))

    def action_fork(self) -> None:
        if (block := self.cursor) is not None:
            self.post_message(self.ForkAt(block.run_id, block.position, is_inherited=not block.turn))

    def action_artifact(self) -> None:
        block = self.cursor
        if block is not None and (files := files_of(block)):
            self.post_message(self.SeeArtifact(block.run_id, files[0].artifact_id, files[0].name))
