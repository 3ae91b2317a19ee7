"""Mutants of the surroundings of a run: its process, seeds, loaded code, and what its runner opens itself."""

from typing import Final

from tests.mutants.mutant import Mutant

_POOL: Final = "engine/runtimes/pool.py"
_SEEDS: Final = "engine/runtimes/seeds.py"
_SEEDING: Final = "engine/runtimes/worker/seeding.py"
_OPENED: Final = "engine/runtimes/worker/opened.py"
_REPORTS: Final = "engine/runtimes/child_reports.py"
_ORCHESTRATOR: Final = "engine/run/orchestrator.py"
_RUN: Final = "tests/engine/run/test_surroundings.py"
_SEEDS_TEST: Final = "tests/engine/runtimes/test_seeds.py"
_OPENED_TEST: Final = "tests/engine/runtimes/test_opened.py"
_LOADED_TEST: Final = "tests/engine/runtimes/test_loaded_modules.py"

MUTANTS: Final = (
    # The process
    Mutant(
        "engine/runtimes/environment.py",
        "return tuple(sorted({*filter(_is_in_base, host), *dict(launch.env)}))",
        "return tuple(sorted(host))",
        "only variables that were passed on are recorded",
        f"{_RUN}::test_start_has_interpreter_variables_seeds_and_breakpoints",
    ),
    Mutant(
        _ORCHESTRATOR,
        '**({"breakpoints": list(map(str, order.breakpoints))} if order.breakpoints else {}),',
        "",
        "breakpoints of the start are recorded",
        f"{_RUN}::test_start_has_interpreter_variables_seeds_and_breakpoints",
    ),
    Mutant(
        _ORCHESTRATOR,
        "await asyncio.wait({reserving, stopped}, timeout=RESERVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)",
        "await asyncio.wait({reserving}, timeout=3_600)",
        "a run can be stopped while its process is chosen",
        f"{_RUN}::test_run_whose_choice_hangs_is_recorded_without_it_and_can_be_stopped",
    ),
    Mutant(
        "engine/host.py",
        "            if live.started.is_set():  # otherwise the entry follows the first one\n                live",
        "            if True:\n                live",
        "the first entry of a run is its start, also if it is stopped before",
        f"{_RUN}::test_run_whose_choice_hangs_is_recorded_without_it_and_can_be_stopped",
    ),
    Mutant(
        _ORCHESTRATOR,
        "if reservation.process is not None and recorded is None:",
        "if False:",
        "a process that is chosen late is recorded",
        f"{_RUN}::test_process_that_is_chosen_late_has_an_entry_of_its_own",
    ),
    Mutant(
        _ORCHESTRATOR,
        "reserving.add_done_callback(_release)",
        "pass",
        "a stopped run gives its reserved process back",
        f"{_RUN}::test_stopped_run_gives_its_reserved_process_back",
    ),
    Mutant(
        _POOL,
        "if replace(facts, python_version=reserved.process.python_version) != reserved.process:",
        "if is_replaced:",
        "a run that gets the process of another run says so",
        "tests/engine/runtimes/test_start_queue.py::test_child_that_becomes_free_serves_the_next_run_of_its_runner",
    ),
    Mutant(
        _POOL,
        "elif child is not None and child.state is not State.IDLE:",
        "elif child is not None and False:",
        "a reserved process that has ended is replaced",
        f"{_RUN}::test_reserved_process_that_ends_is_replaced_with_a_warning",
    ),
    Mutant(
        "engine/run/live.py",
        "        if is_replaced:\n",
        "        if False:\n",
        "a warning says that the process was replaced",
        f"{_RUN}::test_reserved_process_that_ends_is_replaced_with_a_warning",
    ),
    # Seeds
    Mutant(
        _POOL,
        "seeds = Seeds(reserved.process.hash_seed, reserved.process.random_seed)",
        "seeds = new_seeds(launch, self._random_bits)",
        "a new process has the seeds that were recorded",
        f"{_SEEDS_TEST}::test_reserved_process_that_ends_is_replaced_by_one_with_the_same_seeds",
    ),
    Mutant(
        _POOL,
        "seeds = new_seeds(launch, self._random_bits) if warm is None else warm.seeds",
        "seeds = new_seeds(launch, self._random_bits)",
        "a run has the seeds of the process that is warmed for it",
        f"{_SEEDS_TEST}::test_run_that_comes_while_its_process_is_warmed_has_the_seeds_of_that_process",
    ),
    Mutant(
        _SEEDS,
        "hash_seed = (bits(32) or 1) if",
        "hash_seed = bits(32) if",
        "a hash seed is not 0",
        f"{_SEEDS_TEST}::test_hash_seed_is_never_zero_which_would_turn_hashing_off",
    ),
    Mutant(
        _SEEDS,
        "hash_seed if given is None else _read_hash_seed(given)",
        "hash_seed",
        "the hash seed of the user wins",
        f"{_SEEDS_TEST}::test_hash_seed_of_the_user_reaches_the_process",
    ),
    Mutant(
        _SEEDS,
        'return f"{bits(128):032x}" if launch.is_deterministic else None',
        'return f"{bits(128):032x}"',
        "without determinism nothing is seeded",
        f"{_SEEDS_TEST}::test_without_determinism_nothing_is_seeded",
    ),
    Mutant(
        "engine/run/prepare.py",
        "is_deterministic=project.config.deterministic,",
        "is_deterministic=True,",
        "`deterministic: false` reaches the process",
        f"{_RUN}::test_run_without_determinism_says_so",
    ),
    Mutant(
        "engine/runtimes/worker/server.py",
        'if order.get("seed"):',
        "if False:",
        "a reused process gets the seed of its run",
        f"{_SEEDS_TEST}::test_reused_process_gets_a_new_seed_at_the_start_of_the_run",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "random_seed=self._seeds.random_seed if is_fresh else random_seed,",
        "random_seed=random_seed,",
        "the first run in a warmed process has the seed of the process",
        f"{_SEEDS_TEST}::test_warmed_process_is_seeded_before_the_import_too",
    ),
    Mutant(
        _SEEDING,
        'if not _author["has_seeded"]:',
        "if True:",
        "the author's seed stays in force in later runs",
        f"{_SEEDS_TEST}::test_seed_of_the_author_decides_in_the_first_and_in_a_later_run",
    ),
    Mutant(
        _SEEDING,
        "uuid.uuid4 = _uuid4",
        "pass",
        "`uuid.uuid4` is seeded",
        f"{_SEEDS_TEST}::test_same_seeds_give_the_same_numbers_ids_and_orders",
    ),
    # Loaded code
    Mutant(
        "engine/runtimes/worker/loader.py",
        "_DIGESTS[path] = sha256(data).hexdigest()",
        "_DIGESTS[path] = sha256(path.encode()).hexdigest()",
        "the digest is that of the loaded content",
        f"{_LOADED_TEST}::test_files_have_the_digest_of_their_loaded_content",
    ),
    Mutant(
        _REPORTS,
        "if path in paths and _DIGEST.fullmatch(digest) is not None",
        "if path in paths",
        "a digest of a report is checked",
        f"{_LOADED_TEST}::test_forged_digests_are_left_out",
    ),
    Mutant(
        _REPORTS,
        'is_installed = folder.startswith("/") and folder.endswith(_INSTALLED)',
        'is_installed = folder.startswith("/")',
        "the host reads only folders of installed packages",
        f"{_LOADED_TEST}::test_forged_modules_are_left_out",
    ),
    Mutant(
        _REPORTS,
        "(folder in found or len(found) < MAX_MODULE_FOLDERS)",
        "True",
        "the number of reported folders is limited",
        f"{_LOADED_TEST}::test_number_of_reported_folders_is_limited",
    ),
    Mutant(
        "engine/runtimes/distributions.py",
        "if known is None or known.changed_at != changed_at:",
        "if known is None:",
        "distributions are read again if the folder changes",
        f"{_LOADED_TEST}::test_answer_is_kept_until_the_folder_changes",
    ),
    Mutant(
        "engine/runtimes/distributions.py",
        "for place in likely if _has_any(place, [file])",
        "for place in likely",
        "a distribution is found by its files, not by its name alone",
        f"{_LOADED_TEST}::test_distribution_is_found_by_the_file_that_it_installed",
    ),
    Mutant(
        "engine/runtimes/loaded_modules.py",
        "shown = sorted(self._files)[:MAX_RECORDED_FILES]",
        "shown = sorted(self._files)",
        "the list of files is limited",
        f"{_LOADED_TEST}::test_list_of_files_is_limited",
    ),
    # What the runner opens itself
    Mutant(
        "engine/run/live.py",
        "if self.has_ended or what in self._opened:",
        "if self.has_ended:",
        "the host records each kind once, whatever the child reports",
        f"{_RUN}::test_forged_reports_are_recorded_once_per_kind",
    ),
    Mutant(
        "engine/run/live.py",
        "covered = self.order.secret_mask.cover_words(target)[:MAX_TARGET_CHARS]",
        "covered = target[:MAX_TARGET_CHARS]",
        "a secret is masked before the target is cut",
        f"{_RUN}::test_process_that_the_runner_opens_is_noted_once_and_masked",
    ),
    Mutant(
        "engine/runtimes/worker/server.py",
        "self._opened.start_run()",
        "pass",
        "a reused process reports what each run opens",
        f"{_OPENED_TEST}::test_first_of_a_kind_is_reported_in_each_run[popen-process-true --flag]",
    ),
    Mutant(
        _OPENED,
        "if os.getpid() != self._process_id:",
        "if False:",
        "a copy of the runner's process reports nothing",
        f"{_OPENED_TEST}::test_first_of_a_kind_is_reported_in_each_run",
    ),
    Mutant(
        _OPENED,
        '"os.exec": (PROCESS,',
        '"os.execute": (PROCESS,',
        "a command that replaces the runner is reported",
        f"{_OPENED_TEST}::test_command_is_reported_before_it_replaces_the_runner",
    ),
    Mutant(
        _OPENED,
        "            except Exception:  # noqa: BLE001 - an error here would refuse the runner what it asked for\n",
        "            except OSError:\n",
        "an odd event does no harm",
        f"{_OPENED_TEST}::test_worker_itself_opens_nothing_and_odd_events_do_no_harm",
    ),
    Mutant(
        "engine/runtimes/child.py",
        "            self._early_opened.setdefault(*opened)",
        "            pass",
        "what a module opens during its import belongs to the first run",
        f"{_OPENED_TEST}::test_what_the_module_opens_during_its_import_belongs_to_the_first_run",
    ),
    Mutant(
        _REPORTS,
        "or what not in OPENED or",
        "or",
        "a report of an unknown kind is refused",
        f"{_OPENED_TEST}::test_report_that_is_none_is_refused",
    ),
)
