"""Two runners and two conversations at once: neither ever reads data of the other."""

import asyncio
import base64
import shutil
import tempfile
from collections import defaultdict
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.protocol import AgentAPIException
from engine.store.row_mapping import ConversationKey
from tests.support.engines import Engines, FakeClock
from tests.support.own_and_foreign_data import AccessHarness, own_message

CONVERSATIONS = {
    "A": ConversationKey("talk-a", None, "bot-a", "team-a"),
    "B": ConversationKey("talk-b", "t", "bot-b", "team-b"),
}
RUNNERS = ("asks", "other")
ACTS = ("say", "state", "actor", "forget", "plugin", "workspace", "artifact")
work = st.tuples(
    st.sampled_from(RUNNERS), st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from("xy")), max_size=4)
)


class TwoByTwo(RuleBasedStateMachine):
    """Every value names its writer, and a model of the rules says who may read it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.engines = Engines(self.folder, FakeClock())
        self.harness = self.loop.run(AccessHarness(self.engines).open())
        self.numbers = count(1)
        self.said: dict[str, list[str]] = defaultdict(list)
        self.events: dict[str, list[str]] = defaultdict(list)
        self.artifacts: dict[str, dict[str, str]] = defaultdict(dict)
        self.kept: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
        """State by runner, conversation and scope; storage by its owner."""

    def teardown(self) -> None:
        self.loop.run(self.engines.close_all())
        self.loop.close()
        shutil.rmtree(self.folder)

    @rule(first=work, second=work)
    def both_work_at_once(self, first: Any, second: Any) -> None:
        async def together() -> None:
            await asyncio.gather(self.act("A", *first), self.act("B", *second))

        self.loop.run(together())

    @invariant()
    def each_sees_all_of_its_own_and_nothing_else(self) -> None:
        async def together(runner: str) -> None:
            await asyncio.gather(self.look("A", runner), self.look("B", runner))

        for runner in RUNNERS:
            self.loop.run(together(runner))

    async def act(self, where: str, runner: str, acts: list[tuple[str, str]]) -> None:
        async def do(ctx: Any) -> None:
            self.events[where].append(ctx.event.event_id)
            for act, key in acts:
                await self.one(ctx.api, where, runner, act, key)

        text = f"signed{where} {next(self.numbers)}"
        self.said[where].append(text)
        await self.harness.do_in_run(do, own_message(text, CONVERSATIONS[where]), runner)

    async def one(self, api: Any, where: str, runner: str, act: str, key: str) -> None:
        # Both conversations share the plugin's storage, so they use different keys; otherwise the order would decide.
        value = f"signed{where} by {runner} {next(self.numbers)}"
        match act:
            case "state" | "actor":
                scope = "conversation" if act == "state" else "actor"
                await api.state_set(scope, key, value)
                self.kept[runner, where, scope][key] = value
            case "forget":
                was = self.kept[runner, where, "conversation"].pop(key, None)
                assert await api.state_delete("conversation", key) == (was is not None)
            case "plugin":
                await api.set_plugin_storage(f"{where}{key}", value.encode())
                self.kept["plugin", runner][f"{where}{key}"] = value
            case "workspace":
                await api.set_workspace_storage(key, value.encode())
                self.kept["workspace", where][key] = value
            case "artifact":
                artifact_id = f"art-{next(self.numbers)}"
                await self.harness.store_artifact(artifact_id, value.encode(), CONVERSATIONS[where])
                self.artifacts[where][artifact_id] = value
            case _:
                pass

    async def look(self, where: str, runner: str) -> None:
        other = "B" if where == "A" else "A"

        async def see(ctx: Any) -> None:
            api = ctx.api
            lines = [line async for line in _all_lines(api)]
            assert {line.conversation_id for line in lines} == {CONVERSATIONS[where].conversation_id}
            assert [line.content for line in lines if line.content.startswith("signed")] == self.said[where][::-1]
            found = await api.history_search(f"signed{where}", top_k=100)
            assert [line.content for line in found.items] == self.said[where][::-1][:100]
            assert (await api.history_search(f"signed{other}")).total_count == 0
            page = await api.event_page(limit=100)
            assert {event.conversation_id for event in page.items} == {CONVERSATIONS[where].conversation_id}
            assert not {event.event_id for event in page.items} & set(self.events[other])
            for event_id in self.events[other]:
                assert await _refused(api.event_get(event_id))
            for event_id in self.events[where]:
                assert (await api.event_get(event_id)).event_id == event_id
            for artifact_id in self.artifacts[other]:
                assert await _refused(api.artifact_metadata(artifact_id))
                assert await _refused(api.artifact_read(artifact_id))
            for artifact_id, value in self.artifacts[where].items():
                content = (await api.artifact_read(artifact_id)).content_base64
                assert base64.b64decode(content).decode() == value
            for scope in ("conversation", "actor"):
                keys = (await api.state_list(scope)).keys
                assert {key: await api.state_get(scope, key) for key in keys} == self.kept[runner, where, scope]
            for kind, owner in (("plugin", runner), ("workspace", where)):
                keys = await getattr(api, f"get_{kind}_storage_keys")()
                values = {key: (await getattr(api, f"get_{kind}_storage")(key)).decode() for key in keys}
                assert values == self.kept[kind, owner]

        await self.harness.do_in_run(see, own_message("looking", CONVERSATIONS[where]), runner)


async def _all_lines(api: Any) -> Any:
    page = await api.history_page(limit=100)
    while True:
        for line in page.items:
            yield line
        if not page.has_more:
            return
        page = await api.history_page(before_cursor=page.next_cursor, limit=100)


async def _refused(call: Any) -> bool:
    try:
        await call
    except AgentAPIException as refusal:
        return refusal.error.code in ("unauthorized", "not_found")
    return False


TwoByTwo.TestCase.settings = settings(
    max_examples=8, stateful_step_count=5, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
TestTwoRunnersAndTwoConversations = TwoByTwo.TestCase
