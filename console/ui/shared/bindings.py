"""Textual bindings made from the command table."""

from collections.abc import Iterator

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from console.model.commands.table import Command, commands_of


def bindings_for(*places: str) -> list[BindingType]:
    """The bindings of the commands of these places. Each has the id of its command, so that a keymap can change it."""
    return [
        Binding(",".join(keys_of(command)), action_of(command), command.label, id=command.id, show=False)
        for command in commands_of(*places)
        if command.keys
    ]


def text_area_bindings(*places: str) -> list[BindingType]:
    """The bindings of a text area: Textual's, without the keys of `app` and of these places, then ours.

    For example f6 and f7 select text in a text area, but pause and step here.
    """
    taken = {key for command in commands_of("app", *places) for key in keys_of(command)}
    kept = (one for one in TextArea.BINDINGS if isinstance(one, Binding) and one.key not in taken)
    return [*kept, *bindings_for(*places)]


def action_of(command: Command) -> str:
    """Textual's action of a command: `queue.edit` is `edit` of the pane, commands of `app` are actions of the app."""
    return command.action or (f"app.{command.what}" if command.where == "app" else command.what)


def keys_of(command: Command) -> Iterator[str]:
    """The keys of a command. `shift+k` is also yielded as `K`, which most terminals send."""
    for key in command.keys.split(",") if command.keys else ():
        name = key.strip()
        yield name
        letter = name.removeprefix("shift+")
        if letter != name and len(letter) == 1:
            yield letter.upper()
