"""Textual's themes, made of palettes; also its own, with words that can be read."""

from collections.abc import Mapping

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from console.model.settings.palette import Palette, made_legible


def theme_of(palette: Palette, variables: Mapping[str, str] | None = None) -> Theme:
    """A palette as Textual wants it: what it would work out for words is said outright."""
    return Theme(
        name=palette.name,
        dark=palette.is_dark,
        primary=palette.primary,
        secondary=palette.secondary,
        accent=palette.accent,
        success=palette.success,
        warning=palette.warning,
        error=palette.error,
        foreground=palette.foreground,
        background=palette.background,
        surface=palette.surface,
        panel=palette.panel,
        variables={
            **(variables or {}),
            "chosen": palette.chosen,
            "boost": palette.panel,  # behind what has the focus; Textual's own is seen through
            "block-cursor-background": palette.primary,
            "block-cursor-foreground": palette.background,
            "block-cursor-blurred-background": palette.panel,
            "block-cursor-blurred-foreground": palette.foreground,
            "button-color-foreground": palette.background,
            "screen-selection-background": palette.primary,
            "screen-selection-foreground": palette.background,
            "input-selection-background": palette.primary,
            "input-selection-foreground": palette.background,
            "text-muted": palette.muted,
            "text-disabled": palette.muted,
            "foreground-muted": palette.muted,
            "text-primary": palette.primary,
            "text-secondary": palette.secondary,
            "text-accent": palette.accent,
            "text-success": palette.success,
            "text-warning": palette.warning,
            "text-error": palette.error,
            "panel-lighten-2": palette.border,  # the borders of panes
        },
    )


def borrowed(name: str) -> Theme:
    """One of Textual's, as far from it as its words need to be read."""
    theme = BUILTIN_THEMES[name]
    made = theme.to_color_system().generate()
    background = Color.parse(made["background"])
    muted = background.blend(background.get_contrast_text(1.0), 0.6, alpha=1)
    palette = Palette(
        name=name,
        is_dark=theme.dark,
        muted=muted.hex.lower(),
        border=_plain(made["panel-lighten-2"]),
        **{part: _plain(made[part]) for part in (
            "background", "surface", "panel", "foreground", "primary", "secondary", "accent", "success", "warning",
            "error",
        )},
    )  # fmt: skip
    return theme_of(made_legible(palette), theme.variables)


def _plain(colour: str) -> str:
    """Without what shines through."""
    return Color.parse(colour).with_alpha(1.0).hex.lower()
