"""Every screen as it is drawn: readable in every theme, only ASCII in ASCII mode, a word or glyph for each state."""

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Input, TextArea

from console.model.preferences.color_themes import PALETTES, TEXTUAL_THEMES
from console.model.text.glyphs import GLYPHS, LEGEND
from console.ui.shared.styled_text import TONES
from tests.console.pictures.open_scene import open_scene
from tests.console.pictures.scene import NARROW
from tests.support.console.drawn_screen import strange, weak

PANES = ("first_run", "queued", "held", "failed", "cannot_open", "as_of", "calls_tab", "receipts_tab",
         "transcript_tab", "filtered", "hostile_chat")  # fmt: skip
DIALOGS = ("palette", "help_in_stream", "quitting", "held_answer_in_edit", "jump", "found_again", "themes",
        "tour")  # fmt: skip
SCREENS = ("runners", "form_changed", "form_wrong", "form_grants", "form_yaml_wrong", "composer_event",
           "composer_wrong", "path_offered", "event_in_conversation", "artifacts", "artifact_saving", "sessions",
           "sessions_found", "sessions_renamed", "states", "state_history", "state_not_json")  # fmt: skip
NARROW_SCENES = ("running_in_stream", "running_in_runs", "queued")
WIDE = (140, 32)
"""Wide enough for all panes side by side; a larger screen only takes longer to draw."""
CASES = [*((name, WIDE) for name in (*PANES, *DIALOGS, *SCREENS)), *((name, NARROW) for name in NARROW_SCENES)]
STATE_TEXTS = {
    "first_run": ("○ idle", "◉ live"),
    "held": ("‖ paused", "steer ▸"),
    "queued": ("● running", "▲ steer", "↳ after", "▲2 queued", "◐"),
    "failed": ("✗ failed",),
    "as_of": ("as of #39", "┆▌ ▼ steered"),
    "calls_tab": ("✓ call_tool", "0 refused"),
    "runners": ("left out",),
}
"""The words and glyphs that show the states of a scene without colours."""


@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{name}-{size[0]}" for name, size in CASES])
async def test_screen_names_its_states_is_readable_and_can_be_drawn_in_ascii(
    name: str, size: tuple[int, int], tmp_path: Path
):
    async with open_scene(name, tmp_path, size) as driver:
        texts = STATE_TEXTS.get(name, ()) if size == WIDE else ()
        assert [text for text in texts if text not in driver.screen_text] == []
        for theme in PALETTES:
            driver.app.controllers.preferences.use_theme(theme)
            await driver.wait_until_drawn()
            assert weak(driver.app) == {}, theme
        driver.app.controllers.preferences.action_ascii()
        await driver.wait_until_drawn()
        assert strange(driver.app) == {}


@pytest.mark.parametrize("name", ["composer_event", "found_again"])
async def test_textual_themes_are_readable(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, WIDE) as driver:
        for theme in TEXTUAL_THEMES:
            driver.app.controllers.preferences.use_theme(theme)
            await driver.wait_until_drawn()
            assert weak(driver.app) == {}, theme


@pytest.mark.parametrize("name", ["composer", "sessions", "states", "artifacts", "runners", "first_run"])
async def test_placeholders_fit_in_the_smallest_terminal(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, (60, 15)) as driver:
        fields = [*driver.app.screen.query(Input), *driver.app.screen.query(TextArea)]
        hints = {str(field.placeholder): field.content_size.width for field in fields if field.content_size.width}
        assert hints
        assert {hint: width for hint, width in hints.items() if cell_len(hint) >= width} == {}, (
            "the cursor needs a column too"
        )


def test_every_coloured_state_has_a_glyph_and_a_word():
    states = {tone for tone in TONES if tone in GLYPHS} - {"turn", "line"}
    assert states <= {name for name, _ in LEGEND}
    assert len({word for _, word in LEGEND}) == len(LEGEND)
