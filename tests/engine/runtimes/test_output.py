"""Printed output arrives as bounded lines, whatever the bytes."""

from hypothesis import given
from hypothesis import strategies as st

from engine.runtimes.output import MAX_LINE_BYTES, OutputLines


def read(data: bytes, step: int = 7, mark: bytes = b"") -> tuple[list[str], bool]:
    lines, found, marked = OutputLines(), [], False
    lines.mark = mark
    for start in range(0, len(data), step):
        complete, seen = lines.feed(data[start : start + step])
        found += complete
        marked |= seen
    return found + lines.rest(), marked


@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_in_any_chunks_are_the_same_lines(data, step):
    assert read(data, step) == read(data, 1000)


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\r"), max_size=100))
def test_output_text_is_unchanged(text):
    lines = text.split("\n")
    assert read(text.encode())[0] == (lines if lines[-1] else lines[:-1])


def test_a_line_of_100_kb_comes_in_two_pieces():
    found, _ = read(b"x" * 100_000 + b"\nnext\n", 4096)
    assert [len(line) for line in found] == [MAX_LINE_BYTES, 100_000 - MAX_LINE_BYTES, 4]


def test_endless_line_is_passed_on_in_bounded_pieces():
    lines = OutputLines()
    found = [piece for _ in range(100) for piece in lines.feed(b"y" * 10_000)[0]]
    assert len(found) == 1_000_000 // MAX_LINE_BYTES
    assert len(lines._pending) <= MAX_LINE_BYTES


def test_pieces_are_never_split_inside_a_character():
    found, _ = read("é".encode() * MAX_LINE_BYTES + b"\n", 8192)
    assert "".join(found) == "é" * MAX_LINE_BYTES


def test_bytes_that_are_not_utf8_are_replaced():
    assert read(b"caf\xe9 \xff\xfe\n")[0] == ["caf� ��"]


def test_end_marker_after_an_unfinished_line_is_found_and_not_shown():
    assert read(b"one\ntwo\0mark\n", mark=b"\0mark") == (["one", "two"], True)
    assert read(b"one\n\0mark\n", mark=b"\0mark") == (["one"], True)
    almost = b"z" * (MAX_LINE_BYTES - 3)
    assert read(almost + b"\0mark\n", 1000, b"\0mark") == ([almost.decode()], True)
