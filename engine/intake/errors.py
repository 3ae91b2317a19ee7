"""Errors of events that cannot become a run."""


class IntakeError(Exception):
    """An event that cannot become a run. The message says what to change."""
