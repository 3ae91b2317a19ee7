"""Every payload that runners in real processes receive is exactly of Protocol v1."""

import base64
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from pydantic import ValidationError

from engine.access.server import CALL_TYPES
from engine.api import Engine, RunOptions
from tests.support import protocol_v1
from tests.support.engines import event, journal_of, message, wait_for_entry
from tests.support.wire_tap import WireTap

SCRIPTS = Path(__file__).resolve().parents[3] / "fixtures/scripts"
PROBER = {
    "id": "probe",
    "runner": "prober",
    "config": {
        "model": "weather-model",
        "rerank": "weather-rerank",
        "knowledge-bases": ["travel-notes"],
        "files": ["kb/paris.txt"],
        "prompt": "Be brief.",
    },
    "resources": {"allowed_tool_names": ["get_weather"], "allow_workspace_storage": True},
    "events": ["message.received", "api.invoked"],
}
READER = '''
import asyncio
import time
from engine.protocol import AgentRunner, AgentRunResult, Message

class Reader(AgentRunner):
    """Waits for a steering message, and then reads everything that it may."""

    capabilities = {"steering": True}
    permissions = {"history": ["page", "search"], "events": ["get", "page"], "artifacts": ["metadata", "read"]}

    async def run(self, ctx):
        assert 0 < ctx.runtime.deadline_at - time.time() <= 300
        api = self.get_run_api(ctx)
        pulled = []
        while not pulled:
            pulled = (await api.steering_pull()).items
            await asyncio.sleep(0.01)
        assert time.time() - pulled[0].claimed_at < 300
        for direction in ("backward", "forward"):
            page = await api.history_page(direction=direction, include_artifacts=True, limit=2)
            while page.has_more:
                edge = {"before_cursor" if direction == "backward" else "after_cursor": page.next_cursor}
                page = await api.history_page(direction=direction, include_artifacts=True, limit=2, **edge)
        found = await api.history_search("Berlin", {"event_types": ["message.received"], "roles": ["user"]})
        for reference in found.items[0].artifact_refs:
            await api.artifact_metadata(reference.artifact_id)
            await api.artifact_read(reference.artifact_id)
        for event in (await api.event_page()).items:
            await api.event_get(event.event_id)
        page = await api.run_events_page(limit=3)
        assert page.items[0].position == 1
        while page.has_more:
            page = await api.run_events_page(after_cursor=page.items[-1].cursor, limit=100)
        for ended in (await api.run_list(statuses=["completed"])).items:
            await api.run_cancel(ended.run_id)
        yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content=f"read {len(found.items)}"))
'''
PHOTO = {
    "artifact_id": "photo-1",
    "artifact_type": "image",
    "source": "user",
    "mime_type": "image/png",
    "name": "photo.png",
    "content": base64.b64encode(b"pixels").decode(),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tap(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WireTap]:
    """What two runners received: in a conversation with attachments and steering, and outside of one."""
    project = tmp_path_factory.mktemp("payloads") / "project"
    shutil.copytree(SCRIPTS, project)
    (project / "reader.py").write_text(READER)
    config = yaml.safe_load((project / "trackside.yaml").read_text())
    agents = [PROBER, {"id": "reader", "runner": "reader"}]
    config |= {"agents": agents, "file_roots": ["."], "runners": ["reader.py"]}
    (project / "trackside.yaml").write_text(json.dumps(config))
    with pytest.MonkeyPatch.context() as monkeypatch:
        tap = WireTap(monkeypatch)
        async with await Engine.open(project, db=project / "facts.db") as engine:
            subject = {"subject_type": "message", "subject_id": "m1", "data": {"n": 1}}
            sent = message("Berlin", event_time=1_767_323_045.75, subject=subject, input=photo_input())
            await run(engine, sent, "probe", params={"city": "Kyoto", "_query": 1})
            await run(engine, event("api.invoked"), "probe")
            for _ in range(2):  # the second one finds the first
                await run(engine, message("read"), "reader", steering=message("also this"))
        yield tap


def photo_input() -> dict[str, Any]:
    return {
        "text": "Berlin",
        "contents": [{"type": "text", "text": "Berlin"}, {"type": "image_url", "image_url": {"url": "https://x/y"}}],
        "attachments": [PHOTO],
    }


async def run(engine: Engine, sent: Any, runner: str, *, steering: Any = None, **options: Any) -> None:
    """Run an event; a steering message is sent as soon as the runner pulls."""
    ticket = await engine.runs.submit(sent, RunOptions(runner=runner, **options))
    run_id = await ticket.started
    if steering is not None:
        await wait_for_entry(engine, run_id, "call.replied")
        await engine.runs.submit(steering, RunOptions(runner=runner))
    row = await engine.runs.wait_for_end(run_id)
    assert row.status == "completed", (await journal_of(engine, run_id))[-3:]


@pytest.mark.asyncio(loop_scope="module")
class TestPayloads:
    async def test_each_is_of_the_contract(self, tap: WireTap):
        for one in tap.received:
            try:
                if one.action == "run_agent":
                    protocol_v1.check_context(one.payload)
                else:
                    protocol_v1.check_reply(one.action, one.payload, is_error=one.is_error)
            except ValidationError as error:
                pytest.fail(f"{one.action}: {error}")

    async def test_every_call_was_answered(self, tap: WireTap):
        assert {one.action for one in tap.received if not one.is_error} == {"run_agent", *CALL_TYPES}

    async def test_they_include_what_is_often_empty(self, tap: WireTap):
        first, outside, _, last = tap.payloads("run_agent")
        assert first["adapter"] == {"extra": {"params": {"city": "Kyoto"}}}
        assert first["event"]["event_time"] == first["trigger"]["timestamp"] == 1_767_323_045
        assert outside["conversation"] is None
        assert last["context"]["latest_cursor"] is not None
        assert [item["input"]["text"] for pull in tap.payloads("steering_pull") for item in pull["items"]] == [
            "also this",
            "also this",
        ]
        references = [item["artifact_refs"] for page in tap.payloads("history_page") for item in page["items"]]
        assert [
            {
                "artifact_id": "photo-1",
                "artifact_type": "image",
                "mime_type": "image/png",
                "name": "photo.png",
                "size_bytes": 6,
            }
        ] in references
        steering = [item["metadata"].get("steering") for item in tap.payloads("event_get")]
        assert {each["status"] for each in steering if each} == {"queued", "injected"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("trigger", "timestamp"), "2026-01-02T03:04:05Z"),
        (("trigger", "timestamp"), 1_767_323_045_000_000),
        (("runtime", "deadline_at"), 1_767_323_045),
        (("context", "latest_cursor"), 5),
        (("delivery", "supports_edit"), 0),
        (("runtime", "extra"), None),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_the_models_convert_nothing_and_know_every_field(tap: WireTap, path: tuple[str, str], value: Any):
    context = json.loads(json.dumps(tap.payloads("run_agent")[0]))
    protocol_v1.check_context(context)
    context[path[0]][path[1]] = value
    with pytest.raises(ValidationError):
        protocol_v1.check_context(context)
