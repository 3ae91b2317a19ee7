"""Formats exceptions from the first line of the author's own code."""

import traceback
from pathlib import Path
from types import TracebackType
from typing import Final

MAX_TRACEBACK_CHARS: Final = 64 * 1024

_OURS: Final = str(Path(__file__).resolve().parent.parent)


def sentence(error: BaseException) -> str:
    """Return one line such as `ValueError: no such model`."""
    try:
        text = str(error)
    except Exception as unprintable:  # noqa: BLE001 - `__str__` is the author's code
        text = f"(its text cannot be shown: {type(unprintable).__name__})"
    name = type(error).__name__
    return f"{name}: {text}"[:4000] if text else name


def report(error: BaseException) -> str:
    """Return the traceback without our own frames at its top."""
    text = "".join(traceback.format_exception(type(error), error, _trimmed(error.__traceback__)))
    if len(text) > MAX_TRACEBACK_CHARS:
        half = MAX_TRACEBACK_CHARS // 2
        text = f"{text[:half]}\n… {len(text) - MAX_TRACEBACK_CHARS} characters left out …\n{text[-half:]}"
    return text


def _trimmed(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith((_OURS, "<frozen importlib")):
        frames = frames.tb_next
    return frames
