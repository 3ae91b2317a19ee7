from pathlib import Path

import pytest

from engine.runners.plugin import read_plugin
from engine.runners.single_file import OTHER_SDK


def reasons(problems) -> list[str]:
    return [f"{problem.path.name}:{problem.line}: {problem.reason}" for problem in problems]


@pytest.mark.parametrize("kind", ["AgentRunner", "Runner"])
def test_a_component_file_becomes_a_descriptor(plugins, kind: str):
    folder = plugins.plugin()
    component = plugins.component(folder, "main", kind=kind)

    (runner,), problems = read_plugin(folder)

    assert problems == []
    assert str(runner.id) == "plugin:acme/demo/main" == runner.manifest.id
    assert runner.path == component
    assert runner.launch.path == component.with_suffix(".py")
    assert runner.launch.attr == "Demo"
    assert runner.launch.folder == runner.launch.cwd == folder
    assert runner.manifest.metadata == {"version": "1.2.0"}
    assert runner.manifest.capabilities.streaming
    assert runner.manifest.permissions.history == ["page"]
    assert runner.manifest.config_schema[0].default == 3


def test_one_broken_component_is_left_out_and_all_others_stay(plugins):
    folder = plugins.plugin()
    plugins.component(folder, "good")
    broken = plugins.component(folder, "broken")
    broken.write_text(broken.read_text().replace("streaming: true", "flying: true"))
    torn = plugins.component(folder, "torn")
    torn.write_text("kind: [AgentRunner\nmetadata: {")

    runners, problems = read_plugin(folder)

    assert [runner.id.name for runner in runners] == ["good"]
    assert [problem.path.name for problem in problems] == ["broken.yaml", "torn.yaml"]
    assert reasons(problems)[0] == (
        "broken.yaml:9: spec.capabilities.flying: unknown key. Known: streaming, tool_calling, knowledge_retrieval, "
        "multimodal_input, skill_authoring, interrupt, steering"
    )
    assert problems[1].reason.startswith("not YAML: ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: AgentRunner\n", "", "main.yaml:None: kind is missing"),
        ("  name: main\n", "", "main.yaml:3: metadata.name is missing"),
        ("  name: main\n", "  name: [a]\n", "main.yaml:4: metadata.name must be text"),
        (
            "  name: main\n",
            "  name: a/b\n",
            "main.yaml:4: author 'acme', plugin 'demo' and name 'a/b' do not form a runner id",
        ),
        (
            "history: [page]",
            "histories: [page]",
            "main.yaml:11: spec.permissions.histories: unknown key. "
            "Known: models, tools, knowledge_bases, history, events, artifacts, storage, files",
        ),
        ("history: [page]", "history: [burn]", "main.yaml:11: spec.permissions.history[0]: must be 'page' or 'search'"),
        ("streaming: true", "streaming: 1", "main.yaml:9: spec.capabilities.streaming: must be true or false"),
        ("./main.py", "./gone.py", "main.yaml:19: execution.python.path: no such file: ./gone.py"),
        ("./main.py", "../../../x.py", "main.yaml:19: ../../../x.py: leads out of the plugin's folder"),
        ("attr: Demo", "attr: Missing", "main.yaml:20: ./main.py has no 'Missing'"),
        (
            "  name: main\n",
            "  name: main\n  id: plugin:other/demo/main\n",
            "main.yaml:5: metadata.id: the runner has the id 'plugin:other/demo/main', "
            "but must have 'plugin:acme/demo/main'",
        ),
        (
            "    - name: depth\n",
            "    - {name: depth, type: text}\n    - name: depth\n",
            "main.yaml:14: config field 'depth' is declared twice",
        ),
    ],
)
def test_a_broken_manifest_is_named_with_file_line_and_reason(plugins, old: str, new: str, said: str):
    folder = plugins.plugin()
    component = plugins.component(folder)
    text = component.read_text()
    assert old in text
    component.write_text(text.replace(old, new, 1))

    runners, problems = read_plugin(folder)

    assert runners == []
    assert reasons(problems) == [said]


