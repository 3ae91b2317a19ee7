"""A form as it is filled in: what trackside.yaml and the defaults say, and what a person has put over that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from console.model.settings_form.fields import CONFIG, FormField

if TYPE_CHECKING:
    from engine.api import Form, KeptSettings

POLICIES: Final = ("resources", "state", "delivery")
Changes = Mapping[str, Mapping[str, Any]]
"""By section and name, what is not as the base has it."""
_UNDOS: Final = 50


@dataclass(frozen=True, slots=True)
class FormDraft:
    """Each change gives another; the former ones are kept, so that every one can be undone."""

    form: "Form"
    slots: Sequence[FormField]
    changes: Changes
    before: tuple["Changes", ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, form: "Form", slots: Sequence[FormField]) -> "FormDraft":
        """As it is kept now."""
        return cls(form, slots, changes_of(form, form.kept))

    def following(self, last: "FormDraft | None") -> "FormDraft":
        """The same with what was done before, so that it can be undone; also where another has changed it since."""
        if last is None:
            return self
        before = last.before if last.changes == self.changes else (*last.before, last.changes)
        return replace(self, before=before[-_UNDOS:])

    # What stands there

    def base(self, slot: FormField) -> Any:
        """What trackside.yaml says, or the form's default."""
        if slot.section == CONFIG:
            return self.form.config.get(slot.name)
        return getattr(getattr(self.form, slot.section), slot.name)

    def value(self, slot: FormField) -> Any:
        own = self.changes.get(slot.section, {})
        return own[slot.name] if slot.name in own else self.base(slot)

    def is_changed(self, slot: FormField) -> bool:
        return slot.name in self.changes.get(slot.section, {})

    @property
    def count(self) -> int:
        """How many values are a person's own."""
        return sum(map(len, self.changes.values()))

    def problem(self, slot: FormField, value: Any) -> str | None:
        """What is wrong with a value, in words that go on with the field's name."""
        if slot.section == CONFIG:
            found = self.form.rules.check_field(slot.name, value)
            return None if found is None else found.message
        return self.form.check_policy(slot.section, slot.name, value)

    def problems(self) -> list[tuple[FormField, str]]:
        """All that is wrong now."""
        return [(slot, words) for slot in self.slots if (words := self.problem(slot, self.value(slot))) is not None]

    # What is changed

    def put(self, slot: FormField, value: Any) -> "FormDraft":
        """The same with this value; one that is as in the base is nobody's own."""
        own = {name: kept for name, kept in self.changes.get(slot.section, {}).items() if name != slot.name}
        if value != self.base(slot):
            own[slot.name] = value
        return self.changed({**self.changes, slot.section: own})

    def reset(self, slot: FormField) -> "FormDraft":
        return self.put(slot, self.base(slot))

    def reset_all(self) -> "FormDraft":
        return self.changed({})

    def changed(self, changes: Changes) -> "FormDraft":
        """Another state, from which there is a way back."""
        clean = {section: own for section, own in changes.items() if own}
        if clean == self.changes:
            return self
        return replace(self, changes=clean, before=(*self.before, self.changes)[-_UNDOS:])

    def undone(self) -> "FormDraft | None":
        """As it was before the last change; nothing where there was none."""
        if not self.before:
            return None
        return replace(self, changes=self.before[-1], before=self.before[:-1])

    def why_not(self, what: str, slot: FormField | None) -> str | None:
        """Why there is nothing to take back."""
        if what == "undo" and not self.before:
            return "nothing was changed here yet"
        if what == "reset_all" and not self.count:
            return "all is as trackside.yaml and the defaults say"
        if what == "reset" and (slot is None or not self.is_changed(slot)):
            return "it is as trackside.yaml or the default says"
        return None

    # What is kept

    def kept(self) -> dict[str, Any]:
        """What the engine is to keep, by its own names, without values that do not fit: none could ever be used."""
        bad = {slot.key for slot, _ in self.problems()}
        own = self.changes.get(CONFIG, {})
        config = {name: value for name, value in own.items() if f"{CONFIG}.{name}" not in bad}
        return ({"config": config} if config else {}) | self._policies()

    def whole(self) -> dict[str, Any]:
        """Everything that holds, by the same names."""
        config = dict(self.form.config) | dict(self.changes.get(CONFIG, {}))
        policies = {name: getattr(self.form, name) for name in POLICIES} | self._policies()
        return {"config": config} | {name: type(each)(**each.model_dump()) for name, each in policies.items()}

    def _policies(self) -> dict[str, Any]:
        return {
            name: getattr(self.form, name).model_copy(update=dict(own))
            for name in POLICIES
            if (own := self.changes.get(name))
        }


def changes_of(form: "Form", kept: "KeptSettings | None") -> Changes:
    """What settings say that the form's base does not."""
    if kept is None:
        return {}
    config = {name: value for name, value in kept.config.items() if value != form.config.get(name)}
    changes: dict[str, dict[str, Any]] = {CONFIG: config}
    for section in POLICIES:
        base, own = getattr(form, section), getattr(kept, section)
        names = cast("Sequence[str]", tuple(base.model_dump())) if own is not None else ()
        changes[section] = {name: getattr(own, name) for name in names if getattr(own, name) != getattr(base, name)}
    return {section: own for section, own in changes.items() if own}
