"""A runner that floods every pipe to its host, which it enlarges first."""

import fcntl
import os
from pathlib import Path

from engine.protocol import AgentRunContext

WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\0")[2])


async def run(ctx: AgentRunContext):
    for pipe in (WIRE, 1, 2):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.set_blocking(WIRE, True)
    while True:
        os.write(WIRE, b"x\n" * 10_000)
        os.write(1, b"\n" * 10_000)
        os.write(2, b"y\n" * 10_000)
    yield {}
