"""A host that is killed takes its children with it, whatever they are doing."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.faults.faults import alive, descendants, marked_processes, other_process, read_line, wait_until

HERE = Path(__file__).resolve().parents[2] / "support" / "faults"
WAYS = {
    "idle": ("echo", "hello", {"runs": 1, "waits": True}, "waiting"),
    "busy in Python": ("chaos", "spin", {}, "Spinning"),
    "busy in C": ("chaos", "block in c", {}, "Holding the lock"),
    "blocked": ("chaos", "block", {}, "Blocking the loop"),
    "waiting": ("chaos", "hang", {}, "Waiting"),
    "with a grandchild": (str(HERE / "grandparent.py"), "go", {}, "message.delta"),
}
"""Runner, message and settings that bring a child into a state, and the line that shows that it is there."""


@pytest.mark.parametrize("way", WAYS)
def test_one_second_after_a_host_is_killed_none_of_its_processes_is_left(tmp_path: Path, mark: str, way: str):
    runner, text, settings, sign = WAYS[way]
    script = HERE / "fault_host.py"
    with other_process(script, tmp_path / "facts.db", runner, text, json.dumps(settings)) as host:
        while sign not in read_line(host):
            pass
        # The child, the guardian, and processes that the child started.
        expected = 4 if way == "with a grandchild" else 2
        family = wait_until(lambda: len(found := descendants(host.pid)) >= expected and found)
        assert len(family) == expected
        assert len(marked_processes(mark) - {host.pid}) == expected - 1
        host.send_signal(signal.SIGKILL)
        wait_until(lambda: not alive({*family, host.pid}) and not marked_processes(mark), 1.0)


def test_process_group_of_a_child_ends_even_if_the_guardian_was_killed_first(tmp_path: Path, mark: str):
    settings = json.dumps({})
    with other_process(
        HERE / "fault_host.py", tmp_path / "facts.db", str(HERE / "grandparent.py"), "go", settings
    ) as host:
        while "message.delta" not in read_line(host):
            pass
        # The guardian gets no environment, so it has no mark; neither has a process that is just being started.
        wait_until(lambda: len(descendants(host.pid) - marked_processes(mark)) == 1, 5.0)
        family = descendants(host.pid)
        (guardian,) = family - marked_processes(mark)
        os.kill(guardian, signal.SIGKILL)
        host.send_signal(signal.SIGKILL)
        wait_until(lambda: not alive(family) and not marked_processes(mark), 1.0)
