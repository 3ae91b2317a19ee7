"""What the rail lists: kept between looks, so that to look again reads only the newest."""

from typing import TYPE_CHECKING, Final

from console.model.run.list_rows import ListRows, run_row, session_row
from console.model.text.units import session_name
from engine.events import LIVE_STATUSES

if TYPE_CHECKING:
    from engine.api import Engine, RunRow, SessionRow

RUNS: Final = 30
"""Runs that are read together."""
SESSIONS: Final = 15


class RunList:
    """The last runs of all sessions, as far back as someone went, and the sessions that were active last."""

    def __init__(self) -> None:
        self._runs: list[RunRow] = []
        self._sessions: list[SessionRow] = []
        self._has_more = False
        self.title: str | None = None
        """What the session is called that is shown; none before something was said in it."""
        self.going: frozenset[str] = frozenset()
        """Sessions that were deleted a moment ago, and are not listed."""

    async def read(self, engine: "Engine", session: str) -> None:
        """Look again. Of those further back, only the ones that were at work can have changed."""
        from engine.api import NotFound  # noqa: PLC0415

        newest = await engine.runs.list(limit=RUNS)
        known = {run.run_id for run in newest}
        kept = list["RunRow"]()
        for run in self._runs if len(newest) == RUNS else ():  # where fewer are, none is further back
            if run.run_id in known or run.created_at > newest[-1].created_at:
                continue
            try:
                kept.append(await engine.runs.get(run.run_id) if run.status in LIVE_STATUSES else run)
            except NotFound:
                continue  # it went with its session
        if not kept:
            self._has_more = len(newest) == RUNS
        self._runs, self._sessions = [*newest, *kept], await engine.sessions.browse(limit=SESSIONS)
        shown = [row for row in self._sessions if row.session.session_id == session]
        shown = shown or await engine.sessions.browse(ids=[session], limit=1)
        self.title = next((session_name(session, row.session.title, row.beginning) for row in shown), None)

    async def read_more(self, engine: "Engine") -> None:
        """The runs before the last that is listed."""
        if self._has_more and self._runs:
            earlier = await engine.runs.list(before=self._runs[-1].run_id, limit=RUNS)
            known = {run.run_id for run in self._runs}
            self._runs += [run for run in earlier if run.run_id not in known]
            self._has_more = len(earlier) == RUNS

    def forget(self, session_id: str) -> None:
        """A session is gone, and its runs with it."""
        self._runs = [run for run in self._runs if run.conversation_id != session_id]

    def cards(self, now: int, host: str | None, run_id: str | None, session: str) -> ListRows:
        """All of it at a moment, as this host sees it."""
        return ListRows(
            tuple(run_row(run, now, run_id, is_here=run.host == host) for run in self._listed(self._runs)),
            tuple(session_row(row, now, session) for row in self._sessions if row.session.session_id not in self.going),
            self._has_more,
        )

    def _listed(self, runs: "list[RunRow]") -> "list[RunRow]":
        return [run for run in runs if run.conversation_id not in self.going] if self.going else runs
