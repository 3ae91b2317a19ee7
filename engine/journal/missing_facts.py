"""What the record of a run lacks because an older Trackside made it."""

from typing import Final, NamedTuple

from engine.journal.kinds import RunStarted, Usage


class _Fact(NamedTuple):
    since: int
    """The version of the record that has the fact."""
    missing: str
    """What an older record lacks, as a sentence."""
    is_of_process: bool = True
    """Whether only a run that was executed here could have the fact."""


_SUM: Final = _Fact(2, "Usage is one sum of what the host saw and what the runner claimed.")
_FACTS: Final = (
    _Fact(2, "A call may be recorded after a result that the runner sent later."),
    _Fact(2, "Streamed replies were recorded at their end, without the times of their parts."),
    _Fact(2, "Inline pictures and files of the context and of results were not kept.", is_of_process=False),
    _Fact(2, "Results were recorded without the usage that the runner sent with them.", is_of_process=False),
    _SUM,
    _Fact(2, "Calls that the runner cancelled are not marked."),
    _Fact(2, "Stops by the host (deadline, limit, lost process) have no entry.", is_of_process=False),
    _Fact(2, "Interpreter, variables, breakpoints at the start, and loaded files are unknown."),
    _Fact(2, "The hash seed and the random seed are unknown."),
    _Fact(2, "Connections and processes that the runner opened itself were not noted."),
    _Fact(2, "Changes of storage were not recorded, so its values at the start of the run are unknown."),
)


def missing_facts(started: RunStarted, usage: Usage) -> tuple[str, ...]:
    """Return what the record of a run lacks, as sentences; empty if this version of Trackside made it."""
    return tuple(
        fact.missing
        for fact in _FACTS
        if started.record < fact.since
        and not (started.is_external and fact.is_of_process)
        and (fact is not _SUM or usage.combined)
    )
