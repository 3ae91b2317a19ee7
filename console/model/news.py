"""What is new, by version: told once to who had an older one."""

from collections.abc import Mapping, Sequence
from typing import Final

NEWS: Final[Mapping[str, Sequence[str]]] = {
    "0.1.0": (
        "choose who runs with {app.runners}, fill in its form with {app.settings}; files that change are read again",
        "any of the six events, put together by hand: {app.compose}; in the prompt, @ and a path attaches a file",
        "what runs made, with a look inside and a way to save it: {app.artifacts}",
        "every session, and all that was ever said: {app.sessions}; any of it can be gone on with in a copy",
        "what runners keep, to be seen, changed and undone: {app.states}",
        "{app.jump} jumps to anything that is seen, by a letter or two",
        "{prompt.editor} writes the message in your editor, {prompt.history} finds one that was sent before",
        "themes with a preview, also light and with high contrast: {app.theme}",
        "keys and colours of your own in console.yaml; `trackside keys` prints the table",
        "a tour of forty seconds: {app.tour}",
    ),
}
"""The newest first; keys are named by their commands."""


def since(seen: str | None, now: str, news: Mapping[str, Sequence[str]] = NEWS) -> Mapping[str, Sequence[str]]:
    """What came after the version that was seen, up to this one; nothing for who is here for the first time."""
    if seen is None or _parts(seen) is None:
        return {}
    return {one: words for one, words in news.items() if _order(seen) < _order(one) <= _order(now)}


def _order(version: str) -> tuple[int, ...]:
    return _parts(version) or (0,)


def _parts(version: str) -> tuple[int, ...] | None:
    """`1.2.3`, and of `1.2.3rc1` as much as is numbers."""
    parts: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
        if digits != part:
            break
    return tuple(parts) or None
