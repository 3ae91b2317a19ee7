"""SPEC 2: the manifest of a runner."""

import pytest
from pydantic import ValidationError

from engine.events import NOTHING_CHOSEN
from engine.protocol.manifest import (
    AgentRunnerManifest,
    ConfigItem,
    FieldType,
    RunnerCapabilities,
    RunnerPermissions,
)

CAPABILITIES = {
    "streaming",
    "tool_calling",
    "knowledge_retrieval",
    "multimodal_input",
    "skill_authoring",
    "interrupt",
    "steering",
}
PERMISSIONS = {
    "models": ["invoke", "stream", "rerank"],
    "tools": ["detail", "call"],
    "knowledge_bases": ["list", "retrieve"],
    "history": ["page", "search"],
    "events": ["get", "page"],
    "artifacts": ["metadata", "read"],
    "storage": ["plugin", "workspace"],
    "files": ["config", "knowledge"],
}
TYPES = [
    "string",
    "text",
    "integer",
    "float",
    "boolean",
    "select",
    "prompt-editor",
    "llm-model-selector",
    "model-fallback-selector",
    "rerank-model-selector",
    "knowledge-base-multi-selector",
    "file",
    "array[file]",
    "array[string]",
]


def manifest(**fields: object) -> AgentRunnerManifest:
    return AgentRunnerManifest.model_validate({"id": "plugin:a/b/c", "name": "c", **fields})


def test_a_manifest_has_every_field_of_the_contract():
    assert set(AgentRunnerManifest.model_fields) == {
        "id",
        "name",
        "label",
        "description",
        "capabilities",
        "permissions",
        "config_schema",
        "metadata",
    }


def test_only_id_and_name_are_required():
    bare = manifest()

    assert (bare.label, bare.description, bare.config_schema, bare.metadata) == ({}, None, [], {})


@pytest.mark.parametrize("missing", ["id", "name"])
def test_a_manifest_without_id_or_name_is_refused(missing: str):
    said = {"id": "plugin:a/b/c", "name": "c"}
    del said[missing]

    with pytest.raises(ValidationError, match=missing):
        AgentRunnerManifest.model_validate(said)


def test_all_capabilities_are_off_by_default():
    assert RunnerCapabilities().model_dump() == dict.fromkeys(CAPABILITIES, False)


def test_all_permissions_are_empty_by_default():
    assert RunnerPermissions().model_dump() == {name: [] for name in PERMISSIONS}


def test_every_permission_of_the_contract_is_accepted():
    assert RunnerPermissions.model_validate(PERMISSIONS).model_dump() == PERMISSIONS


@pytest.mark.parametrize("part", ["capabilities", "permissions"])
def test_unknown_capability_and_permission_keys_are_refused(part: str):
    with pytest.raises(ValidationError, match=f"{part}.teleport"):
        manifest(**{part: {"teleport": True}})


@pytest.mark.parametrize("name", PERMISSIONS)
def test_an_unknown_operation_is_refused(name: str):
    with pytest.raises(ValidationError, match=name):
        manifest(permissions={name: ["own"]})


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_capability_must_be_a_bool(value: object):
    with pytest.raises(ValidationError, match="streaming"):
        manifest(capabilities={"streaming": value})


def test_label_without_locales_is_english():
    assert manifest(label={"zh_Hans": "回声"}).label == {"zh_Hans": "回声"}
    assert manifest(label="Echo", description="Says it").model_dump(include={"label", "description"}) == {
        "label": {"en_US": "Echo"},
        "description": {"en_US": "Says it"},
    }


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_of_form_field_is_known(kind: str):
    assert ConfigItem.model_validate({"name": "x", "type": kind}).type == kind


def test_form_field_types_outside_the_contract_are_refused():
    assert sorted(FieldType) == sorted(TYPES)
    with pytest.raises(ValidationError, match="type"):
        ConfigItem.model_validate({"name": "x", "type": "colour"})


@pytest.mark.parametrize(
    ("alias", "kind"),
    [
        ("select-llm-model", "llm-model-selector"),
        ("select-knowledge-bases", "knowledge-base-multi-selector"),
    ],
)
def test_type_aliases_resolve_to_their_types(alias: str, kind: str):
    assert ConfigItem.model_validate({"name": "x", "type": alias}).type == kind


def test_form_item_requires_only_name_and_type():
    item = ConfigItem.model_validate({"name": "x", "type": "string"})

    assert item.model_dump() == {
        "name": "x",
        "type": "string",
        "label": {},
        "description": None,
        "required": False,
        "default": None,
        "options": None,
    }


def test_options_may_be_plain_values():
    item = ConfigItem.model_validate(
        {"name": "x", "type": "select", "options": ["a", 2, {"name": "c", "label": {"en_US": "C"}}]}
    )

    assert [(option.name, option.label) for option in item.options or []] == [
        ("a", {}),
        (2, {}),
        ("c", {"en_US": "C"}),
    ]


def test_three_values_mean_no_choice():
    assert {"", "__none__", "__none"} == NOTHING_CHOSEN
