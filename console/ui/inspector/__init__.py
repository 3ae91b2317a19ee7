"""The inspector pane."""

from console.ui.inspector.pane import Inspector

__all__ = ["Inspector"]
