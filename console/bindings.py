"""Textual's bindings, made from the table of commands."""

from collections.abc import Iterator

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from console.model.commands import Command, of


def bindings_for(*places: str) -> list[BindingType]:
    """The keys of a pane; each has its command's id, so that a keymap can change it."""
    return [
        Binding(",".join(keys_of(command)), action_of(command), command.words, id=command.id, show=False)
        for command in of(*places)
        if command.keys
    ]


def bindings_of_a_text(*places: str) -> list[BindingType]:
    """Textual's own for a text that is edited, without keys that mean something else everywhere or here; then ours.

    With f6 and f7 a text area selects, and the console holds and steps.
    """
    taken = {key for command in of("app", *places) for key in keys_of(command)}
    kept = (one for one in TextArea.BINDINGS if isinstance(one, Binding) and one.key not in taken)
    return [*kept, *bindings_for(*places)]


def action_of(command: Command) -> str:
    """`queue.edit` is the pane's own `edit`; what is everywhere is the app's."""
    return command.action or (f"app.{command.what}" if command.where == "app" else command.what)


def keys_of(command: Command) -> Iterator[str]:
    """Its keys; most terminals say `K` where some say `shift+k`."""
    for key in command.keys.split(",") if command.keys else ():
        name = key.strip()
        yield name
        letter = name.removeprefix("shift+")
        if letter != name and len(letter) == 1:
            yield letter.upper()
