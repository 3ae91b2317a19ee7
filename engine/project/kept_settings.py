"""Settings that the user saved for an agent, or for a runner opened by path. They override those of trackside.yaml."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from engine.project.agents import AgentBinding, DeliveryPolicy, ResourcePolicy, StatePolicy

SettingsKey = tuple[str, str]
"""A binding id and the file that declares the runner: two files of one name must not get each other's secrets."""
AllKept = Mapping[SettingsKey, Mapping[str, Any]]
"""All saved settings of a database, as they are stored."""


class KeptSettings(BaseModel):
    """Saved config values, each overriding one written value, and saved policies, each replacing a whole policy."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    resources: ResourcePolicy | None = None
    state: StatePolicy | None = None
    delivery: DeliveryPolicy | None = None
    updated_at: int | None = None
    """When they were saved, in microseconds; None if they are not saved."""

    def apply_to(self, binding: AgentBinding) -> AgentBinding:
        """A copy of the binding with these settings."""
        return binding.model_copy(
            update={
                "runner_config": {**binding.runner_config, **self.config},
                "resource_policy": self.resources or binding.resource_policy,
                "state_policy": self.state or binding.state_policy,
                "delivery_policy": self.delivery or binding.delivery_policy,
            }
        )

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values, without those that are not set."""
        policies = {"resources": self.resources, "state": self.state, "delivery": self.delivery}
        kept = {name: policy.model_dump(mode="json", exclude_unset=True) for name, policy in policies.items() if policy}
        return ({"config": self.config} if self.config else {}) | kept
