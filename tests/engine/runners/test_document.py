import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.runners.document import MAX_BYTES, read
from engine.runners.errors import InvalidFile

TAGS = ("set", "bool", "int", "float", "timestamp", "null", "map", "seq", "str", "binary", "omap", "pairs")
PIECES = [*"a\n-[]{},'\"|>#%\t\x00é1:~?=", ": ", "  ", "- ", "&x ", "*x", "!x ", "<<", "---", "...", "1.5"]
PIECES += [f"!!{tag} " for tag in TAGS]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join).map(str.encode) | st.binary(max_size=60))
def test_any_bytes_are_parsed_or_reported_as_broken(tmp_path: Path, content: bytes):
    path = tmp_path / "any.yaml"
    path.write_bytes(content)

    with contextlib.suppress(InvalidFile):
        read(path)


@pytest.mark.parametrize("value", ["!!bool perhaps", "!!int ''", "!!float x", "9" * 5_000])
def test_value_that_does_not_match_its_yaml_tag_is_reported(write, value: str):
    with pytest.raises(InvalidFile, match="a value does not fit its YAML tag"):
        read(write("a.yaml", f"a: {value}\n"))


def test_line_number_is_that_of_the_key_or_its_nearest_parent(write):
    document = read(write("a.yaml", "a:\n  b:\n    - x\n    - y: 1\n"))

    assert document.line(("a", "b", 1, "y")) == 4
    assert document.line(("a", "b", 9)) == 2
    assert document.line(("a", "missing")) == 1
    assert document.line(("missing",)) is None


def test_a_file_that_is_too_large_or_not_there_or_not_text_is_broken(tmp_path: Path):
    path = tmp_path / "a.yaml"
    with pytest.raises(InvalidFile, match="cannot be read: No such file or directory"):
        read(path)
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(InvalidFile, match="larger than 1,048,576 bytes"):
        read(path)
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(InvalidFile, match="not UTF-8: invalid start byte") as caught:
        read(path)
    assert caught.value.line == 2


def test_values_are_json_values_and_keys_are_text(write):
    path = write("a.yaml", "on: 2026-01-02\n1: [~, 1.5, 0x10, yes]\nbase: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\n")

    assert read(path).value == {
        "on": "2026-01-02",
        "1": [None, 1.5, 16, True],
        "base": {"x": 1},
        "more": {"x": 1, "y": 2},
    }
