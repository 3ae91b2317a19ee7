"""Chooses texts in the user's language."""

import os
from collections.abc import Mapping
from typing import Final

from engine.protocol.manifest import DEFAULT_LOCALE

_SCRIPTS: Final = {
    "zh_cn": "zh_hans",
    "zh_sg": "zh_hans",
    "zh": "zh_hans",
    "zh_tw": "zh_hant",
    "zh_hk": "zh_hant",
    "zh_mo": "zh_hant",
}
"""Chinese scripts by country: LangBot names the script, systems name the country."""


def user_locale(environ: Mapping[str, str] = os.environ) -> str:
    """Return the language of the terminal's environment."""
    value = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    name = value.partition(".")[0].partition("@")[0]
    return DEFAULT_LOCALE if name in {"", "C", "POSIX"} else name


def local(texts: Mapping[str, str] | None, locale: str) -> str:
    """Return the text in this language or a related one, else English, else any."""
    if not texts:
        return ""
    by_name = {_plain(name): text for name, text in texts.items() if text.strip()}
    for wanted in (_plain(locale), _plain(DEFAULT_LOCALE)):
        language = wanted.partition("_")[0]
        # Two scripts of one language are not like each other.
        like = (name for name in by_name if language != "zh" and name.partition("_")[0] == language)
        if (found := wanted if wanted in by_name else next(like, None)) is not None:
            return by_name[found]
    return next(iter(by_name.values()), "")


def _plain(locale: str) -> str:
    name = locale.lower().replace("-", "_")
    return _SCRIPTS.get(name, name)
