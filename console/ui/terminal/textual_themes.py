"""Textual themes made from our palettes, and Textual's own themes with legible text."""

from collections.abc import Mapping

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from console.model.preferences.color_themes import Palette, make_legible


def theme_of(palette: Palette, variables: Mapping[str, str] | None = None) -> Theme:
    """Return a Textual theme of a palette. All text colours are set, so Textual derives none of them."""
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
            "boost": palette.panel,  # background of the focused widget; Textual's own is transparent
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
            "panel-lighten-2": palette.border,  # borders of panes
        },
    )


def textual_theme(name: str) -> Theme:
    """Return one of Textual's themes, changed just enough that all text is legible."""
    theme = BUILTIN_THEMES[name]
    colours = theme.to_color_system().generate()
    background = Color.parse(colours["background"])
    muted = background.blend(background.get_contrast_text(1.0), 0.6, alpha=1)
    palette = Palette(
        name=name,
        is_dark=theme.dark,
        muted=muted.hex.lower(),
        border=_opaque(colours["panel-lighten-2"]),
        **{part: _opaque(colours[part]) for part in (
            "background", "surface", "panel", "foreground", "primary", "secondary", "accent", "success", "warning",
            "error",
        )},
    )  # fmt: skip
    return theme_of(make_legible(palette), theme.variables)


def _opaque(colour: str) -> str:
    """The colour without transparency."""
    return Color.parse(colour).with_alpha(1.0).hex.lower()
