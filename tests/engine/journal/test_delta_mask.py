"""Secrets that a runner splits over the chunks of a streamed message are masked where the chunks are joined."""

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.journal.delta_mask import DeltaMask
from engine.journal.delta_text import DeltaText
from engine.journal.secret_mask import SecretMask
from tests.support.engines import Engines, delta, done, failed, journal_of, lines_of, run_event

KEY, PASSWORD = "sk-abcdefgh", "hunter2-token"
MARK, PASSWORD_MARK = "‹secret api_key›", "‹secret password›"
MASK = SecretMask({KEY: "api_key", PASSWORD: "password"})
SECRETS = {"config": {"api_key": KEY}}
WORDS = st.lists(st.sampled_from([KEY, PASSWORD, "hunter", "sk-", "s", "h", " and ", "token"]), min_size=1, max_size=5)


def chunks_of(pieces: list[str], kind: str) -> list[dict[str, Any]]:
    """Return the chunks of a stream: fragments, snapshots, or fragments with the whole text beside them."""
    so_far = ["".join(pieces[: number + 1]) for number in range(len(pieces))]
    return {
        "fragments": [{"content": piece} for piece in pieces],
        "snapshots": [{"content": text} for text in so_far],
        "both": [{"content": piece, "all_content": text} for piece, text in zip(pieces, so_far, strict=True)],
    }[kind]


def recorded(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mask = DeltaMask(MASK)
    shown = [mask.cover(chunk) for chunk in chunks]
    held = mask.take_held()
    return shown if held is None else [*shown, held]


def joined(chunks: list[dict[str, Any]]) -> str:
    text = DeltaText()
    for chunk in chunks:
        text.add(chunk.get("content") or "", chunk.get("all_content"))
    return text.text


@pytest.mark.parametrize("kind", ["fragments", "snapshots", "both"])
@given(words=WORDS, cuts=st.sets(st.integers(1, 60), max_size=12))
@example(words=[KEY], cuts={4, 5, 7, 8, 10})
@example(words=["h", "hunter"], cuts=set())
@example(words=["sk-abzsk-abzz"], cuts={3, 5, 6})
@example(words=["s", KEY], cuts={1, 3})
@example(words=["s", KEY, KEY, KEY], cuts={1, 26})
def test_a_split_secret_is_masked_and_no_other_text_is_lost(kind: str, words: list[str], cuts: set[int]):
    text = "".join(words)
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    chunks = chunks_of([text[start:end] for start, end in itertools.pairwise(places)], kind)
    sent = joined(chunks)

    shown = joined(recorded(chunks))

    assert KEY not in shown
    assert PASSWORD not in shown
    plain = shown.replace(MARK, "").replace(PASSWORD_MARK, "")
    rest = sent.replace(PASSWORD, "").replace(KEY, "")
    assert is_part_of(rest, plain)
    # Up to two characters of each secret stay in front of its mark.
    assert len(plain) - len(rest) <= 2 * (shown.count(MARK) + shown.count(PASSWORD_MARK))


def is_part_of(part: str, text: str) -> bool:
    """Return whether the characters of `part` are in `text`, in this order."""
    characters = iter(text)
    return all(character in characters for character in part)


def test_chunks_without_a_secret_are_recorded_as_they_came():
    chunks = [{"content": "Good "}, {"content": "morning"}, {"content": None, "is_final": True}]
    mask = DeltaMask(MASK)

    assert all(mask.cover(chunk) is chunk for chunk in chunks)
    assert not mask.holds_text


def test_every_entry_hides_the_greater_part_of_a_secret():
    pieces = list(KEY)

    shown = [chunk["content"] for chunk in recorded(chunks_of(pieces, "fragments"))]

    assert "".join(shown) == f"sk{MARK}"


async def test_a_secret_split_over_two_deltas_is_masked_in_journal_and_transcript(open_engine: Engines):
    async def streams(ctx):
        yield delta("the key is sk-abc")
        yield delta("defgh, keep it")
        yield done()

    engine = await open_engine(streams)
    run = await run_event(engine, **SECRETS)

    deltas = [entry.data["chunk"]["content"] for entry in run.all("message.delta")]
    assert deltas == ["the key is ", f"{MARK}, keep it"]
    assert (await lines_of(engine))[-1] == ("assistant", f"the key is {MARK}, keep it")
    assert "sk-abc" not in str(await journal_of(engine, run.run_id))


@pytest.mark.parametrize("end", [done(), failed("no"), None], ids=["completed", "failed", "no end"])
async def test_text_that_only_looked_like_a_secret_is_recorded_before_the_end(open_engine: Engines, end: Any):
    async def streams(ctx):
        yield delta("it begins with sk-a")
        if end is not None:
            yield end

    run = await run_event(await open_engine(streams), **SECRETS)

    deltas = [entry.data["chunk"]["content"] for entry in run.all("message.delta")]
    assert deltas == ["it begins with ", "sk-a"]
    assert run.types[2:4] == ["message.delta", "message.delta"]
