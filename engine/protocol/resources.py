"""The resources that a run was granted. Operations are those of the manifest's permissions."""

from typing import Any

from pydantic import Field

from engine.protocol.base import Model


class ModelResource(Model):
    """A model that may be called."""

    model_id: str
    model_type: str | None = None
    provider: str | None = None
    operations: list[str] = Field(default_factory=list)


class ToolResource(Model):
    """A tool that may be called."""

    tool_name: str
    tool_type: str | None = None
    description: str | None = None
    operations: list[str] = Field(default_factory=list)


class KnowledgeBaseResource(Model):
    """A knowledge base that may be searched."""

    kb_id: str
    kb_name: str | None = None
    kb_type: str | None = None
    operations: list[str] = Field(default_factory=list)


class SkillResource(Model):
    """A skill that may be activated."""

    skill_name: str
    display_name: str | None = None
    description: str | None = None


class FileResource(Model):
    """A file that the config names."""

    file_id: str
    file_name: str | None = None
    mime_type: str | None = None
    source: str = "config"
    operations: list[str] = Field(default_factory=list)


class StorageResource(Model):
    """Which storages may be used."""

    plugin_storage: bool = False
    workspace_storage: bool = False


class Resources(Model):
    """All grants, fixed when the run started."""

    models: list[ModelResource] = Field(default_factory=list[ModelResource])
    tools: list[ToolResource] = Field(default_factory=list[ToolResource])
    knowledge_bases: list[KnowledgeBaseResource] = Field(default_factory=list[KnowledgeBaseResource])
    skills: list[SkillResource] = Field(default_factory=list[SkillResource])
    files: list[FileResource] = Field(default_factory=list[FileResource])
    storage: StorageResource = Field(default_factory=StorageResource)
    platform_capabilities: dict[str, Any] = Field(default_factory=dict)
