"""Mutants of discovery, manifests and forms."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/runners/ids.py",
        'rf"plugin:({_PART})/({_PART})/({_PART})"',
        'rf"(?:plugin:)?({_PART})/({_PART})/({_PART})"',
        "a runner id starts with plugin:",
        "tests/engine/runners/test_ids.py::test_any_other_form_of_id_is_not_found",
    ),
    Mutant(
        "engine/runners/ids.py",
        "_ID.fullmatch(text)",
        "_ID.match(text)",
        "a runner id has three parts and nothing else",
        "tests/engine/runners/test_ids.py::test_any_other_form_of_id_is_not_found",
    ),
    Mutant(
        "engine/runners/registry.py",
        "raise RunnerNotAllowed(",
        "raise RunnerNotFound(",
        "not allowed and not found are different errors",
        "tests/engine/runners/test_registry.py::test_not_allowed_and_not_found_are_different_errors",
    ),
    Mutant(
        "engine/runners/registry.py",
        "return self._allowed is None or runner.id.plugin_id in self._allowed",
        "return self._allowed is None or bool(self._allowed)",
        "only plugins on the allowed list can be used",
        "tests/engine/runners/test_registry.py::test_not_allowed_and_not_found_are_different_errors",
    ),
    Mutant(
        "engine/runners/registry.py",
        "if self._found_own is None:",
        "if self._own:",
        "the registry caches discovery until it is refreshed",
        "tests/engine/runners/test_registry.py::test_discovery_is_cached_until_refreshed",
    ),
    Mutant(
        "engine/runners/plugin.py",
        "if claimed not in (None, str(runner_id)):",
        "if claimed == str(runner_id):",
        "the id in a manifest must match its place",
        "tests/engine/runners/test_plugin.py::test_a_broken_manifest_is_named_with_file_line_and_reason",
    ),
    Mutant(
        "engine/runners/plugin.py",
        "problems.append(Problem(path, error.reason, error.line))",
        "return [], [*problems, Problem(path, error.reason, error.line)]",
        "a broken manifest is left out and the others stay usable",
        "tests/engine/runners/test_plugin.py::test_one_broken_component_is_left_out_and_all_others_stay",
    ),
    Mutant(
        "engine/runners/plugin.py",
        "real = path.resolve()",
        "real = path.absolute()",
        "a component's code must be inside the plugin's folder, with links resolved",
        "tests/engine/runners/test_plugin.py::test_a_component_reached_by_a_link_out_of_the_folder_is_refused",
    ),
    Mutant(
        "engine/runners/plugin.py",
        'KINDS: Final = ("AgentRunner", "Runner")',
        'KINDS: Final = ("AgentRunner",)',
        "a component of kind Runner is a runner too",
        "tests/engine/runners/test_plugin.py::test_a_component_file_becomes_a_descriptor",
    ),
    Mutant(
        "engine/runners/document.py",
        "if node.tag not in _JSON_LIKE:",
        "if not node.tag:",
        "YAML is loaded safely",
        "tests/engine/runners/test_plugin.py::test_a_broken_plugin_manifest_is_named_with_file_line_and_reason",
    ),
    Mutant(
        "engine/runners/config_form.py",
        "return deepcopy(defaults) | dict(config)",
        "return dict(config) | deepcopy(defaults)",
        "defaults do not override set values",
        "tests/engine/runners/test_config_form.py::test_defaults_are_merged_and_set_values_stay",
    ),
    Mutant(
        "engine/runners/config_form.py",
        "return isinstance(value, int) and not isinstance(value, bool)",
        "return isinstance(value, int)",
        "a bool is not accepted as an integer",
        "tests/engine/runners/test_config_form.py::test_each_field_type_accepts_its_own_values",
    ),
    Mutant(
        "engine/runners/config_form.py",
        'return "is required" if item.required else None',
        "return None",
        "a required field must not be empty",
        "tests/engine/runners/test_config_form.py::test_empty_choice_is_valid_unless_required",
    ),
    Mutant(
        "engine/runners/config_form.py",
        "if isinstance(value, str) and not is_nothing(value)))",
        "if isinstance(value, str)))",
        "an empty choice selects no model and no knowledge base",
        "tests/engine/runners/test_config_form.py::test_ids_chosen_in_selectors_are_returned",
    ),
    Mutant(
        "engine/runners/config_form.py",
        'f"must be {wanted}, not {_what(value)}"',
        'f"must be {wanted}, not {value}"',
        "an error never quotes the value, which may be a secret",
        "tests/engine/runners/test_config_form.py::test_an_error_names_the_runner_and_every_field_but_no_value",
    ),
    Mutant(
        "engine/runners/descriptor.py",
        "for name in sorted(set(env)) if name in environ)",
        "for name in sorted(environ))",
        "a child gets the named variables and no others",
        "tests/engine/runners/test_single_file.py::test_a_child_gets_only_the_named_variables_that_are_set",
    ),
)
