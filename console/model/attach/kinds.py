"""What a file is, by its name: as the chip says it, and the artifact after it."""


def kind_of(name: str) -> str:
    """`image/png`, `text/plain`; `file` where the name says nothing."""
    from engine.events import UNKNOWN_TYPE, mime_type_of  # noqa: PLC0415  (the first frame needs neither)

    kind = mime_type_of(name)
    return "file" if kind == UNKNOWN_TYPE else kind
