"""The controllers of one app."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from console.ui.artifacts.controller import ArtifactsController
from console.ui.composer.controller import ComposerController
from console.ui.help.controller import HelpController
from console.ui.inspector.controller import InspectorController
from console.ui.main.escape import EscapeKey
from console.ui.main.failures import FailureController
from console.ui.main.layout import LayoutController
from console.ui.main.quit import QuitController
from console.ui.main.run_control import RunControl
from console.ui.main.send import MessageSender
from console.ui.preferences.controller import PreferencesController
from console.ui.prompt.controller import PromptController
from console.ui.prompt.drafts import DraftKeeper
from console.ui.queue.controller import QueueController
from console.ui.runners.code_watch import CodeWatcher
from console.ui.runners.controller import RunnersController
from console.ui.sessions.controller import SessionsController
from console.ui.sessions.delete import SessionDeleter
from console.ui.settings_form.controller import SettingsFormController
from console.ui.shared.clipboard import Clipboard
from console.ui.shared.services import AppServices
from console.ui.state.controller import StateController
from console.ui.stream.controller import StreamController


@dataclass(frozen=True, slots=True)
class Controllers:
    """One controller per feature. The actions of the app's commands are methods `action_NAME` of them."""

    services: AppServices
    clipboard: Clipboard
    sender: MessageSender
    drafts: DraftKeeper
    prompt: PromptController
    queue: QueueController
    run_control: RunControl
    escape: EscapeKey
    layout: LayoutController
    stream: StreamController
    inspector: InspectorController
    sessions: SessionsController
    deleter: SessionDeleter
    state: StateController
    composer: ComposerController
    artifacts: ArtifactsController
    runners: RunnersController
    code_watch: CodeWatcher
    settings_form: SettingsFormController
    preferences: PreferencesController
    help: HelpController
    failures: FailureController
    quit: QuitController

    def owners_of(self, action: str) -> Iterator[object]:
        """The controllers that have an action; for every action of the app exactly one."""
        for field in fields(self):
            if hasattr(controller := getattr(self, field.name), f"action_{action}"):
                yield controller
