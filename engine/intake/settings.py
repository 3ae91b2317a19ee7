"""Settings that a person keeps for an agent, or for a runner opened by path; they lie over those of trackside.yaml."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from engine.intake.agents import AgentBinding, DeliveryPolicy, ResourcePolicy, StatePolicy

SettingsKey = tuple[str, str]
"""A binding and the file that declares its runner: two files of one name must not get each other's secrets."""


class KeptSettings(BaseModel):
    """Values of the config, each over the one that is written; a policy as a whole, where it is kept at all."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    resources: ResourcePolicy | None = None
    state: StatePolicy | None = None
    delivery: DeliveryPolicy | None = None
    updated_at: int | None = None
    """When they were kept, in microseconds; none as long as they are not."""

    def over(self, binding: AgentBinding) -> AgentBinding:
        """The binding with these over its own."""
        return binding.model_copy(
            update={
                "runner_config": {**binding.runner_config, **self.config},
                "resource_policy": self.resources or binding.resource_policy,
                "state_policy": self.state or binding.state_policy,
                "delivery_policy": self.delivery or binding.delivery_policy,
            }
        )

    def value(self) -> dict[str, Any]:
        """As JSON keeps it: only what is set."""
        policies = {"resources": self.resources, "state": self.state, "delivery": self.delivery}
        kept = {name: policy.model_dump(mode="json", exclude_unset=True) for name, policy in policies.items() if policy}
        return ({"config": self.config} if self.config else {}) | kept
