"""MIME types by file name, the same on every machine."""

import mimetypes
from collections.abc import Mapping
from functools import cache
from typing import Final

UNKNOWN: Final = "application/octet-stream"
_PACKED: Final[Mapping[str, str]] = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "compress": "application/x-compress",
}
_MORE: Final[Mapping[str, str]] = {
    ".avif": "image/avif",
    ".webp": "image/webp",
    ".m4a": "audio/mp4",
    ".md": "text/markdown",
    ".ogg": "audio/ogg",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""Types that mimetypes does not know in every version of Python."""


def mime_type_of(name: str) -> str:
    """Return the MIME type, such as `image/png`; `application/octet-stream` if the name does not tell."""
    kind, packing = _known().guess_type(name.lower(), strict=False)
    return _PACKED.get(packing, UNKNOWN) if packing else kind or UNKNOWN


@cache
def _known() -> mimetypes.MimeTypes:
    # An own table: the system's files give the same name different types on different machines.
    known = mimetypes.MimeTypes()
    for ending, kind in _MORE.items():
        known.add_type(kind, ending)
    return known
