"""The list of runs and sessions at the side. It keeps what it read, so that a refresh reads only the newest rows."""

from typing import TYPE_CHECKING, Final

from console.model.run.list_rows import ListRows, run_row, session_row
from console.model.text.units import session_name
from engine.events import LIVE_STATUSES

if TYPE_CHECKING:
    from engine.api import Engine, RunRow, SessionRow

PAGE_RUNS: Final = 30
MAX_SESSIONS: Final = 15


class RunList:
    """The last runs of all sessions, as far back as the user scrolled, and the sessions that were active last."""

    def __init__(self) -> None:
        self._runs: list[RunRow] = []
        self._sessions: list[SessionRow] = []
        self._has_more = False
        self.title: str | None = None
        """The title of the active session; None before its first message."""
        self.pending_deletes: frozenset[str] = frozenset()
        """Sessions that are about to be hidden, and that are not listed."""

    async def read(self, engine: "Engine", session: str) -> None:
        """Read the newest runs and sessions. Of older runs, only those in progress are read again."""
        from engine.api import NotFound  # noqa: PLC0415

        newest = await engine.runs.list(limit=PAGE_RUNS)
        known = {run.run_id for run in newest}
        kept = list["RunRow"]()
        for run in self._runs if len(newest) == PAGE_RUNS else ():  # a shorter page is all there is
            if run.run_id in known or run.created_at > newest[-1].created_at:
                continue
            try:
                kept.append(await engine.runs.get(run.run_id) if run.status in LIVE_STATUSES else run)
            except NotFound:
                continue  # deleted with its session
        if not kept:
            self._has_more = len(newest) == PAGE_RUNS
        self._runs, self._sessions = [*newest, *kept], await engine.sessions.browse(limit=MAX_SESSIONS)
        shown = [row for row in self._sessions if row.session.session_id == session]
        shown = shown or await engine.sessions.browse(ids=[session], limit=1)
        self.title = next((session_name(session, row.session.title, row.beginning) for row in shown), None)

    async def read_more(self, engine: "Engine") -> None:
        """Read the next page of older runs."""
        if self._has_more and self._runs:
            earlier = await engine.runs.list(before=self._runs[-1].run_id, limit=PAGE_RUNS)
            known = {run.run_id for run in self._runs}
            self._runs += [run for run in earlier if run.run_id not in known]
            self._has_more = len(earlier) == PAGE_RUNS

    def forget(self, session_id: str) -> None:
        """Remove the runs of a deleted session."""
        self._runs = [run for run in self._runs if run.conversation_id != session_id]

    def start_over(self) -> None:
        """Forget all runs, because runs of a restored session may belong anywhere among them."""
        self._runs = []

    def cards(self, now: int, host: str | None, run_id: str | None, session: str) -> ListRows:
        """The cards to show now, as seen by this host."""
        return ListRows(
            tuple(run_row(run, now, run_id, is_here=run.host == host) for run in self._listed(self._runs)),
            tuple(
                session_row(row, now, session)
                for row in self._sessions
                if row.session.session_id not in self.pending_deletes
            ),
            self._has_more,
        )

    def _listed(self, runs: "list[RunRow]") -> "list[RunRow]":
        return (
            [run for run in runs if run.conversation_id not in self.pending_deletes] if self.pending_deletes else runs
        )
