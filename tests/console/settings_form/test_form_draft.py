"""Values as text and back, what is a person's own, paths as they are typed, and what an edit of files means."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.runners.code_changes import CodeNote, news_of
from console.model.settings_form.fields import FormField, Kind, slots_of
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.options import offered
from console.model.settings_form.prompt_text import ROLES, read_script, script
from console.model.settings_form.values import MARK, masked, picked, read, shown, toggled, typed, unmasked
from console.model.text import paths
from engine.api import Option, Problem, Reloaded
from tests.support.engines import Engines, declares, done

ME = "plugin:local/me/default"
TORN = Problem(Path("/p/torn.py"), "no", 3)


def slot(kind: Kind, section: str = "config", **given: Any) -> FormField:
    return FormField(section, "x", kind, "X", **given)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.LINE, "5", "5"),
        (Kind.WHOLE, " 5 ", 5),
        (Kind.WHOLE, "5.5", 5.5),
        (Kind.WHOLE, "", None),
        (Kind.NUMBER, "5.5", 5.5),
        (Kind.NUMBER, "much", "much"),
        (Kind.LINES, "a\n\n b \n", ["a", "b"]),
        (Kind.PROMPT, '[{"role": "system", "content": "x"}]', [{"role": "system", "content": "x"}]),
        (Kind.PROMPT, "[not a list", "[not a list"),
    ],
)
def test_what_a_text_stands_for(kind: Kind, text: str, value: Any):
    assert read(slot(kind), text) == value


MESSAGES = st.lists(st.fixed_dictionaries({"role": st.sampled_from(ROLES), "content": st.text()}), min_size=1)


@given(MESSAGES)
def test_messages_written_out_are_read_back_as_they_were(messages: list[Any]):
    text = script(messages)
    assert text is not None
    assert read_script(text) == messages
    assert read(slot(Kind.PROMPT), typed(slot(Kind.PROMPT), messages)) == messages


@pytest.mark.parametrize("messages", [[{"role": "user"}], [{"role": "user", "content": [1]}], ["x"], [{"role": "x"}]])
def test_messages_that_say_more_than_a_text_can_are_edited_as_json(messages: list[Any]):
    assert script(messages) is None
    assert read(slot(Kind.PROMPT), typed(slot(Kind.PROMPT), messages)) == messages


@pytest.mark.parametrize("text", ["Be brief.", "Rules:\n  be brief", "system: be brief", "", "You are\nuser:\n  x"])
def test_a_prompt_that_does_not_begin_with_a_role_is_text(text: str):
    assert read(slot(Kind.PROMPT), text) == text


@pytest.mark.parametrize("secret", ["hush", ["a", "b"], {"id": "a", "more": ["b", 7]}, "", 5, 0.5, True, None])
def test_a_secret_that_nobody_touched_comes_back_from_its_mark(secret: Any):
    assert unmasked(masked(secret), secret) == secret


@pytest.mark.parametrize("secret", ["hush", 987654, ["hush", 987654], {"id": ["hush"], "pin": 987654}, 987654.5])
def test_no_text_or_number_of_a_secret_is_seen_in_its_mark(secret: Any):
    assert not {"hush", "987654"} & set(re.findall(r"\w+", str(masked(secret))))


def test_of_several_secrets_each_is_known_by_its_mark_wherever_it_goes():
    secrets = ["a", "b", "c"]
    first, second, third = masked(secrets)

    for left, kept in (([second, third], ["b", "c"]), ([first, third], ["a", "c"]), ([third, first], ["c", "a"])):
        assert unmasked(left, secrets) == kept
    assert unmasked([{"pin": second}], secrets) == [{"pin": "b"}]
    assert unmasked(MARK, secrets) == secrets


def test_a_mark_with_no_secret_behind_it_is_nothing():
    first, fourth = masked(["a"])[0], masked([*"abcd"])[3]
    assert unmasked([first, "new", fourth, MARK], ["a"]) == ["a", "new", "", ""]
    assert unmasked("new", "hush") == "new"


def test_a_list_offers_what_holds_the_text_and_the_text_itself_where_others_are_taken():
    options = (Option("small", "Small"), Option("large", "Large"))
    one = slot(Kind.ONE, options=options, takes_others=True)
    assert offered(one, "", "") == ["", "small", "large"]
    assert offered(one, "gone", "") == ["", "small", "large", "gone"], "what is chosen can be seen"
    assert offered(one, "", "LAR") == ["large", "LAR"]
    assert offered(slot(Kind.ONE, options=options, required=True), "", "x") == []


def test_a_switch_that_nobody_has_turned_is_not_off():
    assert [shown(slot(Kind.SWITCH), value) for value in (None, True, False)] == ["not set", "yes", "no"]


@pytest.mark.parametrize("value", [["a", "b"], []])
def test_lines_come_back_as_they_were(value: list[str]):
    assert read(slot(Kind.LINES), typed(slot(Kind.LINES), value)) == value


def test_of_a_ranked_choice_the_first_is_the_primary():
    ranked = slot(Kind.RANKED)
    value = toggled(ranked, toggled(ranked, "a", "b"), "c")
    assert value == {"primary": "a", "fallbacks": ["b", "c"]}
    assert toggled(ranked, value, "a") == {"primary": "b", "fallbacks": ["c"]}
    assert picked(ranked, value) == ["a", "b", "c"]


def test_a_file_keeps_what_is_known_of_it_when_another_is_chosen():
    known = {"file_key": "a", "mime_type": "text/plain"}
    assert toggled(slot(Kind.MANY), [known], "b") == [known, "b"]


def test_where_none_of_them_means_another_thing_than_no_value_it_is_another():
    same, other = slot(Kind.MANY, "resources"), slot(Kind.MANY, "resources", when_none="all", when_empty="none at all")
    assert toggled(same, ("a",), "a") is None
    assert toggled(other, ("a",), "a") == ()
    assert [shown(other, value) for value in (None, (), ("a",))] == ["all", "none at all", "a"]


def test_a_secret_and_hostile_text_are_never_shown_as_they_are():
    assert "hush" not in shown(slot(Kind.LINE, is_secret=True), "hush")
    assert "\x1b" not in shown(slot(Kind.PAGE), "\x1b[31m\nx")


@declares(config=[{"name": "count", "type": "integer", "default": 3}])
async def asks(ctx: Any):
    yield done("x")


async def test_a_value_as_in_the_base_is_nobodys_own_and_every_change_can_be_undone(open_engine: Engines):
    engine = await open_engine(asks)
    form = await engine.settings.form()
    filling = FormDraft.of(form, slots_of(form))
    count = next(each for each in filling.slots if each.name == "count")
    state = next(each for each in filling.slots if each.name == "enable_state")

    changed = filling.put(count, 7).put(state, False)

    assert (changed.value(count), changed.value(state), changed.count) == (7, False, 2)
    assert changed.put(count, 3).put(state, True).changes == filling.changes == {}
    assert changed.reset_all().undone() is not None
    assert (undone := changed.undone()) is not None
    assert (undone.value(count), undone.value(state)) == (7, True)
    assert filling.undone() is None
    assert changed.put(count, "no").kept() == {"state": changed.kept()["state"]}, "what does not fit is not kept"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("./r", "./ru"), ("./run", "./runner.py"), ("./x", "./x"), ("./", "./"), ("./.", "./.hidden/")],
)
def test_a_path_goes_on_as_far_as_it_is_certain(text: str, wanted: str):
    names = [("runner.py", False), ("rust", True), (".hidden", True), ("other.py", False)]
    assert (
        paths.complete_path(text, paths.FolderListing(names=tuple(paths.FolderEntry(*name) for name in names)))
        == wanted
    )


@pytest.mark.parametrize(("path", "said"), [("/h/p/a.py", "./a.py"), ("/h/b.py", "~/b.py"), ("/hp/c.py", "/hp/c.py")])
def test_a_path_is_said_from_where_one_is(path: str, said: str):
    assert paths.short_path(path, "/h/p", "/h") == said


def test_news_tell_the_worst_first_and_only_what_is_new():
    changed = Reloaded(changed=(ME,), problems=(TORN,))
    told = news_of(changed, (), ME, is_old=False, can_run_again=True)
    assert told is not None
    assert told.words.startswith("torn.py:3 is left out: no")
    told = news_of(changed, (TORN,), ME, is_old=False, can_run_again=True)
    assert told is not None
    assert told.words == "code changed · next run uses it · f5 runs again"
    assert news_of(Reloaded(changed=("plugin:local/other/default",)), (), ME, is_old=False, can_run_again=True) is None


def test_of_a_plugins_file_its_folder_is_told_and_no_key_leads_to_a_list_that_is_open():
    torn = Problem(Path("/x/plug/parts/runner.yaml"), "no", 8, Path("/x/plug"))
    words = [
        told.words
        for is_listed in (False, True)
        if (told := news_of(Reloaded(problems=(torn,)), (), ME, is_old=False, can_run_again=False, is_listed=is_listed))
    ]
    assert words == [f"plug/parts/runner.yaml:8 is left out: no{tail}" for tail in (" · f3 shows it", "")]


@pytest.mark.parametrize(
    ("reloaded", "given", "words"),
    [
        (Reloaded(gone=(ME,), problems=(TORN,)), {}, "torn.py:3 is left out: no · no run begins until it is mended"),
        (Reloaded(gone=(ME,), problems=(TORN,)), {"is_old": True},
         "torn.py:3 is left out: no · the run in flight still has the old code"),
        (Reloaded(gone=(ME,)), {}, "me is gone · f3 chooses another"),
        (Reloaded(added=(ME,)), {"can_run_again": True}, "mended · next run uses it · f5 runs again"),
        (Reloaded(), {"was_broken": True}, "mended · next run uses it"),
        (Reloaded(changed=(ME,)), {"is_old": True, "can_run_again": True},
         "code changed · next run uses it · the run in flight still has the old code; f8 stops it, then f5 runs again"),
        (Reloaded(added=("plugin:local/other/default",)), {}, "new: other · f3 chooses"),
    ],
)  # fmt: skip
def test_news_say_what_it_means_for_who_is_chosen(reloaded: Reloaded, given: dict[str, bool], words: str):
    told = news_of(reloaded, (), ME, **{"is_old": False, "can_run_again": False} | given)
    assert told is not None
    assert told.words == words


def test_the_note_of_broken_code_stays_until_it_is_mended():
    note = CodeNote()
    note.is_broken = True
    note.changed("run_1", is_old=True)
    assert note.words("run_1", is_over=False) == "old code · the new one is broken"
    assert note.words("run_1", is_over=True) == note.words("run_2", is_over=True) == "code broken"
    note.is_broken = False
    assert note.words("run_2", is_over=True) is None


def test_the_note_of_new_code_goes_with_the_next_run():
    note = CodeNote()
    note.changed("run_1", is_old=True)
    assert note.words("run_1", is_over=False) == "old code"
    assert note.words("run_1", is_over=True) == "code changed"
    assert note.words("run_2", is_over=False) is None
    assert note.words("run_1", is_over=True) is None
