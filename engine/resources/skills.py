"""Skills: folders with a file SKILL.md, which has a YAML header and a body of instructions."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.protocol.errors import ErrorCode
from engine.resources.catalog import SkillFact
from engine.resources.files import MAX_FILE_BYTES, FileProblem
from engine.rooted_files import OutsideRoot, open_in_root

SKILL_FILE: Final = "SKILL.md"
SKILL_KEY_PREFIX: Final = "skill:"
"""`get_file` with this prefix and the name of a skill reads the body of the skill."""
_HEADER: Final = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill of this host. Its body is read when a runner asks for it."""

    fact: SkillFact
    folder: Path

    def read_body(self) -> bytes:
        """Read the text after the header. Blocks. Raises FileProblem if the file is gone or too large."""
        name = f"{SKILL_FILE} of skill {self.fact.skill_name!r:.80}"
        try:
            opened = open_in_root(self.folder, SKILL_FILE)
        except (OutsideRoot, OSError):
            raise FileProblem(ErrorCode.NOT_FOUND, f"{name} can no longer be read") from None
        with os.fdopen(opened.descriptor, "rb") as file:
            if opened.status.st_size > MAX_FILE_BYTES:
                raise FileProblem(ErrorCode.PAYLOAD_TOO_LARGE, f"{name} has more than {MAX_FILE_BYTES} bytes")
            return split_header(file.read(MAX_FILE_BYTES))[1]


def split_header(content: bytes) -> tuple[bytes | None, bytes]:
    """Return the YAML between the two lines `---` at the top of a file, and what follows; None if there is none."""
    found = _HEADER.match(content)
    return (None, content) if found is None else (found[1], content[found.end() :])
