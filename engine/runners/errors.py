"""What can be wrong with a runner before it is run."""


class RunnersError(Exception):
    """A runner that cannot be used as asked; the message says what to change."""


class TargetNotFound(RunnersError):
    """Nothing lies where the target should be."""


class RunnerNotFound(RunnersError):
    """No runner goes by this name."""


class RunnerNotAllowed(RunnersError):
    """The runner exists, but its plugin is not on the allowed list."""


class AmbiguousRunner(RunnersError):
    """More than one could be meant."""

    def __init__(self, found: str, advice: str = "Name one.") -> None:
        super().__init__(f"{found}. {advice}")
        self.found = found
        """The same without what to do: that is another thing at a screen."""


class FormError(RunnersError):
    """A runner's config does not fit its form."""


class Broken(RunnersError):
    """One file that cannot be read as what it should be; discovery turns it into a `Problem`."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
