"""Formats times, sizes, counts and names."""

import re
from pathlib import Path
from typing import Final

from console.model.text.columns import fitting
from console.model.text.safe import one_line

_SECOND_US: Final = 1_000_000
_UNIT_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE: Final = re.compile(r"(\d{1,9})\s*([smhdw])")


def duration(microseconds: int) -> str:
    """`512 ms`, `9.2 s`, `3 min 20 s`, `1 h 4 min`."""
    seconds = max(0, microseconds) / _SECOND_US
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"


def latency(microseconds: int) -> str:
    """`0.4 ms`, `37 ms`, `1.2 s`."""
    return f"{microseconds / 1_000:.1f} ms" if microseconds < 9_950 else duration(microseconds)


def brief(microseconds: int) -> str:
    """`512ms`, `9.2s`, `41s`, `3m`, `5h`, `9d`: for a narrow column."""
    seconds = max(0, microseconds) / _SECOND_US
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 59.5:
        return f"{seconds:.1f}s" if seconds < 9.95 else f"{seconds:.0f}s"
    if seconds < 3_600:
        return f"{seconds / 60:.0f}m"
    return f"{seconds // 3_600:.0f}h" if seconds < 2 * 86_400 else f"{seconds // 86_400:.0f}d"


def ago(microseconds: int) -> str:
    """`just now`, `4 min ago`, `3 h ago`, `12 days ago`."""
    seconds = max(0, microseconds) // _SECOND_US
    if seconds < 60:
        return "just now" if seconds < 10 else f"{seconds} s ago"
    if seconds < 3_600:
        return f"{seconds // 60} min ago"
    if seconds < 2 * 86_400:
        return f"{seconds // 3_600} h ago"
    return f"{seconds // 86_400} days ago"


def size(count: int) -> str:
    """`512 B`, `3.4 KiB`, `120 MiB`."""
    if count < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        amount /= 1024
        if amount < 1024 or unit == "GiB":
            return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"
    raise AssertionError


def number(count: int, one: str, many: str = "") -> str:
    """`1 run`, `3 runs`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def age(text: str) -> int:
    """Return the microseconds of `30d`, `12h`, `90m`, `2w`; raises ValueError for anything else."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNIT_SECONDS[found[2]] * _SECOND_US


def short_runner(runner_id: str) -> str:
    """The short form of a runner id: `echo`, `hello/Greeter`."""
    parts = runner_id.removeprefix("plugin:").split("/")
    if len(parts) != 3:
        return runner_id
    return parts[1] if parts[2] == "default" else f"{parts[1]}/{parts[2]}"


def who_runs(agent_id: str | None, runner_id: str) -> str:
    """An agent with its runner, `guide (hello/Greeter)`, or the runner alone."""
    runner = short_runner(runner_id)
    return runner if agent_id in (None, "", runner) else f"{agent_id} ({runner})"


def has_name(session_id: str, title: str | None) -> bool:
    """Whether a session has a title or an id that the user chose. Generated ids do not count."""
    return bool(title) or not session_id.startswith("ses_")


def session_name(session_id: str, title: str | None, beginning: str | None = None, *, is_new: bool = False) -> str:
    """The display name of a session: its title, its chosen id, or its first message."""
    if has_name(session_id, title):
        return title or short_session(session_id)
    return (beginning or "").strip() or ("new session" if is_new else "untitled session")


def short_path(path: str) -> str:
    """A path with `~` for the home folder."""
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path == home or path.startswith(f"{home}/") else path


SESSION_COLUMNS: Final = 24
"""Columns of a session id on the screen and in tables. Commands accept this beginning of an id."""


def short_session(session_id: str) -> str:
    """The beginning of a session id, safe for the terminal: platforms use ids of up to 255 characters of any kind."""
    return fitting(one_line(session_id), SESSION_COLUMNS)


def short_run(run_id: str) -> str:
    """The first characters of a run id: its time in milliseconds and a few more, enough to identify it."""
    return run_id[:17]
