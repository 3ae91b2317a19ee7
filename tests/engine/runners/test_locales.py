import pytest

from engine.runners.locales import local, user_locale

TEXTS = {"en_US": "Depth", "zh_Hans": "深度(简)", "zh_Hant": "深度(繁)", "pt_BR": "Fundo"}


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en_US", "Depth"),
        ("en_GB", "Depth"),
        ("zh_CN", "深度(简)"),
        ("zh-Hans", "深度(简)"),
        ("zh_TW", "深度(繁)"),
        ("zh_HK", "深度(繁)"),
        ("pt_PT", "Fundo"),
        ("pt-br", "Fundo"),
        ("fr_FR", "Depth"),
    ],
)
def test_text_is_in_the_language_of_the_user_or_in_english(locale: str, said: str):
    assert local(TEXTS, locale) == said


def test_without_english_any_language_is_used():
    assert local({"ja_JP": "深さ"}, "de_DE") == "深さ"
    assert local({"de_DE": " ", "ja_JP": "深さ"}, "de_DE") == "深さ"
    assert local({"zh_Hant": "繁", "en_US": "Depth"}, "zh_CN") == "Depth", "another script is another text"
    assert local({}, "de_DE") == local(None, "de_DE") == ""


@pytest.mark.parametrize(
    ("environ", "locale"),
    [
        ({}, "en_US"),
        ({"LANG": "C.UTF-8"}, "en_US"),
        ({"LANG": "de_DE.UTF-8"}, "de_DE"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR"}, "fr_FR"),
        ({"LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "ca_ES@valencia"}, "ca_ES"),
        ({"LANG": "de_DE", "LC_ALL": ""}, "de_DE"),
    ],
)
def test_language_of_the_user_is_that_of_the_terminal(environ: dict[str, str], locale: str):
    assert user_locale(environ) == locale
