"""The end of a run has digests of the runner's files as they were loaded, and the distributions that it imported."""

import hashlib
import os
from importlib.metadata import version
from pathlib import Path

import pytest

from engine.runtimes import distributions, loaded_modules
from engine.runtimes.child_reports import MAX_MODULE_FOLDERS, read_digests, read_modules
from engine.runtimes.distributions import Distribution, find_distributions

RUNNER = """
    import beside

    async def run(ctx):
        import yaml
        yield beside.WORD
"""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def loaded(harness, launch):
    execution, _ = await harness.begin(launch)
    await execution.ended()
    return await execution.loaded_code()


async def test_files_have_the_digest_of_their_loaded_content(harness):
    harness.write("beside.py", "WORD = 1\n")
    launch = harness.launch(RUNNER)
    first = await loaded(harness, launch)
    again = await loaded(harness, launch)
    harness.write("beside.py", "WORD = 2\n")
    changed = await loaded(harness, launch)
    assert first.files == {"beside.py": digest("WORD = 1\n"), "runner.py": digest(launch.path.read_text())}
    assert again.files == first.files
    assert changed.files == {**first.files, "beside.py": digest("WORD = 2\n")}


async def test_file_that_changes_after_its_import_has_the_digest_of_the_loaded_content(harness):
    launch = harness.launch(
        """
        from pathlib import Path

        async def run(ctx):
            Path(__file__).write_text("changed = True")
            yield 1
        """
    )
    source = launch.path.read_text()
    assert (await loaded(harness, launch)).files == {"runner.py": digest(source)}


async def test_imported_distributions_are_named_with_their_versions(harness):
    harness.write("beside.py", "WORD = 1\n")
    found = (await loaded(harness, harness.launch(RUNNER))).distributions
    assert found["PyYAML"] == version("PyYAML")
    assert found["pydantic"] == version("pydantic")
    assert "textual" not in found


async def test_list_of_files_is_limited(harness, monkeypatch):
    monkeypatch.setattr(loaded_modules, "MAX_RECORDED_FILES", 1)
    harness.write("beside.py", "WORD = 1\n")
    found = await loaded(harness, harness.launch(RUNNER))
    assert (list(found.files), found.files_left_out) == (["beside.py"], 1)


# Reports of a hostile child

PATHS = frozenset({"/plugin/runner.py"})


@pytest.mark.parametrize(
    "report",
    [
        None,
        {"/plugin/runner.py": "a" * 64},
        [None, 1, [], ["/plugin/runner.py"], ["/plugin/runner.py", None]],
        [["/plugin/runner.py", "a" * 63]],
        [["/plugin/runner.py", "A" * 64]],
        [["/plugin/runner.py", "a" * 64 + "\n"]],
        [["/etc/passwd", "a" * 64]],
    ],
)
def test_forged_digests_are_left_out(report):
    assert read_digests(report, PATHS) == {}


@pytest.mark.parametrize(
    "report",
    [
        None,
        "x",
        [None, 1, [1, 2], ["/x/site-packages"]],
        [["/etc", "passwd"]],
        [["x/site-packages", "a.py"]],
        [["/x\0/site-packages", "a.py"]],
        [["/" + "x" * 5_000 + "/site-packages", "a.py"]],
        [["/x/site-packages", ""]],
    ],
)
def test_forged_modules_are_left_out(report):
    assert read_modules(report) == {}


def test_number_of_reported_folders_is_limited():
    report = [[f"/{number}/site-packages", "a.py"] for number in range(100)]
    assert len(read_modules(report)) == MAX_MODULE_FOLDERS


async def test_forged_end_harms_nothing(harness):
    launch = harness.launch(
        """
        import json, os
        from pathlib import Path

        WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\\0")[2])

        async def run(ctx):
            status = os.stat(__file__)
            data = {"files": [[__file__, status.st_mtime_ns, status.st_size]], "clean": True}
            data |= {"digests": [[__file__, {"a": 1}], 7], "modules": [[["x"], 1], ["/nowhere/site-packages", "a.py"]]}
            frames = [{"seq_id": 0, "action": "__opened", "data": data}, {"seq_id": 0, "action": "__opened"}]
            frames += [{"seq_id": 1, "code": 0, "message": "success", "chunk_status": "end", "data": data}]
            os.set_blocking(WIRE, True)
            os.write(WIRE, b"".join(json.dumps(frame).encode() + b"\\n" for frame in frames))
            yield 1
        """
    )
    execution, sink = await harness.begin(launch)
    await execution.ended()
    found = await execution.loaded_code()
    assert found.files == {"runner.py": digest(launch.path.read_text())}
    assert [reason for reason, _ in sink.faults] == ["a report of a connection or process that is not one"] * 2
    assert sink.opens == []


# Folders of distributions


def install(folder: Path, name: str, files: list[str], head: str = "") -> None:
    place = folder / name
    place.mkdir(parents=True)
    (place / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))
    (place / "METADATA").write_text(head)


def test_distribution_is_found_by_the_file_that_it_installed(tmp_path):
    folder = tmp_path / "site-packages"
    install(folder, "one-1.0.dist-info", ["space/one/__init__.py"], "Name: One\nVersion: 1.0\n\nName: body\n")
    install(folder, "two-2.0.dist-info", ["space/two/__init__.py", "three.py"])
    install(folder, "three-9.dist-info", ["other.py"])
    found = find_distributions(str(folder), ["space/one/__init__.py", "three.py", "unknown.py"])
    assert found == {Distribution("One", "1.0"), Distribution("two", "2.0")}


def test_answer_is_kept_until_the_folder_changes(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    install(folder, "one-1.0.dist-info", ["one.py"])
    assert find_distributions(str(folder), ["one.py"]) == {Distribution("one", "1.0")}
    with monkeypatch.context() as patch:
        patch.setattr(distributions, "_find_owners", None)
        assert find_distributions(str(folder), ["one.py"]) == {Distribution("one", "1.0")}
    (folder / "one-1.0.dist-info").rename(folder / "one-1.1.dist-info")
    os.utime(folder, ns=(1, 1))
    assert find_distributions(str(folder), ["one.py"]) == {Distribution("one", "1.1")}


def test_pipe_in_place_of_metadata_is_not_waited_for(tmp_path):
    place = tmp_path / "site-packages" / "one-1.0.dist-info"
    place.mkdir(parents=True)
    os.mkfifo(place / "RECORD")
    assert find_distributions(str(place.parent), ["one.py"]) == set()
