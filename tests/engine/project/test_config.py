from pathlib import Path

import pytest

from engine.project.config import ConfigError, find_project, json_schema, load_project
from engine.protocol.event import EventType
from engine.runners.errors import TargetNotFound
from engine.runtimes.pool import MAX_CHILD_STARTS

HELLO = "config = [{'name': 'depth', 'type': 'integer', 'default': 3}]\nasync def run(ctx):\n    yield {}\n"


def test_folder_without_config_uses_defaults(tmp_path: Path):
    project = find_project(None, tmp_path)

    assert project.agents(project.registry(None, tmp_path)) == ()
    assert project.database_path() is None
    assert project.config.allowed_plugins is None
    assert project.config.limits.child_starts == MAX_CHILD_STARTS
    assert project.disk_limit_bytes() == 2_048 << 20


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("lots", "must be an integer"),
        ("1.5", "must be an integer"),
        ("true", "must be an integer"),
        ("-1", "must be greater than or equal to 0"),
    ],
)
def test_limit_of_the_disk_that_is_no_number_is_refused(write, value: str, reason: str):
    path = write("trackside.yaml", f"env: []\ndisk:\n  warn_above_mib: {value}\n")

    with pytest.raises(ConfigError) as error:
        load_project(path)
    assert str(error.value) == f"{path}:3: disk.warn_above_mib: {reason}"


def test_limit_of_the_disk_is_in_mebibytes_and_0_for_never(write):
    assert load_project(write("trackside.yaml", "disk: {warn_above_mib: 3}\n")).disk_limit_bytes() == 3 << 20
    assert load_project(write("trackside.yaml", "disk: {warn_above_mib: 0}\n")).disk_limit_bytes() is None


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_empty_config_file_is_valid(write, text: str):
    assert load_project(write("trackside.yaml", text)).config.agents == []


def test_agents_get_their_runner_config_and_policies(write, tmp_path: Path):
    write("runners/hello.py", HELLO)
    write(
        "trackside.yaml",
        """
runners: [runners]
env: [PROJECT_KEY]
python: tools/python
agents:
  - id: greeter
    runner: hello
    config: {depth: 5, since: 2026-01-02}
    resources: {allowed_tool_names: [search], allow_workspace_storage: true}
    state: {state_scopes: [runner]}
    delivery: {enable_streaming: false}
    events: [message.received, api.invoked]
    env: [AGENT_KEY]
  - id: quiet
    runner: plugin:trackside/echo/default
    enabled: false
    python: python3.12
database: {path: data/facts.db, synchronous: FULL}
limits: {child_starts: 3}
file_roots: [shared]
""",
    )
    project = find_project(tmp_path, Path("/elsewhere"))
    registry = project.registry(tmp_path, Path("/elsewhere"))

    greeter, quiet = project.agents(registry)

    assert greeter.runner_id == "plugin:local/hello/default"
    assert greeter.runner_config == {"depth": 5, "since": "2026-01-02"}
    assert greeter.resource_policy.allowed_tool_names == ("search",)
    assert greeter.resource_policy.allow_workspace_storage
    assert greeter.state_policy.scopes() == ("runner",)
    assert not greeter.delivery_policy.enable_streaming
    assert greeter.event_types == (EventType.MESSAGE_RECEIVED, EventType.API_INVOKED)
    assert not quiet.enabled
    assert quiet.event_types == (EventType.MESSAGE_RECEIVED,)
    assert project.launch_settings("greeter") == (str(tmp_path / "tools/python"), ("PROJECT_KEY", "AGENT_KEY"))
    assert project.launch_settings("quiet") == ("python3.12", ("PROJECT_KEY",))
    assert project.launch_settings(None) == (str(tmp_path / "tools/python"), ("PROJECT_KEY",))
    assert project.database_path() == tmp_path / "data/facts.db"
    assert project.config.limits.child_starts == 3
    assert project.file_roots() == (tmp_path / "shared",)


