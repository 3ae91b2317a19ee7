"""A runner that writes raw bytes to the wire, without the worker. The message names the attack."""

import base64
import json
import os
import select
from collections.abc import Callable
from pathlib import Path

from engine.protocol import AgentRunContext

WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\0")[2])
MIB = 1 << 20
runs = 0


def frame(result: bytes | str | dict, status: str = "continue") -> bytes:
    if isinstance(result, dict):
        result = json.dumps(result)
    if isinstance(result, str):
        result = result.encode()
    head = b'{"seq_id":%d,"code":0,"message":"success","data":' % runs
    return head + result + b',"chunk_status":"%b"}\n' % status.encode()


def state(value: str) -> bytes:
    """Return a state.updated frame with this JSON text as its value."""
    return frame('{"type":"state.updated","data":{"scope":"conversation","key":"k","value":' + value + "}}")


def kind(text: str, data: str = "{}", more: str = "") -> bytes:
    return frame('{"type":' + text + ',"data":' + data + more + "}")


def artifact(**data: object) -> bytes:
    return frame({"type": "artifact.created", "data": {"artifact_type": "file", **data}})


def call(number: int, action: object, data: object = None) -> bytes:
    return json.dumps({"seq_id": number, "action": action, "data": {} if data is None else data}).encode() + b"\n"


