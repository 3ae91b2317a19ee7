"""What of `console.yaml` is in force now, in lines for a person: the file, what it changed, what is wrong in it."""

from collections.abc import Iterator, Mapping, Sequence

from console.model.commands import BY_ID
from console.model.settings.keymap import changed
from console.model.settings.settings import Settings

AGAIN = "r"
"""The key that reads the file again."""

CHOSEN = "what you choose on the screen is kept beside it, in console.json; what the file says comes first"


def told(
    settings: Settings, theme: str, *, is_ascii: bool, now: Settings | None, is_there: bool
) -> Mapping[str, Sequence[str]]:
    """Under headings. `now` is what the file says at this moment; none where there is no file to ask."""
    wrong = {"Wrong in it": [str(problem) for problem in settings.problems]} if settings.problems else {}
    return {
        settings.where or "no file was read": [_of_file(settings, now, is_there=is_there), CHOSEN],
        "In force": [*_looks(settings, theme, is_ascii=is_ascii), *_keys(settings)],
        **wrong,
    }


def _of_file(settings: Settings, now: Settings | None, *, is_there: bool) -> str:
    if now is None:
        return "it was read when the console was opened"
    if now != settings:
        return f"it {'was saved' if is_there else 'is gone'} since it was read; {AGAIN} reads it again"
    return "it is there, and was read as it is now" if is_there else f"there is none; write one, and {AGAIN} reads it"


def _looks(settings: Settings, theme: str, *, is_ascii: bool) -> Iterator[str]:
    if settings.theme is None:
        source = "the file names none"
    else:
        source = "as the file says" if settings.theme == theme else f"the file names {settings.theme}"
    yield f"theme: {theme}, {source}"
    if settings.palettes:
        yield f"themes of your own: {', '.join(palette.name for palette in settings.palettes)}"
    if settings.is_ascii is None:
        source = "the file does not say"
    else:
        source = (
            "as the file says" if settings.is_ascii == is_ascii else f"the file says {str(settings.is_ascii).lower()}"
        )
    yield f"ascii: {str(is_ascii).lower()}, {source}"


def _keys(settings: Settings) -> Iterator[str]:
    """Each that is another than how the console comes."""
    if not settings.keys:
        yield "keys: all as the console comes"
    for command in changed(settings.keys):
        if command.id in settings.keys:
            usual = BY_ID[command.id].all_keys or "no key"
            yield f"{command.id}: {command.all_keys or 'no key'}, in place of {usual} ({command.words})"
