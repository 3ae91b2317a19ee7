"""A form as the user edits it: the values of trackside.yaml and the defaults, and the user's changes to them."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from console.model.settings_form.fields import CONFIG, FormField

if TYPE_CHECKING:
    from engine.api import Form, KeptSettings

POLICIES: Final = ("resources", "state", "delivery")
Changes = Mapping[str, Mapping[str, Any]]
"""Values that differ from the base, by section and name."""
MAX_UNDO_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class FormDraft:
    """An immutable form. Each change returns a new one, which keeps the changes before it for undo."""

    form: "Form"
    fields: Sequence[FormField]
    changes: Changes
    history: tuple["Changes", ...] = dataclasses.field(default=(), repr=False)

    @classmethod
    def of(cls, form: "Form", fields: Sequence[FormField]) -> "FormDraft":
        """The form with its saved settings."""
        return cls(form, fields, changes_of(form, form.kept))

    def with_history_of(self, last: "FormDraft | None") -> "FormDraft":
        """The same form with the undo steps of another draft, also if another process has changed it since."""
        if last is None:
            return self
        history = last.history if last.changes == self.changes else (*last.history, last.changes)
        return replace(self, history=history[-MAX_UNDO_STEPS:])

    # Values

    def base_value(self, field: FormField) -> Any:
        """The value of trackside.yaml, or the default."""
        if field.section == CONFIG:
            return self.form.config.get(field.name)
        return getattr(getattr(self.form, field.section), field.name)

    def value(self, field: FormField) -> Any:
        changed = self.changes.get(field.section, {})
        return changed[field.name] if field.name in changed else self.base_value(field)

    def is_changed(self, field: FormField) -> bool:
        return field.name in self.changes.get(field.section, {})

    @property
    def change_count(self) -> int:
        return sum(map(len, self.changes.values()))

    def problem(self, field: FormField, value: Any) -> str | None:
        """What is wrong with a value, as the end of a sentence that starts with the field's name."""
        if field.section == CONFIG:
            found = self.form.rules.check_field(field.name, value)
            return None if found is None else found.message
        return self.form.check_policy(field.section, field.name, value)

    def problems(self) -> list[tuple[FormField, str]]:
        """The fields with invalid values."""
        checked = ((field, self.problem(field, self.value(field))) for field in self.fields)
        return [(field, problem) for field, problem in checked if problem is not None]

    # Changes

    def set(self, field: FormField, value: Any) -> "FormDraft":
        """Set a value. One that equals the base value is no change."""
        changed = {name: kept for name, kept in self.changes.get(field.section, {}).items() if name != field.name}
        if value != self.base_value(field):
            changed[field.name] = value
        return self.with_changes({**self.changes, field.section: changed})

    def reset(self, field: FormField) -> "FormDraft":
        return self.set(field, self.base_value(field))

    def reset_all(self) -> "FormDraft":
        return self.with_changes({})

    def with_changes(self, changes: Changes) -> "FormDraft":
        """Replace all changes, as one undo step."""
        clean = {section: changed for section, changed in changes.items() if changed}
        if clean == self.changes:
            return self
        return replace(self, changes=clean, history=(*self.history, self.changes)[-MAX_UNDO_STEPS:])

    def undo(self) -> "FormDraft | None":
        """The form before the last change; None if there was none."""
        if not self.history:
            return None
        return replace(self, changes=self.history[-1], history=self.history[:-1])

    def why_not(self, what: str, field: FormField | None) -> str | None:
        """Why a command is not available."""
        if what == "undo" and not self.history:
            return "There is no change to undo."
        if what == "reset_all" and not self.change_count:
            return "All values are those of trackside.yaml or the defaults."
        if what == "reset" and (field is None or not self.is_changed(field)):
            return "Nothing to reset: this is the value of trackside.yaml or the default."
        return None

    # Settings for the engine

    def changed_settings(self) -> dict[str, Any]:
        """The changes by the engine's names, without invalid config values: a run could not use them."""
        invalid = {field.key for field, _ in self.problems()}
        changed = self.changes.get(CONFIG, {})
        config = {name: value for name, value in changed.items() if f"{CONFIG}.{name}" not in invalid}
        return ({"config": config} if config else {}) | self._changed_policies()

    def all_settings(self) -> dict[str, Any]:
        """All values by the engine's names."""
        config = dict(self.form.config) | dict(self.changes.get(CONFIG, {}))
        policies = {name: getattr(self.form, name) for name in POLICIES} | self._changed_policies()
        return {"config": config} | {name: type(each)(**each.model_dump()) for name, each in policies.items()}

    def _changed_policies(self) -> dict[str, Any]:
        return {
            name: getattr(self.form, name).model_copy(update=dict(changed))
            for name in POLICIES
            if (changed := self.changes.get(name))
        }


def changes_of(form: "Form", settings: "KeptSettings | None") -> Changes:
    """The values of settings that differ from the form's base."""
    if settings is None:
        return {}
    config = {name: value for name, value in settings.config.items() if value != form.config.get(name)}
    changes: dict[str, dict[str, Any]] = {CONFIG: config}
    for section in POLICIES:
        base, own = getattr(form, section), getattr(settings, section)
        names = cast("Sequence[str]", tuple(base.model_dump())) if own is not None else ()
        changes[section] = {name: getattr(own, name) for name in names if getattr(own, name) != getattr(base, name)}
    return {section: changed for section, changed in changes.items() if changed}
