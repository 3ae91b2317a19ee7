"""Errors of runners that cannot be used."""


class RunnersError(Exception):
    """A runner that cannot be used as requested. The message says what to change."""


class TargetNotFound(RunnersError):
    """The target does not exist."""


class RunnerNotFound(RunnersError):
    """No runner has this name."""


class RunnerNotAllowed(RunnersError):
    """The runner exists, but its plugin is not on the allowed list."""


class AmbiguousRunner(RunnersError):
    """The name matches more than one runner."""

    def __init__(self, found: str, advice: str = "Name one.") -> None:
        super().__init__(f"{found}. {advice}")
        self.found = found
        """The message without the advice, which differs on the screen."""


class FormError(RunnersError):
    """A runner's config does not fit its form."""


class InvalidFile(RunnersError):
    """A file that cannot be read. Discovery turns it into a `Problem`."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
