"""Where in a document something is said."""

KeyPath = tuple[str | int, ...]


def dotted(keys: KeyPath) -> str:
    """The key path as people write it: `agents[1].runner`."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text
