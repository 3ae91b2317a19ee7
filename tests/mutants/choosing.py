"""Faults in new code, watching, settings that are kept, and forms."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/runtimes/inside/loading.py",
        "_STAMPS.setdefault(self.path, stamp_of(self.path))",
        "_STAMPS.pop(self.path, None)",
        "a file is stamped before it is read",
        "tests/runtimes/test_fresh_code.py::test_an_edit_while_the_runner_is_being_imported_means_a_new_child",
    ),
    Mutant(
        "engine/runtimes/inside/loading.py",
        "if isinstance(name, str) and name not in _STAMPS and _is_own(name, folder):",
        "if isinstance(name, str) and _is_own(name, folder):",
        "the stamp of a file is of when it was read, not of the run's end",
        "tests/runtimes/test_fresh_code.py::"
        "test_an_edit_while_a_run_is_at_work_means_a_new_child_for_the_next[runner.py]",
    ),
    Mutant(
        "engine/runtimes/inside/stamps.py",
        "return all(size >= 0 and ",
        "return all(",
        "of a file that was not there nothing is certain",
        "tests/runtimes/test_fresh_code.py::test_a_file_that_was_just_written_is_not_taken_as_certain",
    ),
    Mutant(
        "engine/runtimes/inside/stamps.py",
        "return path, mtime, -1 if abs(time.time_ns() - mtime) < _SETTLED else size",
        "return path, mtime, size",
        "a file that was just written is not certain to be unchanged",
        "tests/runtimes/test_fresh_code.py::test_a_file_that_was_just_written_is_not_taken_as_certain",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "if self._is_closed or child.is_old or child.state is not State.IDLE:",
        "if self._is_closed or child.state is not State.IDLE:",
        "after a reload a child that was at work is not used again",
        "tests/runtimes/test_fresh_code.py::test_after_a_renewal_no_child_that_stood_is_used_again",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "        while self._idle:\n            self._discard(",
        "        while False:\n            self._discard(",
        "after a reload no warm child is used",
        "tests/runtimes/test_fresh_code.py::test_after_a_renewal_no_child_that_stood_is_used_again",
    ),
    Mutant(
        "engine/choosing.py",
        "            self._host.renew()",
        "            pass",
        "a reload has all code loaded anew",
        "tests/engine/test_reload.py::test_after_a_reload_what_a_warm_child_read_at_its_import_is_read_again",
    ),
    Mutant(
        "engine/choosing.py",
        "        async with self._turning:\n            before = self._setting\n            now = await asyncio.to_"
        "thread(before.with_place",
        "        if self._turning:\n            before = self._setting\n            now = await asyncio.to_"
        "thread(before.with_place",
        "a place that is added waits for a reload",
        "tests/engine/test_places.py::"
        "test_a_place_that_is_added_while_files_are_read_again_stays_and_so_does_what_they_say[False]",
    ),
    Mutant(
        "engine/setting.py",
        "        setting.registry.runners()\n        return setting\n\n    def seen",
        "        setting.registry.places()\n        return setting\n\n    def seen",
        "no file of a runner is read on the loop",
        "tests/engine/test_places.py::test_no_runner_or_manifest_is_read_on_the_loop",
    ),
    Mutant(
        "engine/runners/bare.py",
        "is_settled = stamp[2] >= 0",
        "is_settled = True",
        "a file that was just written may be written once more without its time telling",
        "tests/runners/test_registry.py::test_a_module_that_was_just_written_is_read_again",
    ),
    Mutant(
        "engine/choosing.py",
        "filter(is_secret_name, names - plain)",
        "filter(is_secret_name, names)",
        "a number is no secret, whatever it is called",
        "tests/engine/test_choosing.py::test_only_what_someone_types_can_be_a_secret_and_what_no_field_declares",
    ),
    Mutant(
        "engine/config.py",
        "if event_type is None or (entry.enabled and event_type in entry.events):",
        "if event_type is None:",
        "an agent that is broken and might be meant is an error, not left out in silence",
        "tests/engine/test_reload.py::test_an_agent_that_is_broken_is_in_nobodys_way_where_it_does_not_take_the_event",
    ),
    Mutant(
        "engine/run/prepare.py",
        "        shelf=setting.shelf,",
        "        shelf=Shelf(),",
        "a run has the resources that its order was made with",
        "tests/engine/test_reload.py::test_a_run_at_work_keeps_the_resources_that_it_was_granted",
    ),
    Mutant(
        "engine/watching.py",
        "paths = changed(seen, files.marks)",
        "paths = tuple(files.marks)",
        "only what has changed is told",
        "tests/engine/test_watch.py::test_a_saved_runner_is_told_with_its_id",
    ),
    Mutant(
        "engine/watching.py",
        "        self._setting = setting\n        self._wake()",
        "        self._setting = self._setting\n        self._wake()",
        "after a reload the new places are watched",
        "tests/engine/test_watch.py::test_after_a_reload_the_new_places_are_watched",
    ),
    Mutant(
        "engine/watching.py",
        "        self._is_closed = True\n",
        "        self._is_closed = False\n",
        "closing the engine ends a watch",
        "tests/engine/test_watch.py::test_closing_the_engine_ends_the_watch[True]",
    ),
    Mutant(
        "engine/runners/files.py",
        'return sorted(path for path in inner if not (path / "pyvenv.cfg").exists())',
        "return sorted(inner)",
        "what was installed is not a runner's code",
        "tests/runners/test_files.py::test_a_plugin_counts_with_its_code_and_manifests_but_without_what_was_installed",
    ),
    Mutant(
        "engine/run/prepare.py",
        'return binding.binding_id, "" if runner.origin is Origin.BUNDLED else str(runner.path)',
        'return binding.binding_id, ""',
        "settings of one file are not handed to another of its name",
        "tests/engine/test_settings.py::test_a_file_of_the_same_name_elsewhere_gets_no_ones_secrets",
    ),
    Mutant(
        "engine/run/prepare.py",
        "setting.kept if kept is None else kept) if choice.kept else None",
        "setting.kept if kept is None else kept)",
        "kept settings are used only where they are wanted",
        "tests/engine/test_settings.py::test_kept_values_go_over_the_written_ones_and_a_choice_over_both",
    ),
    Mutant(
        "engine/intake/settings.py",
        '"runner_config": {**binding.runner_config, **self.config},',
        '"runner_config": {**self.config, **binding.runner_config},',
        "kept values go over the written ones",
        "tests/engine/test_settings.py::test_kept_values_go_over_the_written_ones_and_a_choice_over_both",
    ),
    Mutant(
        "engine/run/rows.py",
        "| ({KEPT: True} if order.takes_kept else {}),",
        "| {},",
        "what is sent again has the settings of the first",
        "tests/engine/test_settings.py::test_what_is_sent_again_has_the_settings_that_the_first_was_to_have",
    ),
    Mutant(
        "engine/settings_text.py",
        """style = '"' if not _ODD_ENDS.isdisjoint(value) else""",
        """style = '"' if _ODD_ENDS.issubset(value) else""",
        "settings come back from YAML as they were",
        "tests/engine/test_settings_text.py::test_whatever_is_kept_comes_back_the_same",
    ),
)
