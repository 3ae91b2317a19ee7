"""Shorter ways: to anything that is seen, into another editor, to what was sent before, to other colours."""

from typing import Final

from console.model.commands.command import Command, grouped

WAYS: Final = (
    *grouped(
        "Shorter ways",
        Command("app.jump", "ctrl+o", "jump", "Go to anything that is seen, by the letters on it.", "view: Jump", 62,
                over=True),
        Command("app.tour", "", "tour", "See what is where, in forty seconds.", "help: Tour"),
        Command("app.news", "", "news", "What is new in this version.", "help: What is new", over=True),
        Command("app.choices", "", "choices", "What of console.yaml is in force, what is wrong in it; read it again.",
                "help: My console.yaml", over=True),
    ),
)  # fmt: skip

WRITING: Final = (
    Command("prompt.editor", "ctrl+g", "editor", "Write the message in your own editor.", "run: Write in an editor", 51,
            action="app.editor"),
    Command("prompt.history", "ctrl+r", "history", "Find what was sent before.", "run: Find what was sent", 50,
            action="app.history"),
)  # fmt: skip
