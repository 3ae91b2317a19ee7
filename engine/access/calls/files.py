"""Calls for files that the runner's config names, read from the project's file roots, and for the bodies of skills."""

import asyncio
import base64
from typing import Any

from engine.access.call import Arguments, CallType, Decision
from engine.access.gate import require_resource
from engine.access.services import Services
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.files import FileProblem, read_file
from engine.resources.skills import SKILL_KEY_PREFIX
from engine.run.grants import Grants
from engine.run.live import LiveRun


class GetArguments(Arguments):
    file_key: str

    @property
    def skill_name(self) -> str | None:
        """The skill whose body is asked for; None if the key names a file."""
        return self.file_key.removeprefix(SKILL_KEY_PREFIX) if self.file_key.startswith(SKILL_KEY_PREFIX) else None


def require_file_or_skill(grants: Grants, arguments: GetArguments) -> Decision:
    """A rule: the file is named by the config, or the skill is granted."""
    return (_require_file if arguments.skill_name is None else _require_skill)(grants, arguments)


_require_file = require_resource("file", "file_key", "config")
_require_skill = require_resource("skill", "skill_name", "activate")


async def get(services: Services, run: LiveRun, arguments: GetArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        content = await asyncio.to_thread(_read, run, arguments)
    except FileProblem as problem:
        raise AgentAPIException.of(problem.code, str(problem)) from None
    except OSError as error:
        raise AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"the file cannot be read: {error.strerror}") from None
    return {"file_base64": base64.b64encode(content).decode()}


def _read(run: LiveRun, arguments: GetArguments) -> bytes:
    name = arguments.skill_name
    if name is None:
        return read_file(arguments.file_key, run.order.file_roots)
    skill = run.order.resource_set.skills.get(name)
    if skill is None:
        raise FileProblem(ErrorCode.NOT_FOUND, f"skill {name!r:.80} has no body on this host")
    return skill.read_body()


CALLS = (CallType("get_file", GetArguments, (require_file_or_skill,), get, reads_much=True),)
