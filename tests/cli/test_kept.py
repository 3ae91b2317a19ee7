"""`trackside run --kept`: settings that were kept in the console, where someone asks for them."""

import asyncio
import json

import pytest

from engine.api import Engine, KeptSettings
from engine.intake.agents import ResourcePolicy

from .conftest import SPEAKER, Trackside


@pytest.fixture
def keeping(trackside: Trackside) -> Trackside:
    (trackside.folder / "speaker.py").write_text(SPEAKER)

    async def keep() -> None:
        async with await Engine.open(trackside.folder / "speaker.py", db=trackside.database) as engine:
            policy = ResourcePolicy(allow_workspace_storage=True)
            await engine.keep_settings(None, KeptSettings(config={"words": 7}, resources=policy))

    asyncio.run(keep())
    return trackside


def test_a_run_uses_kept_settings_only_where_asked_and_says_so(keeping: Trackside):
    plain = keeping("run", "speaker.py", "-m", "hi")
    kept = keeping("run", "speaker.py", "-m", "hi", "--kept")
    over = keeping("run", "speaker.py", "-m", "hi", "--kept", "--set", "words=9")

    assert "message.received hi 1" in plain.stdout
    assert plain.stderr == (
        "trackside: settings are kept for plugin:local/speaker/Speaker, and are not used here. --kept uses them.\n"
    )
    assert ("message.received hi 7" in kept.stdout, kept.stderr) == (True, "")
    assert ("message.received hi 9" in over.stdout, over.stderr) == (True, "")


def test_grants_are_told_as_the_run_would_have_them(keeping: Trackside):
    keeping("run", "speaker.py", "-m", "hi", "--kept")

    def clause(*more: str) -> str:
        told = json.loads(keeping("run", "speaker.py", "-m", "hi", "--grants", "--json", *more).stdout)
        return told["apis"]["get_workspace_storage"]["clause"]

    # The manifest says nothing of storage, so that is what decides either way.
    assert clause() == clause("--kept") == "storage.workspace is not in the manifest's permissions"
    (keeping.folder / "speaker.py").write_text(
        SPEAKER.replace("    config = [", "    permissions = {'storage': ['workspace']}\n    config = [")
    )
    assert clause() == "resource_policy.allow_workspace_storage is false"
    assert clause("--kept").endswith("and resource_policy.allow_workspace_storage")


def test_without_a_database_nothing_is_kept(trackside: Trackside):
    (trackside.folder / "speaker.py").write_text(SPEAKER)
    told = trackside("run", "speaker.py", "-m", "hi", "--grants", "--kept")
    assert (told.returncode, told.stderr) == (0, "")
    assert not trackside.database.exists()
