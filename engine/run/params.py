"""The parameters of one run, which its runner gets as `adapter.extra.params`: which of them it may see."""

from collections.abc import Mapping
from typing import Any, Final

from engine.journal.secret_mask import is_secret_name
from engine.protocol.errors import AgentAPIException
from engine.protocol.plain import plain

_LEVEL: Final = 7
"""The level of a value in the frame that carries it, below frame, data, context, adapter, extra and params."""


def reason_not_passed(name: str) -> str | None:
    """Return why a parameter of this name is never passed to a runner; None if it is."""
    if name.startswith("_"):
        return "names that begin with _ are internal to a host"
    if is_secret_name(name):
        return "names that contain secret, token, key, password or credential are not passed on"
    return None


def passable_params(params: Mapping[Any, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the parameters that a runner gets, as plain JSON, and a warning for each that is left out."""
    passed: dict[str, Any] = {}
    warnings: list[str] = []
    for name, value in params.items():
        reason = reason_not_passed(name) if isinstance(name, str) else "its name is not text"
        if reason is None:
            try:
                passed |= plain("params", {name: value}, _LEVEL)
                continue
            except AgentAPIException as error:
                reason = error.error.message.removeprefix("params: ")
        warnings.append(f"The parameter {name!r:.80} was left out: {reason:.200}.")
    return passed, tuple(warnings)