def test_yaml_syntax_error_has_its_line(write):
    path = write("trackside.yaml", "agents:\n  - id: a\n    runner: [echo\nenv: x\n")

    with pytest.raises(ConfigError) as caught:
        load_project(path)

    assert caught.value.line == 4
    assert str(caught.value) == (f"{path}:4: not YAML: while parsing a flow sequence did not find expected ',' or ']'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agents:\n  - id: a\n    runner: echo\n    enabled: maybe\n", ":4: agents[0].enabled: must be true or false"),
        ("agents:\n  - id: a\n    runner: 5\n", ":3: agents[0].runner: must be text"),
        ("agents:\n  - id: a\n", ":2: agents[0].runner: is missing"),
        ("agents:\n  - id: a b\n    runner: x\n", ":2: agents[0].id: must match pattern '^[A-Za-z0-9._:-]{1,128}$'"),
        ("agents: {}\n", ":1: agents: must be a list"),
        ("agent: []\n", ":1: agent: unknown key. `trackside schema` lists the known ones"),
        (
            "agents:\n  - id: a\n    runner: echo\n    state:\n      scopes: [actor]\n",
            ":5: agents[0].state.scopes: unknown key. `trackside schema` lists the known ones",
        ),
        ("\n\nruns: 1\nenv: 3\n", ":3: runs: unknown key. `trackside schema` lists the known ones (and 1 more)"),
        ("limits: {child_starts: 0}\n", ":1: limits.child_starts: must be greater than or equal to 1"),
        ("database: {synchronous: SOMETIMES}\n", ":1: database.synchronous: must be 'NORMAL' or 'FULL'"),
        ("env:\n  - A\n  - 'B=1'\n", ":3: env[1]: must match pattern '^[A-Za-z_][A-Za-z0-9_]*$'"),
        ("- a\n- b\n", ": must be a mapping"),
        (
            "env: [A]\n---\nenv: [B]\n",
            ":2: not YAML: expected a single document in the stream but found another document",
        ),
        ("a: !!binary aGk=\n", ":1: the tag !!binary is not supported"),
        ("a: !secret x\n", ":1: the tag !secret is not supported"),
        ("a: [1,\n  .nan]\n", ":2: a number must be finite"),
        ("? [a]\n: b\n", ":1: a key must be text"),
        ("env: []\nenv: []\n", ":2: the key 'env' is written twice"),
        (
            "agents:\n  - {id: a, runner: echo}\n  - {id: a, runner: echo}\n",
            ":3: agents[1].id: another agent is called 'a' already",
        ),
        (
            "agents:\n  - id: a\n    runner: echo\n    scope: {bot: b, workspace: w}\n",
            ":4: agents[0].scope: name one of agent, bot and workspace, or leave scope out to handle all events",
        ),
        (
            "agents:\n  - id: a\n    runner: echo\n    scope: {}\n",
            ":4: agents[0].scope: name one of agent, bot and workspace, or leave scope out to handle all events",
        ),
        (
            "agents:\n  - {id: a, runner: echo, scope: {agent: b}}\n",
            ":2: agents[0]: scope.agent must be the agent's own id, a",
        ),
        (
            "agents:\n  - {id: a, runner: echo, match: {thread: t}}\n",
            ":2: agents[0].match: 'thread' is not a field of events. Use source, source_event_type, conversation_id, "
            "thread_id, bot_id, workspace_id, actor.actor_type, actor.actor_id, actor.actor_name, "
            "subject.subject_type, subject.subject_id, input.text or data.NAME",
        ),
    ],
)
def test_invalid_value_is_reported_with_file_line_and_key(write, text: str, message: str):
    path = write("trackside.yaml", text)

    with pytest.raises(ConfigError) as caught:
        load_project(path)

    assert str(caught.value) == f"{path}{message}"


def test_invalid_value_is_never_quoted(write):
    path = write("trackside.yaml", "env: sk-secret\nagents: sk-secret\npython: [sk-secret]\n")

    with pytest.raises(ConfigError) as caught:
        load_project(path)

    assert "sk-secret" not in str(caught.value)


def test_agent_with_unknown_runner_is_reported_with_known_runners(write, tmp_path: Path):
    path = write("trackside.yaml", "agents:\n  - id: a\n    runner: nope\n")
    project = load_project(path)

    with pytest.raises(ConfigError) as caught:
        project.agents(project.registry(None, tmp_path))

    assert str(caught.value) == (
        f"{path}:3: agents[0].runner: no runner called 'nope'. Found: plugin:trackside/chaos/default, "
        "plugin:trackside/echo/default, plugin:trackside/prober/default, plugin:trackside/rehearsal/default."
    )


