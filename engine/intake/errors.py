"""What can be wrong with an event before it becomes a run."""


class IntakeError(Exception):
    """An event that cannot become a run; the message says what to change."""
