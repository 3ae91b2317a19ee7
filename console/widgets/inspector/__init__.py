"""What is known of a run at an entry."""

from console.widgets.inspector.inspector import Inspector

__all__ = ["Inspector"]
