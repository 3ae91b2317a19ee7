"""`trackside run --saved`: settings that were saved in the console."""

import asyncio
import json

import pytest

from engine.api import Engine, KeptSettings
from engine.project.agents import ResourcePolicy
from tests.support.commands import SPEAKER, Trackside


@pytest.fixture
def with_saved_settings(trackside: Trackside) -> Trackside:
    (trackside.folder / "speaker.py").write_text(SPEAKER)

    async def keep() -> None:
        async with await Engine.open(trackside.folder / "speaker.py", db=trackside.database) as engine:
            policy = ResourcePolicy(allow_workspace_storage=True)
            await engine.settings.save(None, KeptSettings(config={"words": 7}, resources=policy))

    asyncio.run(keep())
    return trackside


def test_run_uses_saved_settings_only_with_kept_option(with_saved_settings: Trackside):
    plain = with_saved_settings("run", "speaker.py", "-m", "hi")
    kept = with_saved_settings("run", "speaker.py", "-m", "hi", "--saved")
    over = with_saved_settings("run", "speaker.py", "-m", "hi", "--saved", "--set", "words=9")

    assert "message.received hi 1" in plain.stdout
    assert plain.stderr == (
        "trackside: Settings saved in the console for plugin:local/speaker/Speaker are not used. "
        "Add --saved to use them.\n"
    )
    assert ("message.received hi 7" in kept.stdout, kept.stderr) == (True, "")
    assert ("message.received hi 9" in over.stdout, over.stderr) == (True, "")


def test_grants_use_saved_settings_with_kept_option(with_saved_settings: Trackside):
    with_saved_settings("run", "speaker.py", "-m", "hi", "--saved")

    def clause(*more: str) -> str:
        printed = json.loads(with_saved_settings("run", "speaker.py", "-m", "hi", "--grants", "--json", *more).stdout)
        return printed["apis"]["get_workspace_storage"]["clause"]

    # The manifest does not permit storage, which decides in both cases.
    assert clause() == clause("--saved") == "storage.workspace is not in the manifest's permissions"
    (with_saved_settings.folder / "speaker.py").write_text(
        SPEAKER.replace("    config = [", "    permissions = {'storage': ['workspace']}\n    config = [")
    )
    assert clause() == "resource_policy.allow_workspace_storage is false"
    assert clause("--saved").endswith("and resource_policy.allow_workspace_storage")


def test_kept_option_without_database_is_no_error(trackside: Trackside):
    (trackside.folder / "speaker.py").write_text(SPEAKER)
    printed = trackside("run", "speaker.py", "-m", "hi", "--grants", "--saved")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert not trackside.database.exists()
