"""Launch options of the console."""

from dataclasses import dataclass, field
from pathlib import Path

from console.model.preferences.store import Preferences


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """By default: the project in the working folder, else the bundled runner rehearsal, in a new session."""

    target: Path | None = None
    runner: str | None = None
    session: str | None = None
    continue_last: bool = False
    """Continue the session that was active last."""
    db: Path | None = None
    env: tuple[str, ...] = ()
    breakpoints: tuple[str, ...] = ()
    """Breakpoints of every run from its start, such as `steering`; for tests of the console."""
    ascii_only: bool = False
    preferences: Preferences = field(default_factory=Preferences)
