"""Add how state values with secrets are shown, and mask the queued messages whose fate is decided.

Before, the masked input of a message was in its metadata, and its text and envelope stayed in clear for ever.
"""

import json
from typing import Any, Final

from alembic import op

revision: Final = "0012"
down_revision: Final = "0011"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "ALTER TABLE state ADD COLUMN masked TEXT",
    "ALTER TABLE state_changes ADD COLUMN masked TEXT",
    "CREATE INDEX state_masked ON state (scope_key) WHERE masked IS NOT NULL",
)
_COVERED: Final = """
    SELECT item_id, fate, envelope, metadata FROM queue WHERE json_type(metadata, '$.covered') IS NOT NULL
"""
_UPDATE: Final = "UPDATE queue SET text = coalesce(?, text), envelope = ?, metadata = ? WHERE item_id = ?"
OPEN_FATES: Final = ("queued", "paused", "pulled")


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
    conn = op.get_bind()
    for item_id, fate, envelope_text, metadata_text in conn.exec_driver_sql(_COVERED).fetchall():
        envelope, metadata = json.loads(envelope_text), json.loads(metadata_text)
        covered = metadata.pop("covered")
        masked, text = {**envelope, "input": covered}, _text_of(covered)
        if fate in OPEN_FATES:
            metadata["covered"] = {"text": text, "envelope": masked}
            given = None, envelope_text, json.dumps(metadata), item_id
        else:
            metadata["is_masked"] = True
            given = text, json.dumps(masked), json.dumps(metadata), item_id
        conn.exec_driver_sql(_UPDATE, given)


def _text_of(covered: dict[str, Any]) -> str:
    """Return the text of a masked input."""
    if covered.get("text"):
        return covered["text"]
    parts = (part.get("text") for part in covered.get("contents", ()) if part.get("type") == "text")
    return "\n".join(filter(None, parts))
