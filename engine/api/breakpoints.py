"""Breakpoints of runs in progress in this process."""

from engine.api.core import EngineCore
from engine.run.breakpoints import Breakpoint, BreakpointLocation


class BreakpointsApi:
    """Set, remove and list the breakpoints of a run. `engine.runs` continues a run that is paused at one."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def set(self, name: str, location: str, *, once: bool = False) -> None:
        """Pause a run at a location each time, once, or with `#n` only the nth time in the run."""
        parsed = BreakpointLocation.parse(location)
        (await self._core.require_live_run(name)).pause_control.set_breakpoint(parsed, once=once)

    async def remove(self, name: str, location: str) -> None:
        """Remove a breakpoint. A run that is paused there stays paused."""
        parsed = BreakpointLocation.parse(location)
        (await self._core.require_live_run(name)).pause_control.remove_breakpoint(parsed)

    async def list(self, name: str) -> tuple[Breakpoint, ...]:
        """The breakpoints of a run; none if it has ended."""
        live = await self._core.find_live_run(name)
        return () if live is None else live.pause_control.breakpoints
