"""Artifacts expire by their type or by their runner, whichever is earlier; then they are not found, and pruned."""

import pytest

from engine.api import ConfigError, NotFound
from engine.project.config import find_project
from tests.support.engines import (
    Engines,
    FakeClock,
    artifact_created,
    done,
    events_of,
    message,
    open_script_runner,
)

SECOND = 1_000_000
LIFETIMES = {"expire_after_seconds": {"image": 60, "voice": 10, "raw_event": 5}}


async def test_earlier_of_both_lifetimes_holds(open_engine: Engines, clock: FakeClock):
    run_script = await open_script_runner(open_engine, artifacts=LIFETIMES)
    run = await run_script(
        artifact_created("image", artifact_id="by-type"),
        artifact_created("image", artifact_id="by-runner", metadata={"expires_in_seconds": 1.5}),
        artifact_created("image", artifact_id="later", metadata={"expires_in_seconds": 61}),
        artifact_created("file", artifact_id="never"),
        artifact_created("file", artifact_id="only-runner", metadata={"expires_in_seconds": 7}),
        artifact_created("file", artifact_id="ages", metadata={"expires_in_seconds": 1e300}),
        done(),
        event=message(
            input={
                "text": "hi",
                "attachments": [{"artifact_id": "sent", "artifact_type": "voice", "source": "platform"}],
            }
        ),
    )
    artifacts = {one.artifact_id: one for one in await run_script.engine.artifacts.list(run_id=run.run_id)}
    lifetimes = {
        name: None if one.expires_at is None else (one.expires_at - one.created_at) / SECOND
        for name, one in artifacts.items()
    }
    assert lifetimes.pop("ages") > 1e9
    assert lifetimes == {
        "by-type": 60,
        "by-runner": 1.5,
        "later": 60,
        "never": None,
        "only-runner": 7,
        "sent": 10,
    }

    clock.advance(60)
    left = {one.artifact_id for one in await run_script.engine.artifacts.list()}
    assert left == {"never", "ages"}
    with pytest.raises(NotFound, match="It does not exist or has expired"):
        await run_script.engine.artifacts.read_bytes("by-type")
    deleted = (await run_script.engine.prune(0)).counts
    assert deleted.artifacts == 5
    assert len(events_of(run_script.engine, "facts.pruned")) == 1


@pytest.mark.parametrize("seconds", [0, -1, "60", True, None, [1]])
async def test_unusable_lifetime_is_ignored_with_a_warning(open_engine: Engines, seconds: object):
    run_script = await open_script_runner(open_engine)
    run = await run_script(artifact_created(artifact_id="a", metadata={"expires_in_seconds": seconds}), done())
    entry = run.one("artifact.created")
    assert (entry.outcome, entry.reason) == (
        "warned",
        "metadata.expires_in_seconds is not a positive number, so it was ignored",
    )
    assert (await run_script.engine.artifacts.get("a")).expires_at is None


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "1.5"])
def test_lifetime_in_the_config_is_a_positive_number_of_seconds(open_engine: Engines, seconds: str):
    path = open_engine.folder / "trackside.yaml"
    path.write_text(f"artifacts:\n  expire_after_seconds:\n    image: {seconds}\n")
    with pytest.raises(ConfigError, match=r"trackside\.yaml:3: artifacts\.expire_after_seconds\.image"):
        find_project(None, open_engine.folder)
