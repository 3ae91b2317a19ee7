"""The decoder turns any input into frames and faults."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.runtimes import wire
from engine.runtimes.wire import Decoder, Fault, Unencodable, encode

text = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)
frames = st.builds(lambda seq, data: {"seq_id": seq, "code": 0, "data": data}, st.integers(0, 2**31), values)


def decoded(data: bytes, cuts: list[int] | None = None, limit: int = wire.MAX_FRAME) -> list[Any]:
    decoder, start, found = Decoder(limit), 0, []
    for cut in [*sorted(cuts or []), len(data)]:
        found += decoder.feed(data[start:cut])
        start = max(start, cut)
    return found


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def only_fault(data: bytes, limit: int = wire.MAX_FRAME) -> Fault:
    [fault] = decoded(data, limit=limit)
    assert isinstance(fault, Fault)
    return fault


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_decoder_never_raises_for_any_bytes(chunks):
    decoder = Decoder(limit=300)
    for chunk in chunks:
        for item in decoder.feed(chunk):
            assert isinstance(item, Fault | tuple)
    decoder.finish()


@given(st.lists(frames, max_size=5), st.lists(st.integers(0, 2000), max_size=10))
def test_valid_frames_survive_any_chunking(sent, cuts):
    data = b"".join(encode(frame) for frame in sent)
    cuts = [min(cut, len(data)) for cut in cuts]
    assert [item[0] for item in decoded(data, cuts)] == sent


@given(st.lists(frames, min_size=1, max_size=3), st.binary(max_size=60).filter(lambda b: b"\n" not in b))
def test_garbage_between_frames_loses_no_frame(sent, garbage):
    data = b"".join(garbage + b"\n" + encode(frame) for frame in sent)
    assert [item[0] for item in decoded(data) if not isinstance(item, Fault)] == sent


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 120_000), max_size=12), st.integers(0, 3))
def test_long_frame_is_sent_in_fragments_and_reassembled(cuts, shift):
    frame = {"seq_id": 1, "code": 0, "data": "x" * shift + "日本語" * 6000}
    data = encode(frame)
    assert data.startswith(b'{"type":"chunk_start"')
    assert all(len(part) < 64 * 1024 for part in data.split(b"\n"))
    [(arrived, size)] = decoded(data, [min(cut, len(data)) for cut in cuts])
    assert arrived == frame
    assert size == len(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode())


def test_langbots_own_fragments_are_understood():
    whole = json.dumps({"seq_id": 4, "action": "ready", "data": {"text": "é" * 9}}, ensure_ascii=False)
    first, second = whole[:45], whole[45:]
    data = line({"type": "chunk_start", "total_size": len(whole.encode())})
    data += line({"type": "chunk_data", "data": first, "offset": 0})
    data += line({"type": "chunk_data", "data": second, "offset": len(first.encode())})
    data += line({"type": "chunk_end"})
    [(frame, _)] = decoded(data)
    assert frame == json.loads(whole)


def test_a_line_over_the_limit_is_skipped_with_bounded_memory():
    decoder = Decoder(limit=1000)
    for _ in range(100):
        assert decoder.feed(b"x" * 500) == []
        assert len(decoder._tail) <= 1500
    [fault, (frame, _)] = decoder.feed(b"x\n" + encode({"seq_id": 1, "code": 0}))
    assert fault == Fault("larger than 1000 bytes", 50_001)
    assert frame == {"seq_id": 1, "code": 0}


def test_a_split_frame_over_the_limit_is_one_fault_with_its_size():
    data = encode({"seq_id": 1, "code": 0, "data": "x" * 50_000})
    fault = only_fault(data, limit=40_000)
    assert fault.reason == "larger than 40000 bytes"
    assert fault.size > 50_000


@pytest.mark.parametrize(("offset", "total"), [(7, 30), (-1, 30), (None, 30), ("0", 30), (True, 30), (0, 3)], ids=repr)
def test_wrong_offset_or_size_affects_only_that_frame(offset, total):
    data = line({"type": "chunk_start", "total_size": total})
    data += line({"type": "chunk_data", "data": "some text", "offset": offset})
    data += line({"type": "chunk_data", "data": "more", "offset": 9})
    data += line({"type": "chunk_end"}) + encode({"seq_id": 1, "code": 0})
    fault, (frame, _) = decoded(data)
    assert isinstance(fault, Fault)
    assert frame["seq_id"] == 1


def test_a_fragment_at_a_wrong_offset_makes_no_frame():
    whole = '{"seq_id":7,"code":0}'
    data = line({"type": "chunk_start", "total_size": len(whole)})
    data += line({"type": "chunk_data", "data": whole[:10], "offset": 0})
    data += line({"type": "chunk_data", "data": whole[10:], "offset": 11}) + line({"type": "chunk_end"})
    assert only_fault(data) == Fault("a fragment at 11 where 10 was due", 10)


def test_a_split_frame_that_ends_too_early_is_a_fault():
    data = line({"type": "chunk_start", "total_size": 20}) + line({"type": "chunk_end"})
    assert only_fault(data) == Fault("a split frame ended too early", 0)


def test_frame_inside_a_split_frame_ends_the_split_frame():
    data = line({"type": "chunk_start", "total_size": 20}) + encode({"seq_id": 1, "code": 0})
    fault, (frame, _) = decoded(data)
    assert fault == Fault("a split frame was broken off", 0)
    assert frame["seq_id"] == 1


def test_more_than_4096_fragments_are_refused():
    data = line({"type": "chunk_start", "total_size": 20})
    data += line({"type": "chunk_data", "data": "", "offset": 0}) * 5000 + line({"type": "chunk_end"})
    assert only_fault(data).reason == "more than 4096 fragments"


def test_empty_fragments_are_one_fault():
    data = line({"type": "chunk_data", "data": "a", "offset": 0}) * 3 + line({"type": "chunk_end"})
    assert only_fault(data).reason == "a fragment of no frame"


def test_incomplete_frame_at_the_end_is_reported():
    decoder = Decoder()
    decoder.feed(b'{"seq_id":1,"co')
    assert decoder.finish() == [Fault("the wire ended inside a frame", 15)]
    decoder.feed(
        line({"type": "chunk_start", "total_size": 9}) + line({"type": "chunk_data", "data": "ab", "offset": 0})
    )
    assert decoder.finish() == [Fault("the wire ended inside a frame", 2)]
    assert decoder.finish() == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-" + "9" * 400])
def test_numbers_that_are_not_json_are_refused(number):
    assert "not JSON" in only_fault(b'{"seq_id":1,"code":0,"data":%s}\n' % number.encode()).reason


@pytest.mark.parametrize("quick", [True, False])
def test_lone_surrogates_become_replacement_characters(monkeypatch, quick):
    if not quick:
        monkeypatch.setattr(wire, "_quick_loads", None)
    [(frame, _)] = decoded(b'{"seq_id":1,"code":0,"data":{"a\\ud800":"x\\udfff \\ud83d\\ude00"}}\n')
    assert frame["data"] == {"a�": "x� 😀"}
    [(frame, _)] = decoded(encode({"seq_id": 1, "code": 0, "data": ["\ud800"]}))
    assert frame["data"] == ["�"]


def test_bytes_that_are_not_utf8_are_a_fault():
    assert only_fault(b'{"seq_id":1,"code":0,"data":"\xff"}\n').reason == "not UTF-8"


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [100, 101, 900, 100_000])
def test_a_payload_may_be_100_deep_and_no_deeper(monkeypatch, quick, opening, depth):
    if not quick:
        monkeypatch.setattr(wire, "_quick_loads", None)
    closing = "]" if opening == "[" else "}"
    value = opening * (depth - 1) + ("[]" if opening == "[" else "{}") + closing * (depth - 1)
    [item] = decoded(b'{"seq_id":1,"code":0,"data":%s}\n' % value.encode())
    assert isinstance(item, Fault) == (depth > 100)
    if depth > 100:
        assert item.reason == "nested deeper than 100"


def test_many_brackets_side_by_side_do_not_count_as_depth():
    [(frame, _)] = decoded(encode({"seq_id": 1, "code": 0, "data": [[]] * 500}))
    assert len(frame["data"]) == 500


@pytest.mark.parametrize(
    "shape",
    [1, "x", [], {}, {"seq_id": "1", "code": 0}, {"seq_id": 1}, {"action": "x"}, {"type": "chunky"}, {"type": []}],
    ids=repr,
)
def test_values_that_are_not_frames_are_faults(shape):
    assert only_fault(line(shape)).reason == "not a frame of the wire"


def test_empty_lines_are_ignored():
    assert decoded(b"\n\n  \n\r\n") == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1}, print, b"bytes", "deep", "circle", "huge"], ids=repr)
def test_value_that_cannot_be_encoded_as_json_is_refused_when_sent(bad):
    if bad == "deep":
        bad = []
        for _ in range(100):
            bad = [bad]
    elif bad == "huge":
        bad = 10**5000
    elif bad == "circle":
        bad = []
        bad.append(bad)
    with pytest.raises(Unencodable):
        encode({"seq_id": 1, "code": 0, "data": bad})


def test_frame_over_the_limit_is_refused_when_sent():
    with pytest.raises(Unencodable, match="more than the 2097152 that fit"):
        encode({"seq_id": 1, "code": 0, "data": "x" * wire.MAX_FRAME}, wire.MAX_FRAME)


def decoded_in_steps(data: bytes, max_parsed: int) -> list[Any]:
    """As the host decodes: long lines are parsed outside of the decoder."""
    decoder = Decoder(max_parsed=max_parsed)
    found = decoder.feed(data)
    while decoder.unparsed is not None:
        found += decoder.resume(wire.parse(decoder.unparsed))
    return found


@given(st.lists(frames, max_size=4), st.binary(max_size=60), st.integers(0, 200))
def test_lines_that_are_parsed_elsewhere_keep_their_place(sent, garbage, max_parsed):
    data = b"".join(encode(frame) + wire.split(b"[%b]" % garbage) for frame in sent)
    assert decoded_in_steps(data, max_parsed) == decoded(data)


def test_a_joined_frame_that_is_parsed_elsewhere_keeps_its_place():
    sent = [{"seq_id": number, "code": 0, "data": "x" * (40_000 if number == 2 else 5)} for number in (1, 2, 3)]
    found = decoded_in_steps(b"".join(encode(frame) for frame in sent), 1_000)
    assert [item[0] for item in found] == sent


@given(values)
def test_the_depth_of_text_is_that_of_its_value(value):
    text = json.dumps(value).encode()
    for limit in range(1, 6):
        assert wire.text_too_deep(text, limit) == wire.too_deep(value, limit)


@pytest.mark.parametrize("unit", [b'"', b'\\"', b"\\", b'"\\', b'"["'])
def test_text_of_any_kind_is_searched_in_linear_time(unit):
    text = b"[" * 200_000 + unit * 300_000
    wire.text_too_deep(text, 10**9)
    assert wire.too_wide(text)


def test_only_containers_outside_of_text_count():
    assert not wire.too_wide(json.dumps(["[{" * 100_000]).encode())
    assert not wire.too_wide(json.dumps([[]] * (wire.MAX_CONTAINERS - 1)).encode())
    assert wire.too_wide(json.dumps([{}] * wire.MAX_CONTAINERS).encode())


@given(st.integers(0, 2**40), values)
def test_a_reply_of_text_is_the_same_frame(number, value):
    reply = {"seq_id": number, "code": 0, "message": "success", "data": value, "chunk_status": "continue"}
    [(frame, _)] = decoded(wire.encode_reply(number, json.dumps(value).encode()))
    assert frame == reply


def test_a_reply_of_text_has_the_limits_of_any_other():
    with pytest.raises(Unencodable, match="nested deeper than 100"):
        wire.encode_reply(1, b"[" * 101 + b"]" * 101)
    with pytest.raises(wire.TooLarge):
        wire.encode_reply(1, b'"' + b"x" * wire.MAX_REPLY + b'"')
