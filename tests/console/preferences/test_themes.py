"""Every theme is legible: each text colour on each background, and all text that is drawn."""

from itertools import product
from typing import Any

import pytest
from textual.color import Color
from textual.geometry import Offset
from textual.selection import Selection
from textual.theme import Theme

from console.launch import LaunchOptions
from console.model.preferences.color_themes import (
    MIN_CONTRAST,
    PALETTES,
    TEXT_COLOURS,
    TEXTUAL_THEMES,
    Palette,
    contrast,
    legible,
    make_legible,
)
from console.ui.terminal.textual_themes import textual_theme, theme_of
from tests.support.console.drawn_screen import hex_of, weak
from tests.support.console.pilot import at_the_screen, say, sees, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said

THEMES = [*(theme_of(palette) for palette in PALETTES.values()), *map(textual_theme, TEXTUAL_THEMES)]
TEXT_VARIABLES = (
    "foreground", "text-muted", "primary", "secondary", "accent", "success", "warning", "error", "text-primary",
    "text-secondary", "text-accent", "text-success", "text-warning", "text-error",
)  # fmt: skip
BACKGROUNDS = ("background", "surface", "panel", "chosen", "boost")
PAIRS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
    *(("button-color-foreground", kind) for kind in ("primary", "success", "warning", "error")),
)
"""Text that has a background of its own."""
MARKDOWN = """
# One

## Two

Some **bold**, *italic*, `code`, [a link](http://x.y) and ~~gone~~.

> a quote with `code`

| a | b |
|---|---|
| 1 | 2 |

```python
# a comment
@deco
class A(B):
    '''Doc.'''
    x: int = 3.5 + len("text") if None else True
    def f(self, *, y=f"{x!r}"):
        raise ValueError(r"raw") from None
```

```json
{"a": [1, true, null, "s"]}
```

the end
"""


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_all_text_is_legible_on_every_background(theme: Theme):
    colours = {**theme.to_color_system().generate(), **theme.variables}
    illegible = {
        f"{text} on {background}": round(ratio, 2)
        for text, background in product(TEXT_VARIABLES, BACKGROUNDS)
        if (ratio := contrast(_hex(colours[text]), _hex(colours[background]))) < MIN_CONTRAST
    }
    illegible |= {
        f"{text} on {background}": round(ratio, 2)
        for text, background in PAIRS
        if (ratio := contrast(_hex(colours[text]), _hex(colours[background]))) < MIN_CONTRAST
    }
    assert illegible == {}, illegible


@pytest.mark.parametrize(
    "palette",
    [palette for palette in PALETTES.values() if "contrast" in palette.name],
    ids=lambda palette: palette.name,
)
def test_high_contrast_palettes_have_high_contrast(palette: Palette):
    assert (
        min(contrast(colour, background) for colour, background in product(palette.texts.values(), palette.backgrounds))
        >= 9
    )


async def test_code_selections_and_toasts_are_legible_in_every_theme(open_engine: Engines):
    @declares()
    async def writes(ctx: Any):
        yield said(MARKDOWN)
        yield done()

    app = RecordingConsole(LaunchOptions(), lambda: open_engine(writes))
    async with at_the_screen(app, (120, 60)) as pilot:
        await say(pilot, "go")
        await sees(pilot, "the end")
        await pilot.press(*"selected", "shift+home")
        app.screen.selections = {app.main.conversation: Selection(Offset(0, 0), Offset(0, 6))}
        for severity in ("information", "warning", "error"):
            app.services.show_toast(f"toast of {severity}", severity=severity, seconds=600)
        await sees(pilot, "✗ toast of error", "⚠ toast of warning", "toast of information")
        for theme in THEMES:
            app.controllers.preferences.use_theme(theme.name)
            await until(pilot, lambda theme=theme: hex_of(app.main.styles.background) == _hex(theme.background or ""))
            await until(pilot, lambda: not app.screen._dirty_widgets and not app.screen._layout_required)
            assert weak(app) == {}, theme.name


def test_contrast_is_computed_as_by_wcag():
    assert round(contrast("#000000", "#ffffff"), 1) == 21.0
    assert contrast("#123456", "#123456") == 1.0
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54


@pytest.mark.parametrize("name", ["dark", "light"])
def test_illegible_colours_are_changed_only_as_far_as_needed(name: str):
    palette = PALETTES[name]
    end = "#ffffff" if palette.is_dark else "#000000"
    changed = legible(palette.surface, palette.backgrounds, towards=end)
    assert min(contrast(changed, background) for background in palette.backgrounds) >= MIN_CONTRAST
    assert changed != end
    assert make_legible(palette) == palette
    assert set(palette.texts) == set(TEXT_COLOURS)


def _hex(colour: str) -> str:
    return Color.parse(colour).with_alpha(1.0).hex.lower()
