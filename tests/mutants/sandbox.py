"""Mutants of the sandbox: what a runner sees and changes in it, how it ends, and when it is refused."""

from typing import Final

from tests.mutants.mutant import Mutant

_SANDBOX: Final = "engine/runtimes/sandbox.py"
_MAIN: Final = "engine/runtimes/worker/main.py"
_TEST: Final = "tests/engine/runtimes/test_sandbox.py"
_CLI: Final = "tests/console/cli/test_sandbox.py"
_WRITES: Final = f"{_TEST}::test_only_its_folder_and_a_temporary_one_are_writable"
_PROTECTED: Final = f"{_TEST}::test_what_the_host_reads_or_runs_in_the_folder_is_read_only"
_ENDS: Final = f"{_TEST}::test_end_of_a_runner_is_reported_as_without_a_sandbox"

MUTANTS: Final = (
    # What a runner sees
    Mutant(
        _SANDBOX,
        '*(() if network else ("--unshare-net",)),',
        '*(() if True else ("--unshare-net",)),',
        "a sandboxed runner has no network",
        f"{_TEST}::test_network_is_used_only_if_it_is_allowed[False-ConnectionRefusedError]",
    ),
    Mutant(
        _SANDBOX,
        '*(() if network else ("--unshare-net",)),',
        '*(() if False else ("--unshare-net",)),',
        "the network can be allowed",
        f"{_TEST}::test_network_is_used_only_if_it_is_allowed[True-connected]",
    ),
    Mutant(
        _SANDBOX,
        "(*_ETC, *(_ETC_NETWORK if network else ()))",
        "(*_ETC, *_ETC_NETWORK)",
        "files of /etc about the network are visible only with it",
        f"{_TEST}::test_network_is_used_only_if_it_is_allowed[False-ConnectionRefusedError]",
    ),
    Mutant(
        _SANDBOX,
        "    view.add_writable(folder)\n",
        "    view.add_writable(folder.parent)\n",
        "a runner sees no folder beside its own",
        f"{_TEST}::test_files_of_the_host_are_not_visible",
    ),
    Mutant(
        _SANDBOX,
        '"/etc/{name}", f"/etc/{name}")',
        '"/etc", "/etc")',
        "a runner does not see the passwords of the system",
        f"{_TEST}::test_files_of_the_host_are_not_visible",
    ),
    Mutant(
        _SANDBOX,
        '*("--proc", "/proc", "--remount-ro", "/proc"),',
        '*("--ro-bind", "/proc", "/proc"),',
        "a runner sees no process of the host",
        f"{_TEST}::test_processes_of_the_host_cannot_be_seen_or_killed",
    ),
    Mutant(
        "engine/runtimes/environment.py",
        '{"HOME": TEMPORARY, "TMPDIR": TEMPORARY}',
        "{}",
        "the home and temporary folders are those of the sandbox",
        f"{_TEST}::test_environment_is_as_without_a_sandbox_but_for_the_temporary_home",
    ),
    # What a runner changes
    Mutant(
        _SANDBOX,
        '*("--remount-ro", "/"),',
        '*("--remount-ro", "/dev"),',
        "the root of a sandbox is read-only",
        _WRITES,
    ),
    Mutant(
        _SANDBOX,
        '*("--proc", "/proc", "--remount-ro", "/proc"),',
        '*("--proc", "/proc"),',
        "root in a sandbox cannot change the settings of the kernel",
        _WRITES,
    ),
    Mutant(
        _SANDBOX,
        '"--tmpfs", "/dev/shm", "--remount-ro", "/dev"),',
        '"--tmpfs", "/dev/shm"),',
        "/dev of a sandbox is read-only",
        _WRITES,
    ),
    Mutant(
        _SANDBOX,
        '            self._binds[path] = "--ro-bind"',
        '            self._binds[path] = "--bind"',
        "interpreter and worker are read-only",
        _WRITES,
    ),
    Mutant(
        _SANDBOX,
        '*("--tmpfs", TEMPORARY),',
        '*("--bind", TEMPORARY, TEMPORARY),',
        "the temporary folder is not that of the host",
        _WRITES,
    ),
    Mutant(
        _SANDBOX,
        '    "ALL",\n',
        '    "CAP_SYS_ADMIN",\n',
        "a runner has no capabilities, also if root starts it",
        f"{_TEST}::test_runner_has_no_capabilities",
    ),
    Mutant(
        _SANDBOX,
        "    view.add_read_only(*_protected(folder))\n",
        "    view.add_read_only()\n",
        "a runner cannot change the config of its own sandbox",
        _PROTECTED,
    ),
    Mutant(
        _SANDBOX,
        "sorted(self._binds, key=lambda path: len(path.parts))",
        "sorted(self._binds, key=lambda path: -len(path.parts))",
        "what is read-only in a writable folder stays so",
        _PROTECTED,
    ),
    Mutant(
        _SANDBOX,
        "str(cwd if cwd.is_relative_to(folder) else folder)",
        "str(folder)",
        "a working folder that is visible is kept",
        f"{_TEST}::test_runner_starts_in_its_folder_if_the_working_folder_is_not_visible",
    ),
    # Interpreters
    Mutant(
        _SANDBOX,
        "self.add_read_only(*_entries(prefix), *_entries(prefix.resolve()))",
        "self.add_read_only(*_entries(prefix.resolve()))",
        "an interpreter is shown where its link is",
        f"{_TEST}::test_interpreter_may_be_found_through_links_and_on_the_path",
    ),
    Mutant(
        _SANDBOX,
        "        python = Path(os.path.normpath(python.parent / python.readlink()))",
        "        return",
        "the installation behind the links of an interpreter is followed",
        f"{_TEST}::test_planted_interpreter_that_leads_to_a_private_file_is_refused",
    ),
    Mutant(
        _SANDBOX,
        "            elif place.is_file() and is_own:",
        "            elif False:",
        "a planted interpreter shows no private file",
        f"{_TEST}::test_planted_interpreter_that_leads_to_a_private_file_is_refused",
    ),
    Mutant(
        _SANDBOX,
        "(_is_venv(prefix) and not (is_own and _leads_out(prefix, folder)))",
        "_is_venv(prefix)",
        "a planted interpreter shows no .venv of another project",
        f"{_TEST}::test_planted_venv_shows_no_folder_outside[link]",
    ),
    Mutant(
        _SANDBOX,
        "if path.exists() and path.resolve().is_relative_to(real):",
        "if path.exists():",
        "a link in a planted installation shows no other folder",
        f"{_TEST}::test_planted_installation_shows_no_folder_outside",
    ),
    # Ends
    Mutant(
        _MAIN,
        "        os.kill(0, os.WTERMSIG(status))",
        "        pass",
        "the signal that killed a sandboxed runner is reported",
        f"{_ENDS}[SIGSEGV]",
    ),
    Mutant(
        _MAIN,
        "    os._exit(os.WEXITSTATUS(status))",
        "    os._exit(0)",
        "the exit code of a sandboxed runner is reported",
        f"{_ENDS}[exit 139]",
    ),
    Mutant(
        _SANDBOX,
        '    "--die-with-parent",\n',
        '    "--unshare-ipc",\n',
        "a sandbox ends with the process of bubblewrap",
        f"{_TEST}::test_sandbox_ends_with_the_process_of_bubblewrap",
    ),
    Mutant(
        _SANDBOX,
        "    return [pid for pid in find_descendants(group) if not _is_own_process(pid)]",
        "    return []",
        "a sandbox with a leftover process is not reused",
        f"{_TEST}::test_child_with_a_leftover_process_is_not_reused",
    ),
    Mutant(
        _SANDBOX,
        "    return [pid for pid in find_descendants(group) if not _is_own_process(pid)]",
        "    return find_descendants(group)",
        "a clean sandbox is reused",
        f"{_TEST}::test_child_is_reused_until_its_code_changes",
    ),
    # Sandboxes that cannot be made
    Mutant(
        _SANDBOX,
        "    if bwrap is None:\n        raise RuntimeProblem(",
        "    if bwrap is None:\n        return [] if bwrap is None else list(",
        "a run without bubblewrap fails",
        f"{_TEST}::test_error_without_bubblewrap_names_the_package",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "        if self.launch.sandbox is not None:\n            return failed_start(",
        "        if False:\n            return failed_start(",
        "the error of a sandbox that does not start names the fix",
        f"{_TEST}::test_error_of_bubblewrap_that_fails_has_its_reason_and_the_fix",
    ),
    Mutant(
        _SANDBOX,
        "and not (folder and _is_below(place, folder))",
        "and bool(place)",
        "a program called bwrap in the runner's folder is not used",
        f"{_TEST}::test_bubblewrap_in_the_folder_of_the_runner_is_not_used",
    ),
    Mutant(
        _SANDBOX,
        "for path in (Path.home(), Path(TEMPORARY), *private):",
        "for path in (Path(TEMPORARY), *private):",
        "the folder of a sandboxed runner does not contain the home folder",
        f"{_TEST}::test_folder_that_contains_private_files_is_refused[home]",
    ),
    Mutant(
        "engine/api/engine.py",
        "private_paths=[path])",
        "private_paths=[])",
        "the folder of a sandboxed runner does not contain the database",
        f"{_CLI}::test_run_fails_if_its_database_is_in_the_folder_of_the_runner",
    ),
    # Config and doctor
    Mutant(
        "engine/run/prepare.py",
        "sandbox=None if section is None else Sandbox(section.network),",
        "sandbox=None,",
        "a run has the sandbox of trackside.yaml",
        f"{_CLI}::test_run_is_sandboxed_unless_its_agent_is_excepted",
    ),
    Mutant(
        "engine/project/config.py",
        "section = (entry.sandbox if entry else None) or self.config.sandbox",
        "section = self.config.sandbox",
        "the sandbox of an agent is its own",
        "tests/engine/project/test_config.py::test_sandbox_of_an_agent_is_its_own_or_that_of_the_project"
        "[sandbox: bwrap-sandbox: none-None]",
    ),
    Mutant(
        "engine/project/config.py",
        'return None if section is None or section.kind == "none" else section',
        "return section",
        "an agent can be excepted from the sandbox",
        "tests/engine/project/test_config.py::test_sandbox_of_an_agent_is_its_own_or_that_of_the_project"
        "[sandbox: bwrap-sandbox: none-None]",
    ),
    Mutant(
        _SANDBOX,
        'failed_start(f"ended with code {started.returncode}", started.stderr) if started.returncode else ""',
        '""',
        "doctor reports bubblewrap that does not start",
        f"{_CLI}::test_doctor_reports_bubblewrap_that_does_not_start",
    ),
    Mutant(
        "console/cli/doctor.py",
        "                own[python] = sandbox_options(launch, python)",
        "                own[python] = []",
        "doctor starts the own interpreter of a sandboxed runner in the sandbox",
        f"{_CLI}::test_doctor_starts_the_own_interpreter_of_a_sandboxed_runner_in_the_sandbox",
    ),
)
