"""SPEC 3, 5 and 6: the context of a run."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from engine.protocol import AgentRunContext
from engine.protocol.context import AvailableApis, ContextAccess, InlinePolicy, RuntimeContext, StateSnapshot
from engine.protocol.event import (
    ActorContext,
    ConversationContext,
    DeliveryContext,
    EventContext,
    EventSource,
    EventType,
    SubjectContext,
    Trigger,
    trigger_source,
)
from engine.protocol.resources import (
    FileResource,
    KnowledgeBaseResource,
    ModelResource,
    Resources,
    SkillResource,
    StorageResource,
    ToolResource,
)

FIELDS: dict[type[BaseModel], str] = {
    AgentRunContext: "run_id trigger event conversation actor subject input delivery resources context state runtime "
    "config adapter metadata",
    Trigger: "type source timestamp",
    EventContext: "event_id event_type event_time source source_event_type raw_ref data",
    ConversationContext: "conversation_id thread_id launcher_type launcher_id sender_id bot_id workspace_id session_id",
    ActorContext: "actor_type actor_id actor_name metadata",
    SubjectContext: "subject_type subject_id data",
    DeliveryContext: "surface reply_target supports_streaming supports_edit supports_reaction max_message_size "
    "platform_capabilities",
    ContextAccess: "conversation_id thread_id latest_cursor event_seq transcript_seq has_history_before inline_policy "
    "available_apis",
    AvailableApis: "history_page history_search event_get event_page artifact_metadata artifact_read state storage "
    "steering_pull run_get run_list run_cancel",
    StateSnapshot: "conversation actor subject runner",
    RuntimeContext: "langbot_version trace_id deadline_at metadata",
    Resources: "models tools knowledge_bases skills files storage platform_capabilities",
    ModelResource: "model_id model_type provider operations",
    ToolResource: "tool_name tool_type description operations",
    KnowledgeBaseResource: "kb_id kb_name kb_type operations",
    SkillResource: "skill_name display_name description",
    FileResource: "file_id file_name mime_type source operations",
    StorageResource: "plugin_storage workspace_storage",
}


def handed(**fields: Any) -> dict[str, Any]:
    return {
        "run_id": "run_1",
        "trigger": {"type": "message.received", "source": "webui", "timestamp": 1_780_272_000},
        "event": {"event_id": "e1", "event_type": "message.received", "source": "console"},
        "input": {"text": "hi"},
        "delivery": {"surface": "console"},
        "context": {},
        **fields,
    }


@pytest.mark.parametrize("model", FIELDS, ids=lambda model: model.__name__)
def test_each_part_has_exactly_the_fields_of_the_contract(model: type[BaseModel]):
    assert set(model.model_fields) == set(FIELDS[model].split())


@pytest.mark.parametrize("missing", ["run_id", "trigger", "event", "input", "delivery", "context"])
def test_event_delivery_and_context_are_always_there(missing: str):
    context = handed()
    del context[missing]

    with pytest.raises(ValidationError, match=missing):
        AgentRunContext.model_validate(context)


def test_history_is_never_inlined():
    ctx = AgentRunContext.model_validate(handed(messages=[{"role": "user"}], bootstrap={}))

    assert not {"messages", "bootstrap"} & set(ctx.model_dump())


def test_unknown_keys_of_a_newer_host_are_ignored_at_every_level():
    newer = handed(
        moon="full",
        event={"event_id": "e", "event_type": "tide.turned", "source": "sea", "depth": 3},
        context={"available_apis": {"levitate": True, "run_get": True}, "inline_policy": {"mood": "good"}},
        resources={"models": [{"model_id": "m", "operations": ["dream"], "colour": "red"}], "wands": []},
        delivery={"surface": "x", "smell": True},
    )

    ctx = AgentRunContext.model_validate(newer)

    assert ctx.context.available_apis.run_get
    assert ctx.resources.models[0].operations == ["dream"]
    assert "moon" not in ctx.model_dump()


def test_inline_policy_is_current_event_only():
    assert InlinePolicy().model_dump() == {
        "mode": "current_event",
        "delivered_count": 0,
        "source_total_count": None,
        "messages_complete": False,
        "reason": "current_event_only",
    }


@pytest.mark.parametrize("mode", ["none", "current_event", "recent_tail", "summary_tail"])
def test_the_inline_policy_has_four_modes(mode: str):
    assert InlinePolicy.model_validate({"mode": mode}).mode == mode


def test_the_inline_policy_has_no_fifth_mode():
    with pytest.raises(ValidationError):
        InlinePolicy.model_validate({"mode": "everything"})


def test_all_apis_are_off_until_granted():
    assert not any(AvailableApis().model_dump().values())


def test_there_are_six_event_types():
    assert set(EventType) == {
        "message.received",
        "message.recalled",
        "group.member_joined",
        "friend.request_received",
        "schedule.triggered",
        "api.invoked",
    }


def test_trigger_source_is_webui_for_the_console_and_the_event_source_otherwise():
    said = {source: trigger_source(source) for source in EventSource}

    assert said.pop(EventSource.CONSOLE) == "webui"
    assert all(trigger == source for source, trigger in said.items())


def test_the_sources_of_a_trigger_are_a_closed_list_without_console():
    for source in EventSource:
        assert Trigger.model_validate({"type": "x", "source": trigger_source(source)})
    with pytest.raises(ValidationError):
        Trigger.model_validate({"type": "x", "source": "console"})


def test_times_are_seconds_and_the_deadline_has_a_fraction():
    ctx = AgentRunContext.model_validate(handed(runtime={"deadline_at": 1_780_272_000.5}))

    assert (ctx.trigger.timestamp, ctx.runtime.deadline_at) == (1_780_272_000, 1_780_272_000.5)
    with pytest.raises(ValidationError):
        AgentRunContext.model_validate(handed(runtime={"deadline_at": "2026-06-01T00:00:00Z"}))


def test_a_context_goes_to_json_and_back_unchanged():
    ctx = AgentRunContext.model_validate(handed(state={"actor": {"k": [1, None]}}, adapter={"extra": {"params": {}}}))

    assert AgentRunContext.model_validate_json(ctx.model_dump_json()) == ctx


def test_two_contexts_share_no_defaults():
    one, other = (AgentRunContext.model_validate(handed()) for _ in range(2))
    one.config["k"] = one.state.actor["k"] = 1
    one.resources.models.append(ModelResource(model_id="m"))

    assert (other.config, other.state.actor, other.resources.models) == ({}, {}, [])


def test_a_context_without_a_host_raises():
    with pytest.raises(RuntimeError, match="no host"):
        _ = AgentRunContext.model_validate(handed()).api
