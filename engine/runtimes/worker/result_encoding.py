"""Encodes a result as JSON, or gives the reason why it cannot be sent."""

from typing import Final

from pydantic import BaseModel
from pydantic_core import to_json

from engine.protocol import AgentRunResult
from engine.runtimes import wire

MAX_RESULT_BYTES: Final = wire.MAX_FRAME - 256
"""Leaves room for the frame around it."""


def encoded(result: object) -> bytes | wire.Fault:
    """Encode a result. 1 µs for a delta, model or dict: pydantic's core is there anyway, orjson may not be."""
    try:
        # NaN goes out as it is and is refused by the host: a silent null would be a changed result. A model would
        # insist on the null, so of ours only the fields are given.
        fields = result.__dict__ if type(result) is AgentRunResult else result
        line = to_json(fields, inf_nan_mode="constants")
    except Exception as error:  # noqa: BLE001 - serialisers are the author's code too
        line = _repaired(result, error)
    if isinstance(line, bytes) and len(line) > MAX_RESULT_BYTES:
        return wire.Fault(f"larger than {wire.MAX_FRAME} bytes", len(line))
    return line


def _repaired(result: object, error: Exception) -> bytes | wire.Fault:
    """Replace half surrogate pairs, as the wire requires."""
    if "surrogates not allowed" in str(error):
        try:
            return wire.dumps(result.model_dump() if isinstance(result, BaseModel) else result)
        except wire.Unencodable as unencodable:
            return wire.Fault(str(unencodable), 0)
    return wire.Fault(f"not JSON: {error}"[:500], 0)
