"""Loads and saves the settings of an agent or runner, previews its grants, and converts the form to YAML and back."""

import asyncio
from typing import TYPE_CHECKING, Final

from console.model.settings_form.fields import form_fields
from console.model.settings_form.form_draft import Changes, FormDraft, changes_of
from console.model.settings_form.rows import grant_rows, refusal_rows
from console.model.settings_form.values import mask_secret, unmask_secret
from console.model.text.sentence import as_sentence
from engine.api import ConfigError, EventType, IntakeError, KeptSettings, RunnersError, RunOptions, to_yaml

if TYPE_CHECKING:
    from console.model.text.lists import Stack
    from engine.api import Engine, LineProblem

__all__ = ["EVENT_TYPES", "ConfigError", "FormStore", "RunnersError"]

EVENT_TYPES: Final = tuple(map(str, EventType))


class FormStore:
    """The settings of one agent, or of a runner that was opened by path. Undo steps outlive the screen in it."""

    def __init__(self, engine: "Engine", name: str) -> None:
        self._engine = engine
        self.name = name
        self._lock = asyncio.Lock()
        self._last: FormDraft | None = None
        """The draft that was saved last."""
        self._pending: FormDraft | None = None
        """The draft that is being saved, or could not be."""
        self._saved: Changes = {}
        """The changes on disk, as far as is known."""

    async def load(self) -> FormDraft:
        """The form with its saved settings and undo steps; with the changes that could not be saved."""
        form = await self._engine.settings.form(self.name)
        draft = FormDraft.of(form, form_fields(form)).with_history_of(self._last)
        self._saved = draft.changes
        return draft if self._pending is None else draft.with_changes(self._pending.changes)

    async def save(self, draft: FormDraft) -> None:
        """Save the changes of a draft; without changes, delete the saved settings. Saves run in order."""
        self._pending = draft
        async with self._lock:
            changed = draft.changed_settings()
            if changed:
                await self._engine.settings.save(self.name, KeptSettings(**changed))
            else:
                await self._engine.settings.delete(self.name)
            self._last = draft
            self._saved = draft.changes
            if self._pending is draft:
                self._pending = None

    def unsaved_keys(self, draft: FormDraft) -> frozenset[str]:
        """The keys of the fields whose value is not on disk."""
        now, saved = draft.changes, self._saved
        return frozenset(
            field.key
            for field in draft.fields
            if now.get(field.section, {}).get(field.name, ...) != saved.get(field.section, {}).get(field.name, ...)
        )

    def preview_grants(self, draft: FormDraft, event_type: str) -> "Stack":
        """The grants of a run with this draft, or why no run could start."""
        try:
            order = self._engine.settings.preview_grants(
                RunOptions(runner=self.name), KeptSettings(**draft.changed_settings()), event=EventType(event_type)
            )
        except (ConfigError, IntakeError, RunnersError) as error:
            return refusal_rows(as_sentence(str(error)))
        mask = order.secret_mask
        return grant_rows(order.grants.snapshot(mask), [mask.cover_words(text) for text in order.warnings])

    def to_yaml(self, draft: FormDraft) -> str:
        """All settings as they could be written under an agent in trackside.yaml, with masked secrets."""
        settings, secrets = draft.all_settings(), draft.form.secrets
        config = settings["config"].items()
        settings["config"] = {name: mask_secret(value) if name in secrets else value for name, value in config}
        return to_yaml(KeptSettings(**settings))

    def parse_yaml(self, draft: FormDraft, text: str) -> "tuple[FormDraft | None, tuple[LineProblem, ...]]":
        """The draft of a YAML text, and the problems by line; no draft if the text is invalid."""
        settings, problems = self._engine.settings.parse_yaml(self.name, text)
        if settings is None:
            return None, problems
        former, secrets = draft.all_settings()["config"], draft.form.secrets
        config = {
            name: unmask_secret(value, former.get(name)) if name in secrets else value
            for name, value in settings.config.items()
        }
        settings = settings.model_copy(update={"config": config})
        return draft.with_changes(changes_of(draft.form, settings)), problems
