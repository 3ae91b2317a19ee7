"""Every screen as it is drawn: its words can be read in every theme, in ASCII nothing else is drawn, and each state has
a word or a sign beside its colour."""

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
OVER = ("palette", "help_in_stream", "quitting", "held_answer_in_edit", "jump", "found_again", "themes",
        "tour")  # fmt: skip
SCREENS = ("runners", "form_changed", "form_wrong", "form_grants", "form_yaml_wrong", "composer_event",
           "composer_wrong", "path_offered", "event_in_conversation", "artifacts", "artifact_saving", "sessions",
           "sessions_found", "sessions_renamed", "states", "state_history", "state_not_json")  # fmt: skip
SMALL = ("running_in_stream", "running_in_runs", "queued")
WIDE = (140, 32)
"""All panes side by side, and no more to draw than it takes."""
LOOKS = [*((name, WIDE) for name in (*PANES, *OVER, *SCREENS)), *((name, NARROW) for name in SMALL)]
TOLD = {
    "first_run": ("○ idle", "◉ live"),
    "held": ("‖ paused", "steer ▸"),
    "queued": ("● running", "▲ steer", "↳ after", "▲2 queued", "◐"),
    "failed": ("✗ failed",),
    "as_of": ("as of #39", "┆▌ ▼ steered"),
    "calls_tab": ("✓ call_tool", "0 refused"),
    "runners": ("left out",),
}
"""By which words and signs the states of a scene are known without a colour."""


@pytest.mark.parametrize(("name", "size"), LOOKS, ids=[f"{name}-{size[0]}" for name, size in LOOKS])
async def test_a_screen_is_told_in_words_can_be_read_and_is_drawn_in_ascii(
    name: str, size: tuple[int, int], tmp_path: Path
):
    async with open_scene(name, tmp_path, size) as driver:
        told = TOLD.get(name, ()) if size == WIDE else ()
        assert [words for words in told if words not in driver.screen_text] == []
        for theme in PALETTES:
            driver.app.controllers.preferences.use_theme(theme)
            await driver.wait_until_drawn()
            assert weak(driver.app) == {}, theme
        driver.app.controllers.preferences.action_ascii()
        await driver.wait_until_drawn()
        assert strange(driver.app) == {}


@pytest.mark.parametrize("name", ["composer_event", "found_again"])
async def test_textuals_own_themes_can_be_read_too(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, WIDE) as driver:
        for theme in TEXTUAL_THEMES:
            driver.app.controllers.preferences.use_theme(theme)
            await driver.wait_until_drawn()
            assert weak(driver.app) == {}, theme


@pytest.mark.parametrize("name", ["composer", "sessions", "states", "artifacts", "runners", "first_run"])
async def test_hints_are_whole_in_the_smallest_terminal(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, (60, 15)) as driver:
        fields = [*driver.app.screen.query(Input), *driver.app.screen.query(TextArea)]
        hints = {str(field.placeholder): field.content_size.width for field in fields if field.content_size.width}
        assert hints
        assert {hint: room for hint, room in hints.items() if cell_len(hint) >= room} == {}, "with the cursor"


def test_every_state_that_has_a_colour_has_a_sign_and_a_word():
    states = {tone for tone in TONES if tone in GLYPHS} - {"turn", "line"}
    assert states <= {name for name, _ in LEGEND}
    assert len({word for _, word in LEGEND}) == len(LEGEND)
