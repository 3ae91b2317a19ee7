"""Colours that can be read: palettes, and how far two colours are apart."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

LEGIBLE: Final = 4.5
"""Contrast below which text is hard to read (WCAG 2, level AA)."""

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"


class Palette(NamedTuple):
    """The colours of one theme, each as `#rrggbb`."""

    name: str
    is_dark: bool
    background: str
    surface: str
    panel: str
    foreground: str
    muted: str
    primary: str
    secondary: str
    accent: str
    success: str
    warning: str
    error: str
    border: str

    @property
    def backgrounds(self) -> tuple[str, ...]:
        return self.background, self.surface, self.panel

    @property
    def strongest(self) -> str:
        """White or black: whichever can be read better on all of its backgrounds, whatever it says of itself."""
        return max((WHITE, BLACK), key=self.weakest)

    @property
    def can_be_read(self) -> bool:
        """Whether there is any colour for words on all of its backgrounds."""
        return self.weakest(self.strongest) >= LEGIBLE

    @property
    def chosen(self) -> str:
        """Behind the row under a cursor: the panel in the accent's light, as far as all words can be read on it."""
        for share in _LIGHTS:
            behind = _mixed(self.panel, self.accent, share)
            if all(contrast(colour, behind) >= LEGIBLE for colour in self.texts.values()):
                return behind
        return self.panel

    @property
    def texts(self) -> Mapping[str, str]:
        """All that words are written in, by name."""
        return {name: getattr(self, name) for name in TEXTS}

    def weakest(self, colour: str) -> float:
        """Its contrast on the background that is the nearest to it."""
        return min(contrast(colour, behind) for behind in self.backgrounds)

    def faults(self) -> Iterable[str]:
        """Which of its words are hard to read, and on what."""
        for name, colour in self.texts.items():
            behind = min(("background", "surface", "panel"), key=lambda one: contrast(colour, getattr(self, one)))
            ratio = contrast(colour, getattr(self, behind))
            if ratio < LEGIBLE:
                yield f"{name} on {behind} has a contrast of {ratio:.1f} : 1; it takes {LEGIBLE} to be read with ease"


TEXTS: Final = (
    "foreground", "muted", "primary", "secondary", "accent", "success", "warning", "error",
)  # fmt: skip
_LIGHTS: Final = (0.18, 0.14, 0.1, 0.07, 0.04)
COLOURS: Final = tuple(name for name in Palette._fields if name not in ("name", "is_dark"))

DARK: Final = Palette(
    "dark", is_dark=True, background="#121212", surface="#1e1e1e", panel="#24292e", foreground="#e0e0e0",
    muted="#a2a2a2", primary="#58a6e8", secondary="#9db4d6", accent="#ffa62b", success="#4ebf71", warning="#f5cf5b",
    error="#f27a93", border="#4a545e",
)  # fmt: skip
LIGHT: Final = Palette(
    "light", is_dark=False, background="#f7f7f5", surface="#ffffff", panel="#e8eaed", foreground="#1b1d1f",
    muted="#565b61", primary="#00569c", secondary="#3d4f7c", accent="#8f4700", success="#1a6b35", warning="#735600",
    error="#b3173c", border="#9aa2ab",
)  # fmt: skip
HIGH: Final = Palette(
    "high-contrast", is_dark=True, background="#000000", surface="#000000", panel="#141414", foreground="#ffffff",
    muted="#d6d6d6", primary="#7cc4ff", secondary="#c9d6ff", accent="#ffd000", success="#5cff8f", warning="#ffe97a",
    error="#ff9aa8", border="#c8c8c8",
)  # fmt: skip
HIGH_LIGHT: Final = Palette(
    "high-contrast-light", is_dark=False, background="#ffffff", surface="#ffffff", panel="#efefef",
    foreground="#000000", muted="#303030", primary="#003b73", secondary="#26305e", accent="#5e2c00",
    success="#00471b", warning="#4a3600", error="#7d0020", border="#303030",
)  # fmt: skip
PALETTES: Final[Mapping[str, Palette]] = {one.name: one for one in (DARK, LIGHT, HIGH, HIGH_LIGHT)}
"""Those that the console has of its own, the usual first."""

BORROWED: Final = (
    "textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "dracula", "tokyo-night", "monokai",
    "flexoki", "catppuccin-latte", "catppuccin-frappe", "catppuccin-macchiato", "solarized-light", "solarized-dark",
    "rose-pine", "rose-pine-moon", "rose-pine-dawn", "atom-one-dark", "atom-one-light",
)  # fmt: skip
"""Those of Textual, by name: who only reads the file need not load it."""


def contrast(one: str, other: str) -> float:
    """From 1, the same, to 21, black on white."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def legible(colour: str, backgrounds: Iterable[str], *, towards: str, least: float = LEGIBLE + 0.1) -> str:
    """The colour, or the nearest on its way to another that can be read on all of these, with a little to spare."""
    behind = tuple(backgrounds)
    for step in range(21):
        mixed = _mixed(colour, towards, step / 20)
        if all(contrast(mixed, each) >= least for each in behind):
            return mixed
    return towards


def made_legible(palette: Palette) -> Palette:
    """The same palette with words that can be read."""
    end = palette.strongest
    weak = {name for name, colour in palette.texts.items() if palette.weakest(colour) < LEGIBLE}
    return palette._replace(**{name: legible(palette.texts[name], palette.backgrounds, towards=end) for name in weak})


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mixed(one: str, other: str, share: float) -> str:
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(_parts(one), _parts(other), strict=True)
    )  # fmt: skip
