"""Says what deleting a session does not touch."""

from typing import TYPE_CHECKING

from console.model.text.units import number

if TYPE_CHECKING:
    from engine.api import KeptData


def kept_data_text(kept: "KeptData") -> str:
    """A sentence about the data that stays, because it was copied or is shared on purpose; empty if there is none."""
    parts: list[str] = []
    if kept.forks:
        parts.append(f"the lines in {number(kept.forks, 'fork')}")
    if kept.children:
        parts.append(number(kept.children, "child session"))
    if kept.shared_state:
        parts.append("the state of users and runners")
    if kept.storage:
        parts.append("plugin storage")
    if not parts:
        return ""
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Kept: {listed}."
