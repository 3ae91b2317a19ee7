"""A tool that answers what a script says."""

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from engine.protocol.errors import ErrorCode
from engine.resources.catalog import ToolFact
from engine.resources.interfaces import ResourceError
from engine.resources.scripted.failing import Sleep, wait
from engine.resources.scripted.json_values import holds
from engine.resources.scripted.parameters import fault
from engine.resources.scripted.rules import Rules
from engine.resources.scripted.tool_script import ToolBody


class ScriptedTool:
    """Answers are used up over the life of one instance, whoever calls."""

    def __init__(self, name: str, body: ToolBody, *, sleep: Sleep = asyncio.sleep) -> None:
        self._fact = ToolFact(name, "scripted", body.description)
        self._body = body
        self._rules = Rules(body.answers)
        self._sleep = sleep

    @property
    def fact(self) -> ToolFact:
        return self._fact

    def detail(self) -> dict[str, Any]:
        """Name, description and parameters as JSON Schema."""
        return {
            "name": self._fact.tool_name,
            "description": self._body.description,
            "parameters": deepcopy(self._body.parameters),
        }

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        """The first answer that fits."""
        name = self._fact.tool_name
        if (wrong := fault(self._body.parameters, parameters)) is not None:
            raise ResourceError(f"{name}: {wrong}", code=ErrorCode.INVALID_ARGUMENT)
        answer = (
            self._rules.choose(lambda rule: holds(parameters, rule.match))
            or self._body.otherwise
            or self._rules.last_in_order()
        )
        if answer is None:
            raise ResourceError(
                f"the script of tool {name} has no answer for {dict(parameters)!r:.200}. "
                f"Its answers: {self._rules.in_words()}. Add one that fits, or `otherwise`."
            )
        await wait(answer, self._sleep)
        return deepcopy(answer.result)  # a runner in this process may change what it gets
