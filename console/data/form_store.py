"""What a form asks of the engine: to be read, kept, tried out, and turned into YAML and back."""

import asyncio
from typing import TYPE_CHECKING, Any

from console.model.settings_form.fields import slots_of
from console.model.settings_form.form_draft import Changes, FormDraft, changes_of
from console.model.settings_form.grants_preview import preview, refused
from console.model.settings_form.values import masked, unmasked

if TYPE_CHECKING:
    from console.model.text.lists import Stack
    from engine.api import Engine, KeptSettings, LineProblem


class FormStore:
    """For one agent, or one runner that was opened by path. It outlives the screen, so that undo does too."""

    def __init__(self, engine: "Engine", name: str) -> None:
        self._engine = engine
        self.name = name
        self._keeping = asyncio.Lock()
        self._last: FormDraft | None = None
        """What was kept here last."""
        self._wanted: FormDraft | None = None
        """What is to be kept, and is not on disk."""
        self._written: Changes = {}
        """What is, as far as is known here."""

    async def read(self) -> FormDraft:
        """The form as it is kept now, and all that it was since the console is open; what could not be kept over it."""
        form = await self._engine.settings.form(self.name)
        filling = FormDraft.of(form, slots_of(form)).following(self._last)
        self._written = filling.changes
        return filling if self._wanted is None else filling.changed(self._wanted.changes)

    async def keep(self, filling: FormDraft) -> None:
        """Keep what is a person's own; where nothing is, nothing is kept. One after the other, as they were made."""
        self._wanted = filling
        async with self._keeping:
            kept = filling.kept()
            if kept:
                await self._engine.settings.save(self.name, _settings(kept))
            else:
                await self._engine.settings.delete(self.name)
            self._last = filling
            self._written = filling.changes
            if self._wanted is filling:
                self._wanted = None

    def unwritten(self, filling: FormDraft) -> frozenset[str]:
        """The keys of the fields that are not on disk as they stand in the form."""
        now, then = filling.changes, self._written
        return frozenset(
            slot.key
            for slot in filling.slots
            if now.get(slot.section, {}).get(slot.name, ...) != then.get(slot.section, {}).get(slot.name, ...)
        )

    def preview(self, filling: FormDraft, event: str) -> "Stack":
        """What a run would be granted; or why there would be none."""
        from engine.api import ConfigError, EventType, IntakeError, RunnersError, RunOptions  # noqa: PLC0415

        try:
            order = self._engine.settings.preview_grants(
                RunOptions(runner=self.name), _settings(filling.kept()), event=EventType(event)
            )
        except (ConfigError, IntakeError, RunnersError) as error:
            return refused(str(error))
        return preview(order.grants.snapshot(), order.warnings)

    def text(self, filling: FormDraft) -> str:
        """All that holds, as it could stand under an agent in trackside.yaml."""
        from engine.api import to_yaml  # noqa: PLC0415

        whole, secret = filling.whole(), filling.form.secrets
        whole["config"] = {name: masked(value) if name in secret else value for name, value in whole["config"].items()}
        return to_yaml(_settings(whole))

    def read_text(self, filling: FormDraft, text: str) -> "tuple[FormDraft | None, tuple[LineProblem, ...]]":
        """The form that a text makes, and what is wrong with it by line; no form where it cannot be used."""
        settings, problems = self._engine.settings.parse_yaml(self.name, text)
        if settings is None:
            return None, problems
        former, secret = filling.whole()["config"], filling.form.secrets
        config = {
            name: unmasked(value, former.get(name)) if name in secret else value
            for name, value in settings.config.items()
        }
        settings = settings.model_copy(update={"config": config})
        return filling.changed(changes_of(filling.form, settings)), problems


def _settings(kept: dict[str, Any]) -> "KeptSettings":
    from engine.api import KeptSettings  # noqa: PLC0415

    return KeptSettings(**kept)