ATTACKS: dict[str, Callable[[], bytes]] = {
    "result over 1 MiB": lambda: kind('"tool.call.started"', json.dumps({"x": "y" * MIB})),
    "line over 2 MiB": lambda: kind('"tool.call.started"', json.dumps({"x": "y" * 2 * MIB})),
    "line of 5 MiB without an end": lambda: b"x" * (5 * MIB) + b"\n",
    "artifact of 1 MiB": lambda: artifact(artifact_id="fits", content_base64=base64.b64encode(bytes(MIB)).decode()),
    "10,000 levels": lambda: state("[" * 10_000 + "]" * 10_000),
    "10,000 objects deep": lambda: state('{"a":' * 10_000 + "1" + "}" * 10_000),
    "101 levels": lambda: state("[" * 101 + "]" * 101),
    "brackets in a string": lambda: state(json.dumps("[" * 5_000)),
    "15,000 keys": lambda: state(json.dumps({f"{number}": 0 for number in range(15_000)})),
    "type of a million characters": lambda: kind(json.dumps("t" * 1_000_000)),
    "type that is a number": lambda: kind("7"),
    "type that is empty": lambda: kind('""'),
    "types of the host": lambda: b"".join(
        kind(json.dumps(name), data)
        for name, data in (
            ("run.finished", '{"status":"completed","reason":"stop"}'),
            ("run.started", "{}"),
            ("output", '{"stream":"stdout","text":"forged"}'),
            ("warning", '{"message":"forged"}'),
            ("call.requested", '{"call_id":"1","action":"invoke_llm"}'),
            ("steering.pulled", '{"items":[1]}'),
            ("cancel.requested", "{}"),
        )
    ),
    "integer of 70 bits": lambda: state(str(2**70)),
    "integer of 64 bits": lambda: state(str(2**64 - 1)),
    "integer of 5,000 digits": lambda: state("1" * 5_000),
    "NaN": lambda: state("NaN"),
    "Infinity": lambda: state("-Infinity"),
    "1e999": lambda: state("1e999"),
    "half a character": lambda: state(r'"\ud800 and \udc00"'),
    "half a character in the type": lambda: kind(r'"x\ud800"'),
    "bytes that are no UTF-8": lambda: state('"').replace(b'"}}', b'\xff\xfe"}}'),
    "null characters": lambda: state(r'"a\u0000b"'),
    "sequences": lambda: b"".join(
        kind('"tool.call.started"', "{}", f',"sequence":{number}')
        for number in (2**70, 2**63, -(2**63), 1.5, "true", '"1"', "[1]", 2**63 - 1)
    ),
    "size of 64 bits": lambda: artifact(artifact_id="a", size_bytes=2**64 - 1),
    "usage of 64 bits": lambda: b"".join(
        kind('"tool.call.started"', "{}", ',"usage":' + json.dumps({"tokens": 2**64 - 1, "cost": 1e308}))
        for _ in range(3)
    ),
    "usage with a long name": lambda: b"".join(
        kind('"tool.call.started"', "{}", ',"usage":' + json.dumps({f"{number}" + "n" * 100_000: 1}))
        for number in range(20)
    ),
    "usage that is text": lambda: kind('"tool.call.started"', "{}", ',"usage":"lots"'),
    "data that is a list": lambda: kind('"message.delta"', "[1,2]"),
    "data that is null": lambda: kind('"tool.call.started"', "null"),
    "tool call without an id": lambda: kind('"tool.call.completed"', '{"tool_call_id":{"a":[1]}}'),
    "run id that is an object": lambda: kind('"message.delta"', "{}", ',"run_id":{"a":1}'),
    "state of 300 KiB": lambda: state(json.dumps("x" * 300 * 1024)),
    "10,000 state keys": lambda: b"".join(
        frame({"type": "state.updated", "data": {"scope": "conversation", "key": f"k{number}", "value": number}})
        for number in range(10_000)
    ),
    "20,000 bad lines": lambda: b"x\n" * 20_000,
    "200,000 arrays": lambda: state("[" + ",".join(["[]"] * 200_000) + "]"),
    "message of 20,000 parts": lambda: frame(
        {
            "type": "message.completed",
            "data": {"message": {"role": "assistant", "content": [{"type": "text"}] * 20_000}},
        }
    ),
    "200,000 brackets in a string": lambda: state(json.dumps("[" * 200_000)),
    "garbage": lambda: b'\x00\x01\xff garbage\n\n\n{}\n[]\nnull\n{"seq_id":1}\n',
    "frame of no run": lambda: frame("{}").replace(b'"seq_id":%d' % runs, b'"seq_id":999'),
    "fragments": lambda: (
        b'{"type":"chunk_data","data":"x","offset":0}\n{"type":"chunk_end"}\n'
        b'{"type":"chunk_start","total_size":%d}\n{"type":"chunk_data","data":"x","offset":0}\n{"type":"chunk_end"}\n'
        % 2**62
        + b'{"type":"chunk_start","total_size":5000}\n'
        + b"".join(b'{"type":"chunk_data","data":"x","offset":%d}\n' % number for number in range(5_000))
        + b'{"type":"chunk_end"}\n'
        + b'{"type":"chunk_start","total_size":9}\n{"type":"chunk_data","data":"x","offset":4}\n{"type":"chunk_end"}\n'
    ),
    "unreadable that says so itself": lambda: frame({"reason": "r" * 10_000, "size": 2**64 - 1}, "unreadable"),
    "calls": lambda: b"".join(
        (
            call(1, "run_get"),
            call(2, "format_disk", {"all": True}),
            call(3, "run_get", [1]),
            call(4, "ready"),
            call(5, "loaded", {"files": "x"}),
            call(6, "__cancel_action", {"seq_id": "x"}),
            call(2**62, "x" * 100_000),
            call(7, "run_get", {"deep": json.loads("[" * 90 + "]" * 90)}),
        )
    ),
    "3,000 calls": lambda: b"".join(call(number, "run_get") for number in range(1, 3_001)),
    "end of the stream": lambda: frame('{"files":[],"clean":true}', "end"),
    "failed end": lambda: frame("{}", "end").replace(b'"code":0', b'"code":1'),
}


def write(data: bytes) -> None:
    left = memoryview(data)
    while left:
        select.select([], [WIRE], [])
        left = left[os.write(WIRE, left[:4096]) :]


async def run(ctx: AgentRunContext):
    global runs  # noqa: PLW0603 - the worker counts them as well
    runs += 1
    name = ctx.input.to_text()
    if name == "closed wire":
        os.close(WIRE)
    elif name == "half a frame":
        write(frame("{}")[:-9])
        os._exit(0)
    else:
        write(ATTACKS[name]())
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "survived"}}}
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
