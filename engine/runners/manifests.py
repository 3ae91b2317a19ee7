"""From what an author wrote to a checked manifest; what does not fit is said in one sentence."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from engine.protocol.manifest import AgentRunnerManifest, RunnerCapabilities, RunnerPermissions
from engine.runners.errors import Broken
from engine.runners.faults import UNKNOWN, faults
from engine.runners.ids import RunnerId
from engine.runners.keys import KeyPath, dotted

_CLOSED: Final = {"capabilities": RunnerCapabilities, "permissions": RunnerPermissions}


class BrokenManifest(Broken):
    """A manifest that the contract refuses, with the key that is to blame."""

    def __init__(self, reason: str, keys: KeyPath) -> None:
        super().__init__(reason)
        self.keys = keys


def make_manifest(runner_id: RunnerId, said: Mapping[str, Any]) -> AgentRunnerManifest:
    """The manifest of what was said under `label, description, capabilities, permissions, config_schema, metadata`."""
    fields = {key: value for key, value in said.items() if value is not None}
    own = {"id": str(runner_id), "name": runner_id.name}
    try:
        manifest = AgentRunnerManifest.model_validate({"label": runner_id.name} | fields | own)
    except ValidationError as error:
        keys, words = faults(error)[0]
        raise BrokenManifest(f"{dotted(keys)}: {words}{_known(keys, words)}", keys) from error
    names = [item.name for item in manifest.config_schema]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise BrokenManifest(f"config field {name!r} is declared twice", ("config_schema", place))
    return manifest


def _known(keys: KeyPath, words: str) -> str:
    """The keys that there are, where one was written that is none of them."""
    closed = _CLOSED.get(str(keys[0])) if words == UNKNOWN and len(keys) > 1 else None
    return "" if closed is None else f". Known: {', '.join(closed.model_fields)}"
