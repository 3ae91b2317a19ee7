"""From what an author wrote to a checked manifest; what does not fit is said in one sentence."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from engine.protocol.manifest import AgentRunnerManifest
from engine.runners.errors import Broken
from engine.runners.ids import RunnerId
from engine.runners.keys import KeyPath, dotted


class BrokenManifest(Broken):
    """A manifest that the contract refuses, with the key that is to blame."""

    def __init__(self, reason: str, keys: KeyPath) -> None:
        super().__init__(reason)
        self.keys = keys


def make_manifest(runner_id: RunnerId, said: Mapping[str, Any]) -> AgentRunnerManifest:
    """The manifest of what was said under `label, description, capabilities, permissions, config_schema, metadata`."""
    fields = {key: value for key, value in said.items() if value is not None}
    fields["label"] = _label(fields.get("label"), runner_id.name)
    if isinstance(description := fields.get("description"), str):
        fields["description"] = {"en_US": description}
    try:
        manifest = AgentRunnerManifest.model_validate({"id": str(runner_id), "name": runner_id.name, **fields})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        keys = first["loc"]
        raise BrokenManifest(f"{dotted(keys)}: {_words(first['type'], first['msg'])}", keys) from error
    names = [item.name for item in manifest.config_schema]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise BrokenManifest(f"config field {name!r} is declared twice", ("config_schema", place))
    return manifest


def _label(label: object, name: str) -> object:
    if label is None:
        return {"en_US": name}
    return {"en_US": label} if isinstance(label, str) else label


def _words(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "unknown key"
    return message[:1].lower() + message[1:]
