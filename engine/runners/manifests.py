"""Builds checked manifests from an author's values."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from engine.protocol.manifest import AgentRunnerManifest, RunnerCapabilities, RunnerPermissions
from engine.runners.document import KeyPath, dotted
from engine.runners.errors import InvalidFile
from engine.runners.ids import RunnerId
from engine.runners.validation_text import UNKNOWN, faults

_CLOSED: Final = {"capabilities": RunnerCapabilities, "permissions": RunnerPermissions}


class BrokenManifest(InvalidFile):
    """A manifest that the contract refuses, with the key at fault."""

    def __init__(self, reason: str, keys: KeyPath) -> None:
        super().__init__(reason)
        self.keys = keys


def make_manifest(runner_id: RunnerId, written: Mapping[str, Any]) -> AgentRunnerManifest:
    """Build a manifest from `label, description, capabilities, permissions, config_schema, metadata`."""
    fields = {key: value for key, value in written.items() if value is not None}
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
    """Return the known keys, if the problem is an unknown key."""
    closed = _CLOSED.get(str(keys[0])) if words == UNKNOWN and len(keys) > 1 else None
    return "" if closed is None else f". Known: {', '.join(closed.model_fields)}"
