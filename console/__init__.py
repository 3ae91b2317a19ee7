"""Trackside's console: the headless commands, and the screen beside them."""
