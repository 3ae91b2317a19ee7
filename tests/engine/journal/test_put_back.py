"""Marks: they are left alone by a second mask, each stands for one secret, and an edit puts the secrets back."""

import json

import pytest

from engine.journal.secret_mask import SecretMask, secrets_in

MASK = SecretMask({"sk-12345678": "api_key", "secret": "password", "4711": "pin"})
KEY = "‹secret api_key›"


def test_mark_is_not_masked_again():
    once = MASK.cover_words("the secret sk-12345678")

    assert once == f"the ‹secret password› {KEY}"
    assert MASK.cover_words(once) == once
    assert MASK.cover_words("‹secret of another mask›") == "‹secret of another mask›"


def test_secret_inside_a_text_that_looks_like_a_mark_is_masked():
    assert "sk-12345678" not in MASK.cover_words("‹secret sk-12345678›")


def test_each_mark_stands_for_one_secret():
    mask = SecretMask(secrets_in([("keys", ["first-key", "second-key"])]))

    assert mask.cover_words("first-key second-key") == "‹secret keys› ‹secret keys 2›"
    assert mask.put_back_words("‹secret keys 2›") == "second-key"


def test_value_that_was_not_edited_is_the_original_again():
    original = {"a": "sk-12345678", "pin": 4711, "list": ["secret", 1, True, None], "sk-12345678": {"deep": [4711]}}

    assert json.dumps(MASK.put_back(MASK.cover_value(original), original)) == json.dumps(original)


@pytest.mark.parametrize(
    ("edited", "saved"),
    [
        pytest.param(f"say {KEY}!", "say sk-12345678!", id="moved"),
        pytest.param("‹secret api_kex›", "‹secret api_kex›", id="changed"),
        pytest.param("", "", id="deleted"),
        pytest.param({"new": [KEY]}, {"new": ["sk-12345678"]}, id="another shape"),
        pytest.param([True, 1, None], [True, 1, None], id="no text"),
    ],
)
def test_marks_that_the_user_kept_become_secrets_again(edited: object, saved: object):
    assert MASK.put_back(edited, "sk-12345678") == saved


def test_items_that_the_user_added_to_a_list_get_their_secrets_too():
    assert MASK.put_back([KEY, "b", KEY], ["sk-12345678"]) == ["sk-12345678", "b", "sk-12345678"]
    assert MASK.put_back([KEY], ["sk-12345678", "gone"]) == ["sk-12345678"]


def test_only_a_long_secret_is_searched_for_in_names():
    assert MASK.secret_in_name("x-sk-12345678") == "api_key"
    assert MASK.secret_in_name("secret-4711") is None, "they may be ordinary words"
