"""What can be done in the prompt and in the queue above it."""

from typing import Final

from console.model.commands.command import Command
from console.model.commands.reasons import (
    can_choose_mode,
    needs_queue,
    other_mode,
    sending,
    taking_back,
    withdrawing,
)

PROMPT: Final = (
    Command("prompt.send", "enter", "send", "Send it, or hand it to the run at work.", "run: Start", 1, says=sending),
    Command("prompt.mode", "ctrl+t", "steer/after", "Into the run at work, or after it.", "steer: Steer or after", 10,
            can_choose_mode, says=other_mode),
    Command("prompt.newline", "ctrl+j,shift+enter", "newline", "Begin a new line.", rank=20),
    Command("prompt.earlier", "up,alt+up", "earlier", "What was sent before; with an empty prompt, into the queue."),
)  # fmt: skip

QUEUE: Final = (
    Command("queue.edit", "enter", "edit", "Take this message into the prompt; a dropped one to send it again.", rank=1,
            why_not=needs_queue, says=taking_back),
    Command("queue.withdraw", "d", "withdraw", "Take it back: it was never said. Dismiss a dropped one.",
            "steer: Withdraw", 2, needs_queue, says=withdrawing),
    Command("queue.up", "shift+k,alt+up", "up", "Move it up.", rank=3, why_not=needs_queue),
    Command("queue.down", "shift+j,alt+down", "down", "Move it down.", rank=4, why_not=needs_queue),
    Command("queue.turn", "t", "steer/after", "Into the run at work, or after it.", rank=5, why_not=needs_queue),
    Command("queue.hold", "h", "hold", "Keep it back, and release it.", "steer: Keep back or release", 6, needs_queue),
    Command("queue.undo", "u", "undo", "Undo the last withdrawal.", "steer: Undo the withdrawal", 7),
    Command("queue.withdraw_all", "shift+d", "withdraw all", "Take back all that waits; undo brings all of it back.",
            "steer: Withdraw all", 8, needs_queue),
    Command("queue.above", "up,k", "above", "The message above.", action="cursor(-1)"),
    Command("queue.below", "down,j", "below", "The message below; under the last is the prompt.", action="cursor(1)"),
)  # fmt: skip
