"""The facade of the engine: everything that the console, the commands and scripts import."""

from engine.api.engine import Engine, default_database, project_database, saved_settings_in
from engine.api.past_event import PastEvent
from engine.api.runs import STALE_SECONDS, StoppedRun
from engine.events import NOTHING_CHOSEN, Entry, EntryHead, Expected, Fate, Mode, PauseStage, Status, Subscription
from engine.intake.attachments import AttachmentProblem, read_attachment
from engine.intake.compose import DraftProblem, EventDraft, draft_of
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, EventEnvelope, message, read_event
from engine.intake.errors import IntakeError
from engine.intake.event_examples import default_draft, example_draft
from engine.journal.delta_text import DeltaText
from engine.journal.recording import RecordingHeader, read_recording_header, recording_header
from engine.journal.secret_mask import has_mark, note_process_secrets, process_mask, secrets_in
from engine.project.agents import AgentConfig
from engine.project.config import ConfigError, InvalidAgent, Project, find_project, json_schema
from engine.project.form import Choices, Form
from engine.project.kept_settings import KeptSettings
from engine.project.reload import Reloaded
from engine.project.settings_yaml import LineProblem, to_yaml
from engine.project.watch import CodeChange
from engine.project.workspace import Workspace
from engine.protocol.content import Attachment, text_of
from engine.protocol.event import EventSource, EventType
from engine.protocol.manifest import FieldType
from engine.queue.receipts import Receipt, SteeringReport
from engine.queue.ticket import Ticket
from engine.run.breakpoints import Breakpoint, BreakpointLocation, Pause
from engine.run.call_permissions import Clause
from engine.run.grants import Grants
from engine.run.params import reason_not_passed
from engine.run.prepare import RunOptions, prepare
from engine.run.run_order import RunOrder
from engine.runners.config_form import ConfigForm, FieldProblem
from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.errors import FormError, RunnersError, TargetNotFound
from engine.runners.form_fields import Field, Option
from engine.runners.registry import Registry
from engine.runners.summaries import RunnerSummary
from engine.runtimes.runtime import RuntimeProblem, Sandbox
from engine.runtimes.sandbox import SandboxCheck, check_sandbox, sandbox_options
from engine.store.artifacts import ArtifactRow
from engine.store.backup import back_up
from engine.store.deletion import RESTORE_SECONDS, Deleted, HiddenSession, KeptData
from engine.store.errors import (
    AlreadyDecided,
    AlreadyFinal,
    BreakpointError,
    CannotSteer,
    EventTaken,
    HostGone,
    HostSilent,
    NotFound,
    OwnedByOtherHost,
    RecordingError,
    SessionDeleted,
    SlotTaken,
    StateConflict,
    StateRefused,
    StoreError,
)
from engine.store.health import DatabaseHealth, HostStatus, examine
from engine.store.pruning import DataKind, PrunedData, PrunedRows
from engine.store.queue import QueueItem
from engine.store.recent_places import RecentPlace
from engine.store.runs import INPUT_GLIMPSE, RunRow
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.search import Hit, Hits, Reach, reach
from engine.store.sessions import Session, SessionRow, Summary
from engine.store.sizes import DiskUsage, SessionSize, StoredSize
from engine.store.state import Kept, Written
from engine.store.state_edits import StateEdit
from engine.store.state_pages import StateChange, StateRow
from engine.store.storage_log import StorageThen
from engine.store.transcript import TranscriptLine
from engine.version import VERSION

__all__ = [
    "CONSOLE_DELIVERY",
    "INPUT_GLIMPSE",
    "LOCAL_ACTOR",
    "NOTHING_CHOSEN",
    "RESTORE_SECONDS",
    "STALE_SECONDS",
    "VERSION",
    "AgentConfig",
    "AlreadyDecided",
    "AlreadyFinal",
    "ArtifactRow",
    "Attachment",
    "AttachmentProblem",
    "Breakpoint",
    "BreakpointError",
    "BreakpointLocation",
    "CannotSteer",
    "Choices",
    "Clause",
    "CodeChange",
    "ConfigError",
    "ConfigForm",
    "DataKind",
    "DatabaseHealth",
    "Deleted",
    "DeltaText",
    "DiskUsage",
    "DraftProblem",
    "Engine",
    "Entry",
    "EntryHead",
    "EventDraft",
    "EventEnvelope",
    "EventSource",
    "EventTaken",
    "EventType",
    "Expected",
    "Fate",
    "Field",
    "FieldProblem",
    "FieldType",
    "Form",
    "FormError",
    "Grants",
    "HiddenSession",
    "Hit",
    "Hits",
    "HostGone",
    "HostSilent",
    "HostStatus",
    "IntakeError",
    "InvalidAgent",
    "Kept",
    "KeptData",
    "KeptSettings",
    "LineProblem",
    "Mode",
    "NotFound",
    "Option",
    "Origin",
    "OwnedByOtherHost",
    "PastEvent",
    "Pause",
    "PauseStage",
    "Problem",
    "Project",
    "PrunedData",
    "PrunedRows",
    "QueueItem",
    "Reach",
    "Receipt",
    "RecentPlace",
    "RecordingError",
    "RecordingHeader",
    "Registry",
    "Reloaded",
    "RunOptions",
    "RunOrder",
    "RunRow",
    "RunnerDescriptor",
    "RunnerSummary",
    "RunnersError",
    "RuntimeProblem",
    "Sandbox",
    "SandboxCheck",
    "Scope",
    "ScopeIdentity",
    "Session",
    "SessionDeleted",
    "SessionRow",
    "SessionSize",
    "SlotTaken",
    "StateChange",
    "StateConflict",
    "StateEdit",
    "StateRefused",
    "StateRow",
    "Status",
    "SteeringReport",
    "StoppedRun",
    "StorageThen",
    "StoreError",
    "StoredSize",
    "Subscription",
    "Summary",
    "TargetNotFound",
    "Ticket",
    "TranscriptLine",
    "Workspace",
    "Written",
    "back_up",
    "check_sandbox",
    "default_database",
    "default_draft",
    "draft_of",
    "examine",
    "example_draft",
    "find_project",
    "has_mark",
    "json_schema",
    "message",
    "note_process_secrets",
    "prepare",
    "process_mask",
    "project_database",
    "reach",
    "read_attachment",
    "read_event",
    "read_recording_header",
    "reason_not_passed",
    "recording_header",
    "sandbox_options",
    "saved_settings_in",
    "secrets_in",
    "text_of",
    "to_yaml",
]
