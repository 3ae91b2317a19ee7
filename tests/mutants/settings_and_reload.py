"""Mutants of reloaded code, watching, stored settings and forms."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/runtimes/worker/loader.py",
        "        _STAMPS.setdefault(self.path, stamp_of(self.path))\n        super().exec",
        "        _STAMPS.pop(self.path, None)\n        super().exec",
        "a file is stamped before it is read",
        "tests/engine/runtimes/test_fresh_code.py::test_an_edit_while_the_runner_is_being_imported_means_a_new_child",
    ),
    Mutant(
        "engine/runtimes/worker/loader.py",
        "if isinstance(name, str) and name not in _STAMPS and _is_own(name, folder):",
        "if isinstance(name, str) and _is_own(name, folder):",
        "a file is stamped when it is read, not at the end of the run",
        "tests/engine/runtimes/test_fresh_code.py::"
        "test_an_edit_during_a_run_means_a_new_child_for_the_next_run[runner.py]",
    ),
    Mutant(
        "engine/runtimes/worker/file_stamps.py",
        "return all(size >= 0 and ",
        "return all(",
        "a missing file does not count as unchanged",
        "tests/engine/runtimes/test_fresh_code.py::test_file_that_was_just_written_does_not_count_as_unchanged",
    ),
    Mutant(
        "engine/runtimes/worker/file_stamps.py",
        "return path, mtime, -1 if abs(time.time_ns() - mtime) < _SETTLED_NANOSECONDS else size",
        "return path, mtime, size",
        "a file that was just written does not count as unchanged",
        "tests/engine/runtimes/test_fresh_code.py::test_file_that_was_just_written_does_not_count_as_unchanged",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "if self._is_closed or child.is_old or child.state is not State.IDLE:",
        "if self._is_closed or child.state is not State.IDLE:",
        "a child that was busy during a reload is not reused",
        "tests/engine/runtimes/test_fresh_code.py::test_after_renewal_no_earlier_child_is_reused",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "        while self._idle:\n            self._discard(",
        "        while False:\n            self._discard(",
        "warm children are not reused after a reload",
        "tests/engine/runtimes/test_fresh_code.py::test_after_renewal_no_earlier_child_is_reused",
    ),
    Mutant(
        "engine/api/runners.py",
        "            self._core.host.reload_code()",
        "            pass",
        "a reload imports all code again",
        "tests/engine/project/test_reload.py::test_reload_imports_runner_modules_again",
    ),
    Mutant(
        "engine/api/runners.py",
        "        async with self._reload_lock:\n            before = self._core.workspace\n            now = await "
        "asyncio.to_thread(before.with_place",
        "        if self._reload_lock:\n            before = self._core.workspace\n            now = await "
        "asyncio.to_thread(before.with_place",
        "adding a place waits for a reload in progress",
        "tests/engine/project/test_recent_places.py::test_place_added_during_reload_keeps_both_changes[False]",
    ),
    Mutant(
        "engine/project/workspace.py",
        "        workspace.registry.runners()\n        return workspace\n\n    def file_stamps",
        "        workspace.registry.places()\n        return workspace\n\n    def file_stamps",
        "runner files are not read on the event loop",
        "tests/engine/project/test_recent_places.py::test_runner_files_are_not_read_on_the_event_loop",
    ),
    Mutant(
        "engine/runners/single_file.py",
        "is_settled = stamp[2] >= 0",
        "is_settled = True",
        "a module that was just written is read again",
        "tests/engine/runners/test_registry.py::test_a_module_that_was_just_written_is_read_again",
    ),
    Mutant(
        "engine/api/settings.py",
        "filter(is_secret_name, names - never_secret)",
        "filter(is_secret_name, names)",
        "a number is never a secret",
        "tests/engine/api/test_runners_and_forms.py::test_only_typed_or_undeclared_values_can_be_secrets",
    ),
    Mutant(
        "engine/project/config.py",
        "if envelope is None or entry.handles(envelope):",
        "if envelope is None:",
        "an invalid agent that could handle the event is an error",
        "tests/engine/project/test_reload.py::test_invalid_agent_that_does_not_handle_the_event_is_ignored",
    ),
    Mutant(
        "engine/run/prepare.py",
        "        resource_set=workspace.resources,",
        "        resource_set=type(workspace.resources)(),",
        "a run keeps its resources after a reload",
        "tests/engine/project/test_reload.py::test_run_in_progress_keeps_its_resources_after_reload",
    ),
    Mutant(
        "engine/project/watch.py",
        "paths = changed(seen, files.marks)",
        "paths = tuple(files.marks)",
        "only changed files are reported",
        "tests/engine/project/test_watch.py::test_saved_runner_is_reported_with_its_id",
    ),
    Mutant(
        "engine/project/watch.py",
        "        self._workspace = workspace\n        self._wake()",
        "        self._workspace = self._workspace\n        self._wake()",
        "new places are watched after a reload",
        "tests/engine/project/test_watch.py::test_new_places_are_watched_after_reload",
    ),
    Mutant(
        "engine/project/watch.py",
        "        self._is_closed = True\n",
        "        self._is_closed = False\n",
        "closing the engine ends a watch",
        "tests/engine/project/test_watch.py::test_closing_engine_ends_the_watch[True]",
    ),
    Mutant(
        "engine/runners/source_files.py",
        'return sorted(path for path in inner if not (path / "pyvenv.cfg").exists())',
        "return sorted(inner)",
        "installed packages are not part of a runner's code",
        "tests/engine/runners/test_source_files.py::test_files_of_a_plugin_are_code_and_manifests_without_installed_packages",
    ),
    Mutant(
        "engine/run/prepare.py",
        'return binding.binding_id, "" if runner.origin is Origin.BUNDLED else str(runner.path)',
        'return binding.binding_id, ""',
        "settings of one file are not used for another file of the same name",
        "tests/engine/project/test_kept_settings.py::test_runner_file_of_the_same_name_elsewhere_gets_no_settings",
    ),
    Mutant(
        "engine/run/prepare.py",
        "workspace.kept if kept is None else kept) if options.kept else None",
        "workspace.kept if kept is None else kept)",
        "saved settings are used only on request",
        "tests/engine/project/test_kept_settings.py::test_saved_values_override_written_ones_and_options_override_both",
    ),
    Mutant(
        "engine/project/kept_settings.py",
        '"runner_config": {**binding.runner_config, **self.config},',
        '"runner_config": {**self.config, **binding.runner_config},',
        "saved values override those of trackside.yaml",
        "tests/engine/project/test_kept_settings.py::test_saved_values_override_written_ones_and_options_override_both",
    ),
    Mutant(
        "engine/run/rows.py",
        "| ({KEPT: True} if order.uses_kept_settings else {})",
        "| {}",
        "a resent event uses the settings of the first run",
        "tests/engine/project/test_kept_settings.py::test_run_again_uses_the_same_saved_settings",
    ),
    Mutant(
        "engine/project/settings_yaml.py",
        """style = '"' if not _UNICODE_LINE_ENDS.isdisjoint(value) else""",
        """style = '"' if _UNICODE_LINE_ENDS.issubset(value) else""",
        "settings survive a YAML round trip",
        "tests/engine/project/test_settings_yaml.py::test_settings_survive_a_yaml_round_trip",
    ),
)
