"""Texts that a runner may send and that must not damage the screen."""

HOSTILE_TEXTS = [
    "\x1b[31mred\x1b]0;title\x07",
    "[/tmp] [bold]x[/bold] [@click=app.quit]y[/]",
    "one\ntwo\r\nthree\ttab",
    "漢字" * 200,
    "👩‍👩‍👧 ❤️ 🇯🇵 👍🏽",
    "\u200d漢\ufe0f\u200b\u0301",
    "half \ud800 pair",
    "\u202eright to left",
    "x" * 1_000_000,
    "\x00\x7f\x9b",
]
