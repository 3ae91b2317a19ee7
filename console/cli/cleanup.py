"""What the commands that delete have in common: they remove the deleted words from the files before they end."""

from typing import Final

CLEANUP_SECONDS: Final = 5.0
"""Seconds after which a command leaves the rest to the next process."""
NOT_CLEAN: Final = (
    "Its words are still in parts of the database files. They are removed in the background while Trackside runs; "
    "`trackside doctor` shows the progress."
)