def test_the_error_for_an_unnamed_component_shows_how_to_name_it(plugins):
    folder = plugins.plugin()
    component = plugins.component(folder)
    (folder / "manifest.yaml").write_text("metadata: {author: a, name: b}\n")
    (component.parent / "about.yaml").write_text("kind: Command\n")
    (component.parent / "a.yaml").write_text("kind: [\n")
    name = component.relative_to(folder)

    assert reasons(read_plugin(folder)[1]) == [
        f"manifest.yaml:None: the plugin has no component of kind AgentRunner or Runner. {name} is one: "
        f"name it in manifest.yaml as `spec.components.AgentRunner.fromFiles: [{name}]`"
    ]


def test_langbots_own_sdk_is_reported_as_not_supported_yet(plugins):
    folder = plugins.plugin()
    component = plugins.component(folder)
    component.with_suffix(".py").write_text("from langbot_plugin.api import Runner\nclass Demo(Runner): ...\n")

    _, problems = read_plugin(folder)

    assert reasons(problems) == [f"main.yaml:19: ./main.py: {OTHER_SDK}"]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("", "manifest.yaml:None: metadata.author is missing"),
        ("[1, 2]", "manifest.yaml:None: metadata.author is missing"),
        (
            "metadata: {author: a, name: b}\n",
            "manifest.yaml:None: the plugin has no component of kind AgentRunner or Runner",
        ),
        (
            "metadata: {author: a, name: b}\nspec: {components: []}\n",
            "manifest.yaml:2: spec.components must be a mapping of kinds",
        ),
        (
            "metadata: {author: a, name: b}\nspec:\n  components:\n    Runner: x\n",
            "manifest.yaml:4: spec.components.Runner must be a mapping with fromDirs or fromFiles",
        ),
        (
            "metadata: {author: a, name: b}\nspec:\n  components:\n    Runner:\n      fromDirs:\n      - path: gone\n",
            "manifest.yaml:6: spec.components.Runner.fromDirs[0]: no such folder: gone",
        ),
        (
            "metadata: {author: a, name: b}\nspec:\n  components:\n    Runner:\n      fromFiles: [../x.yaml]\n",
            "manifest.yaml:5: spec.components.Runner.fromFiles[0]: leads out of the plugin's folder",
        ),
        ("a: 1\nb: 2\na: 3\n", "manifest.yaml:3: the key 'a' is written twice"),
        ("a: &x [*x]\n", "manifest.yaml:1: an alias contains itself"),
        ("a: !!python/object:os.system x\n", "manifest.yaml:1: the tag !!python/object:os.system is not supported"),
    ],
)
def test_a_broken_plugin_manifest_is_named_with_file_line_and_reason(plugins, manifest: str, said: str):
    folder = plugins.plugin()
    (folder / "manifest.yaml").write_text(manifest)

    runners, problems = read_plugin(folder)

    assert runners == []
    assert reasons(problems) == [said]


def test_nested_yaml_aliases_cannot_expand_without_limit(plugins):
    folder = plugins.plugin()
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (folder / "manifest.yaml").write_text("\n".join(lines))

    _, (problem,) = read_plugin(folder)

    assert problem.reason == "the YAML expands to more than 100,000 values"


def test_deep_nesting_is_reported_as_a_problem(plugins):
    folder = plugins.plugin()
    (folder / "manifest.yaml").write_text("\n" + "[" * 200_000)

    _, problems = read_plugin(folder)

    assert reasons(problems) == ["manifest.yaml:2: nested deeper than 100 levels"]


def test_a_component_reached_by_a_link_out_of_the_folder_is_refused(plugins, tmp_path: Path):
    folder = plugins.plugin()
    component = plugins.component(folder)
    outside = tmp_path / "outside.py"
    component.with_suffix(".py").rename(outside)
    component.with_suffix(".py").symlink_to(outside)

    _, problems = read_plugin(folder)

    assert reasons(problems) == ["main.yaml:19: ./main.py: leads out of the plugin's folder"]
