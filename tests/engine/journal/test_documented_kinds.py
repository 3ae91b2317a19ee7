"""The table of entry kinds in the manual has every kind with the fields that its payload reads."""

import re
from pathlib import Path
from typing import Any

from engine.events import EntryKind, Source
from engine.journal.kinds import PAYLOADS, RECORD_VERSION
from engine.protocol.results import ResultType
from tests.support.engines import Engines
from tests.support.own_and_foreign_data import AccessHarness, collect

RESULTS = {kind.value for kind in ResultType}
PAGE = Path(__file__).parents[3] / "docs" / "journal.md"


class ReadFields(dict[str, Any]):
    """Empty data that notes which fields are read."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return default

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return False


def fields_read(kind: EntryKind) -> set[str]:
    data = ReadFields()
    PAYLOADS[kind](data)
    return data.names


def table() -> dict[str, tuple[str, str, str]]:
    """Return version, source and fields of each kind in the table."""
    section = PAGE.read_text().partition("## Kinds")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z.]+)` \| (.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE)
    return {kind: (version, source, fields) for kind, version, source, fields in rows}


def test_table_has_every_kind():
    assert list(table()) == [str(kind) for kind in EntryKind]


def test_table_has_the_fields_that_each_payload_reads():
    documented = {kind: set(re.findall(r"`(\w+)`", fields)) for kind, (_, _, fields) in table().items()}

    assert documented == {str(kind): fields_read(kind) for kind in EntryKind}


async def test_entries_of_the_host_have_no_other_fields_and_sources(open_engine: Engines):
    """Results keep what the runner sent, so only the entries of the host are compared."""
    harness = await AccessHarness(open_engine).open()
    harness.claim = {"total_tokens": 9}

    async def calls(ctx: Any) -> None:
        await ctx.api.invoke_llm("m", [{"role": "user", "content": "x" * 100_000}])
        await collect(ctx.api.invoke_llm_stream("m", [{"role": "user", "content": "hi"}]))
        await ctx.api.steering_pull()
        await ctx.api.call_tool("launch", {})

    run = (await harness.try_in_run(calls)).run

    calls_made = {"call.requested", "call.decided", "call.streamed", "call.replied", "steering.pulled"}
    assert {"run.started", "run.finished"} | calls_made <= set(run.types)
    documented = table()
    for entry in run.journal:
        _, source, fields = documented[entry.type]
        assert entry.source in source.split(", "), entry
        assert entry.type in RESULTS or set(entry.data) <= set(re.findall(r"`(\w+)`", fields)), entry


def test_versions_and_sources_of_the_table_exist():
    for version, source, fields in table().values():
        versions = {int(version), *map(int, re.findall(r"\((\d+)\)", fields))}
        assert versions <= set(range(1, RECORD_VERSION + 1))
        assert set(source.split(", ")) <= set(Source)
