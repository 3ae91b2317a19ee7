"""Joins the chunks of a streamed message, which may be fragments or snapshots."""

from typing import Final

TEXT_LIMIT: Final = 2 * 1024 * 1024
"""Characters of one message that are joined; a runner that streams more has gone wrong."""


class DeltaText:
    """Reads chunks one by one and returns the text so far.

    `all_content` takes precedence. Without it the chunks are snapshots as long as each starts with the previous one and
    some chunk grew; otherwise they are fragments and are joined. Snapshots are stored as the longest one and the length
    of each, so that a stream which turns out to be fragments is still joined correctly. No text is built that is longer
    than the limit.
    """

    def __init__(self) -> None:
        self._head = ""
        self._fragments: list[str] = []
        self._size = 0
        self._snapshot = ""
        self._lengths: list[list[int]] = []
        """The length of each snapshot, and how many of this length came in succession."""
        self._grew = False
        self.was_cut = False

    def add(self, content: str, all_content: str | None = None) -> None:
        """Add the next chunk. Chunks without text, such as a bare final mark, change nothing."""
        if all_content:
            self._head = self._within_limit(all_content)
            self._fragments, self._size = [], 0
        elif not content:
            return
        elif self._head or self._fragments:
            self._join(content)
        elif not self._lengths or content.startswith(self._snapshot):
            self._grew = self._grew or (bool(self._lengths) and len(content) > len(self._snapshot))
            self._snapshot = content
            if self._lengths and self._lengths[-1][0] == len(content):
                self._lengths[-1][1] += 1
            else:
                self._lengths.append([len(content), 1])
        else:
            for length, times in self._lengths:
                self._join(_repeated(self._snapshot[:length], times))
                if self.was_cut:
                    break
            self._join(content)

    @property
    def text(self) -> str:
        """Return the whole text so far."""
        if self._head or self._fragments:
            return self._head + "".join(self._fragments)
        if self._grew or not self._lengths:
            return self._within_limit(self._snapshot)
        return self._within_limit(_repeated(self._snapshot, self._lengths[0][1]))

    @property
    def is_bare_fragments(self) -> bool:
        """Return whether LangBot, which reads chunks as snapshots, would show only the last chunk."""
        return len(self._fragments) > 1 or (not self._grew and bool(self._lengths) and self._lengths[0][1] > 1)

    @property
    def is_joined(self) -> bool:
        """Return whether the next chunk without `all_content` is simply appended to the text."""
        return bool(self._head or self._fragments)

    def _join(self, fragment: str) -> None:
        room = TEXT_LIMIT - len(self._head) - self._size
        if len(fragment) > room:
            self.was_cut = True
            fragment = fragment[:room]
        if fragment:
            self._fragments.append(fragment)
            self._size += len(fragment)

    def _within_limit(self, text: str) -> str:
        self.was_cut = self.was_cut or len(text) > TEXT_LIMIT
        return text[:TEXT_LIMIT]


def _repeated(text: str, times: int) -> str:
    """Return the text so many times, but not much more of it than the limit."""
    return text * min(times, TEXT_LIMIT // len(text) + 1)
