"""What is known of a run at an entry."""

from console.widgets.inspector.pane import Inspector

__all__ = ["Inspector"]
