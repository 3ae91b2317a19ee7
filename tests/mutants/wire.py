"""Mutants of the wire between host and child."""

from typing import Final

from tests.mutants.mutant import Mutant

_FILE: Final = "engine/runtimes/wire.py"
_TESTS: Final = "tests/engine/runtimes/test_wire.py"

MUTANTS: Final = (
    Mutant(
        _FILE,
        "if type(text) is not str or offset != self.size:",
        "if type(text) is not str:",
        "a fragment at a wrong offset invalidates its frame",
        f"{_TESTS}::test_a_fragment_at_a_wrong_offset_makes_no_frame",
    ),
    Mutant(
        _FILE,
        "if joining.size != joining.total:",
        "if joining.size > joining.total:",
        "a split frame that ends too early is a fault",
        f"{_TESTS}::test_a_split_frame_that_ends_too_early_is_a_fault",
    ),
    Mutant(
        _FILE,
        "elif total > self._limit:",
        "elif total > 2 * self._limit:",
        "a split frame over the limit is refused",
        f"{_TESTS}::test_a_split_frame_over_the_limit_is_one_fault_with_its_size",
    ),
    Mutant(
        _FILE,
        "if len(self._tail) > self._limit:",
        "if len(self._tail) > 10 * self._limit:",
        "a line over the limit is not buffered",
        f"{_TESTS}::test_a_line_over_the_limit_is_skipped_with_bounded_memory",
    ),
    Mutant(
        _FILE,
        "MAX_FRAME: Final = 2 * 1024 * 1024",
        "MAX_FRAME: Final = 2 * 1000 * 1024",
        "a frame has at most 2 MiB",
        f"{_TESTS}::test_frame_over_the_limit_is_refused_when_sent",
    ),
    Mutant(
        _FILE,
        "MAX_FRAGMENTS: Final = 4096",
        "MAX_FRAGMENTS: Final = 8192",
        "a frame has at most 4,096 fragments",
        f"{_TESTS}::test_more_than_4096_fragments_are_refused",
    ),
    Mutant(
        _FILE,
        "depth: int = MAX_DEPTH + 1",
        "depth: int = MAX_DEPTH + 2",
        "the payload of a frame is at most 100 levels deep",
        f"{_TESTS}::test_a_payload_may_be_100_deep_and_no_deeper",
    ),
    Mutant(
        _FILE,
        "            parse_constant=_refuse_constant,\n",
        "            parse_constant=float,\n",
        "NaN and Infinity are refused",
        f"{_TESTS}::test_numbers_that_are_not_json_are_refused",
    ),
    Mutant(
        _FILE,
        "while end < len(line) and line[end] & 0xC0 == 0x80:",
        "while end < len(line) and line[end] & 0xC0 == 0xFF:",
        "a frame is never split inside a character",
        f"{_TESTS}::test_long_frame_is_sent_in_fragments_and_reassembled",
    ),
    Mutant(
        _FILE,
        "return _without_surrogates(value)\n",
        "return value\n",
        "a lone surrogate becomes U+FFFD",
        f"{_TESTS}::test_lone_surrogates_become_replacement_characters",
    ),
)
