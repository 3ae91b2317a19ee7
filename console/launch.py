"""What the console is opened on, as it was typed."""

from dataclasses import dataclass, field
from pathlib import Path

from console.model.preferences.store import Preferences


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Nothing given means the working folder's project, else the bundled rehearsal, in a new session."""

    target: Path | None = None
    runner: str | None = None
    session: str | None = None
    goes_on: bool = False
    """Go on with the session that was active last."""
    db: Path | None = None
    env: tuple[str, ...] = ()
    ascii_only: bool = False
    preferences: Preferences = field(default_factory=Preferences)
    """What the person wants always."""
