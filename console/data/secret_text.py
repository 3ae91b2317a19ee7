"""Masks secrets in texts of the console's own failures. Loads the engine only if it is loaded already."""

import sys


def mask_secrets(text: str) -> str:
    """Return the text without the secrets of the runs that this process has prepared."""
    if "engine.api" not in sys.modules:
        return text
    from engine.api import process_mask  # noqa: PLC0415

    return process_mask().cover_words(text)
