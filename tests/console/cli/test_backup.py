"""`trackside backup`, and the permissions that `doctor` reports."""

import json
import subprocess

from tests.support.commands import Trackside


def test_a_database_in_use_is_copied_and_a_file_is_not_overwritten(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "one")
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--jsonl")
    assert host.stdout is not None
    host.stdout.readline()

    done = trackside("backup", "copy.db")
    refused = trackside.error("backup", "copy.db")
    forced = trackside("backup", "copy.db", "--force", "--json")
    host.kill()
    host.communicate()

    copy = trackside.folder / "copy.db"
    assert done.returncode == 0
    assert done.stdout.startswith(f"Copied {trackside.database} to copy.db (")
    assert done.stderr == ""
    assert refused == f"{copy} exists already. Add --force to overwrite it, or name another file."
    assert json.loads(forced.stdout) == {
        "database": str(trackside.database),
        "file": "copy.db",
        "size_bytes": copy.stat().st_size,
    }
    assert copy.stat().st_mode & 0o777 == 0o600
    assert len(json.loads(trackside("runs", "--json", db=copy).stdout)) == 2


def test_a_backup_without_a_database_exits_2(trackside: Trackside):
    assert trackside.error("backup", "copy.db").startswith(f"There is no database at {trackside.database}.")


def test_doctor_reports_files_that_others_can_read_with_the_command(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "one")
    assert "other users" not in trackside("doctor").stdout
    trackside.database.chmod(0o644)

    done = trackside("doctor")

    (line,) = [line for line in done.stdout.splitlines() if "other users" in line]
    words, _, fix = line.partition(" Run: ")
    assert words.startswith("  ! other users can read facts.db")
    assert fix.startswith(f"chmod 600 {trackside.database}")
    assert done.returncode == 0
    subprocess.run(fix, shell=True, check=True)
    assert "other users" not in trackside("doctor").stdout
