"""The colours of the built-in themes, and the contrast of two colours."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

MIN_CONTRAST: Final = 4.5
"""Contrast ratio that text needs (WCAG 2, level AA)."""

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"


class Palette(NamedTuple):
    """The colours of one theme as `#rrggbb`."""

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
    def chosen(self) -> str:
        """Background of the selected row: the panel with as much accent as keeps all text legible."""
        for share in _ACCENT_SHARES:
            behind = _mix(self.panel, self.accent, share)
            if all(contrast(colour, behind) >= MIN_CONTRAST for colour in self.texts.values()):
                return behind
        return self.panel

    @property
    def texts(self) -> Mapping[str, str]:
        """All text colours by name."""
        return {name: getattr(self, name) for name in TEXT_COLOURS}

    def lowest_contrast(self, colour: str) -> float:
        """The lowest contrast of a colour over all backgrounds."""
        return min(contrast(colour, behind) for behind in self.backgrounds)


TEXT_COLOURS: Final = (
    "foreground", "muted", "primary", "secondary", "accent", "success", "warning", "error",
)  # fmt: skip
_ACCENT_SHARES: Final = (0.18, 0.14, 0.1, 0.07, 0.04)

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
HIGH_CONTRAST: Final = Palette(
    "high-contrast", is_dark=True, background="#000000", surface="#000000", panel="#141414", foreground="#ffffff",
    muted="#d6d6d6", primary="#7cc4ff", secondary="#c9d6ff", accent="#ffd000", success="#5cff8f", warning="#ffe97a",
    error="#ff9aa8", border="#c8c8c8",
)  # fmt: skip
HIGH_CONTRAST_LIGHT: Final = Palette(
    "high-contrast-light", is_dark=False, background="#ffffff", surface="#ffffff", panel="#efefef",
    foreground="#000000", muted="#303030", primary="#003b73", secondary="#26305e", accent="#5e2c00",
    success="#00471b", warning="#4a3600", error="#7d0020", border="#303030",
)  # fmt: skip
PALETTES: Final[Mapping[str, Palette]] = {one.name: one for one in (DARK, LIGHT, HIGH_CONTRAST, HIGH_CONTRAST_LIGHT)}
"""The built-in themes; the first is the default."""

TEXTUAL_THEMES: Final = (
    "textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "dracula", "tokyo-night", "monokai",
    "flexoki", "catppuccin-latte", "catppuccin-frappe", "catppuccin-macchiato", "solarized-light", "solarized-dark",
    "rose-pine", "rose-pine-moon", "rose-pine-dawn", "atom-one-dark", "atom-one-light",
)  # fmt: skip
"""Names of Textual's themes, so that the file can be checked without importing Textual."""


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio: 1 for equal colours, 21 for black on white."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def legible(colour: str, backgrounds: Iterable[str], *, towards: str, least: float = MIN_CONTRAST + 0.1) -> str:
    """Return the colour, mixed with `towards` just as far as it needs to be legible on all backgrounds."""
    behind = tuple(backgrounds)
    for step in range(21):
        mixed = _mix(colour, towards, step / 20)
        if all(contrast(mixed, each) >= least for each in behind):
            return mixed
    return towards


def make_legible(palette: Palette) -> Palette:
    """Return the palette with text colours that are legible on all its backgrounds."""
    end = WHITE if palette.is_dark else BLACK
    weak = {name for name, colour in palette.texts.items() if palette.lowest_contrast(colour) < MIN_CONTRAST}
    return palette._replace(**{name: legible(palette.texts[name], palette.backgrounds, towards=end) for name in weak})


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(one: str, other: str, share: float) -> str:
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(_parts(one), _parts(other), strict=True)
    )  # fmt: skip
