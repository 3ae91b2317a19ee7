"""The Inspector shows the process of a run in a few lines."""

from console.model.journal.process_words import process_lines, process_summary
from engine.events import RunProcess

NEW = RunProcess("/venv/bin/python", "3.11.7", ("HOME", "PATH"), True, True, 7, "0a")


def test_process_with_seeds():
    assert process_summary(NEW) == "new, Python 3.11.7"
    assert process_lines(NEW) == [
        "interpreter: /venv/bin/python",
        "hash seed: 7",
        "random seed: 0a",
        "variables passed on: HOME, PATH",
    ]


def test_reused_process_without_seeds():
    process = NEW._replace(is_fresh=False, python_version=None, hash_seed=None, random_seed=None, variables=())
    assert process_summary(process) == "reused"
    assert process_lines(process)[1:] == [
        "hash seed: chosen by Python",
        "random seed: none",
        "variables passed on: none",
    ]