def test_invalid_agent_config_is_reported_with_its_field(write, tmp_path: Path):
    path = write("trackside.yaml", "agents:\n  - id: a\n    runner: rehearsal\n    config:\n      pace: fast\n")
    project = load_project(path)

    with pytest.raises(ConfigError) as caught:
        project.agents(project.registry(None, tmp_path))

    assert str(caught.value) == f"{path}:5: agents[0].config.pace: must be a number, not text"


def test_missing_runner_folder_does_not_hide_others(write, tmp_path: Path):
    write("hello.py", HELLO)
    write("trackside.yaml", "runners:\n  - gone\n  - hello.py\n")
    registry = find_project(None, tmp_path).registry(None, tmp_path)

    assert str(registry.get("hello").id) == "plugin:local/hello/default"
    assert [str(problem) for problem in registry.problems()] == [
        f"{tmp_path / 'gone'}: no such file or folder (named by runners[0] in trackside.yaml, line 2)"
    ]


def test_missing_target_error_lists_possible_targets(tmp_path: Path):
    with pytest.raises(TargetNotFound) as caught:
        find_project(tmp_path / "gone", tmp_path)

    assert str(caught.value) == (
        f"no such file or folder: {tmp_path / 'gone'}. Name a runner file (.py), a plugin folder (with manifest.yaml) "
        "or a project folder (with trackside.yaml)."
    )


def test_runner_file_uses_config_of_working_folder(write, tmp_path: Path):
    hello = write("deep/hello.py", HELLO)
    write("trackside.yaml", "env: [KEY]\n")

    project = find_project(hello, tmp_path)

    assert project.config.env == ["KEY"]
    assert str(project.registry(hello, tmp_path).choose().id) == "plugin:local/hello/default"


def test_plugin_folder_can_have_its_own_config(plugins, tmp_path: Path):
    folder = plugins.plugin()
    plugins.component(folder)
    (folder / "trackside.yaml").write_text("env: [KEY]\n")

    project = find_project(folder, tmp_path)

    assert project.config.env == ["KEY"]
    assert str(project.registry(folder, tmp_path).choose().id) == "plugin:acme/demo/main"


def test_schema_has_every_key():
    schema = json_schema()

    assert schema["title"] == "trackside.yaml"
    assert set(schema["properties"]) == {
        "runners", "agents", "models", "tools", "knowledge_bases", "allowed_plugins", "env", "python", "database",
        "limits", "artifacts", "deterministic", "disk", "file_roots", "skills", "sandbox",
    }  # fmt: skip
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("project_line", "agent_line", "network"),
    [
        ("", "", None),
        ("sandbox: bwrap", "", False),
        ("sandbox: {kind: bwrap, network: true}", "", True),
        ("", "sandbox: bwrap", False),
        ("sandbox: bwrap", "sandbox: {kind: bwrap, network: true}", True),
        ("sandbox: bwrap", "sandbox: none", None),
    ],
)
def test_sandbox_of_an_agent_is_its_own_or_that_of_the_project(write, project_line: str, agent_line: str, network):
    text = f"{project_line}\nagents:\n  - id: greeter\n    runner: echo\n    {agent_line}\n"
    project = load_project(write("trackside.yaml", text))

    section = project.sandbox("greeter")

    assert (None if section is None else section.network) is network
    assert (project.sandbox(None) is None) is (not project_line)


@pytest.mark.parametrize(
    ("written", "where", "problem"),
    [
        ("docker", "sandbox.kind", "must be 'bwrap' or 'none'"),
        ("{network: true}", "sandbox.kind", "is missing"),
        ("{kind: bwrap, network: 1}", "sandbox.network", "must be true or false"),
        ("true", "sandbox", "must be a mapping"),
    ],
)
def test_invalid_sandbox_is_named_with_its_line(write, written: str, where: str, problem: str):
    path = write("trackside.yaml", f"env: []\nsandbox: {written}\n")

    with pytest.raises(ConfigError) as error:
        load_project(path)

    assert str(error.value).startswith(f"{path}:2: {where}: {problem}")


def test_schema_allows_a_sandbox_as_text_and_as_a_mapping():
    [text, section, _] = json_schema()["properties"]["sandbox"]["anyOf"]

    assert text["enum"] == ["bwrap", "none"]
    assert section["$ref"].endswith("/SandboxSection")
