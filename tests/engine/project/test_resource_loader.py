"""Resources of trackside.yaml, and how invalid ones are reported."""

from pathlib import Path

import pytest

from engine.project.config import ConfigError, json_schema, load_project
from engine.project.resource_loader import load_resources
from engine.resources.catalog import KnowledgeBaseFact, ModelFact, ToolFact
from engine.resources.interfaces import ModelRequest

REQUEST = ModelRequest(({"role": "user", "content": "hello"},))
MODEL = "models:\n  - id: m\n    kind: scripted\n"
TOOL = "tools:\n  - name: t\n    kind: scripted\n"
BASE = "knowledge_bases:\n  - id: k\n    kind: scripted\n"


def test_folder_without_config_has_no_resources(tmp_path: Path):
    catalog = load_resources(load_project(tmp_path / "trackside.yaml")).catalog()

    assert (catalog.models, catalog.tools, catalog.knowledge_bases) == ({}, {}, {})


def test_resources_are_listed_by_id(load_set):
    catalog = load_set("""
models:
  - {id: a, kind: scripted, provider: acme, context_window_tokens: 8192}
  - {id: b, kind: scripted, type: rerank}
tools:
  - {name: t, kind: scripted, description: Tells.}
knowledge_bases:
  - {id: k, kind: scripted, name: Notes}
  - {id: l, kind: scripted}
""").catalog()

    assert catalog.models == {"a": ModelFact("a", "acme", "llm", 8192), "b": ModelFact("b", "scripted", "rerank")}
    assert catalog.tools == {"t": ToolFact("t", "scripted", "Tells.")}
    assert catalog.knowledge_bases == {
        "k": KnowledgeBaseFact("k", "Notes", "scripted"),
        "l": KnowledgeBaseFact("l", "l", "scripted"),
    }


async def test_script_file_can_be_shared_by_two_models(write, load_set):
    write("scripts/m.yaml", "replies: [{text: one}, {text: two}]\n")
    models = load_set(
        "models:\n  - {id: a, kind: scripted, script: scripts/m.yaml}\n"
        "  - {id: b, kind: scripted, script: scripts/m.yaml}\n"
        "  - {id: c, kind: scripted, replies: [{text: inline}]}\n"
    ).models

    replies = [(await models[name].invoke(REQUEST)).message["content"] for name in "aabc"]

    assert replies == ["one", "two", "one", "inline"]


async def test_tools_file_adds_each_of_its_tools(write, load_set):
    write("tools.yaml", "tools:\n  - {name: a, otherwise: {result: 1}}\n  - {name: b, otherwise: {result: 2}}\n")
    tools = load_set("tools:\n  - {kind: scripted, script: tools.yaml}\n  - {kind: scripted, name: c}\n").tools

    assert list(tools) == ["a", "b", "c"]
    assert await tools["b"].call({}) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models:\n  - id: m\n", ":2: models[0].kind: is missing"),
        ("models:\n  - {id: m, kind: openai}\n", ":2: models[0].kind: must be 'scripted'"),
        ("models:\n  - {id: 'a b', kind: scripted}\n", r":2: models[0].id: must match pattern '^\S{1,128}$'"),
        (
            MODEL + "    replys: []\n",
            ":4: models[0].replys: unknown key. `trackside schema` lists the known ones",
        ),
        (
            MODEL + "    replies:\n      - text: a\n      - match: '('\n        text: b\n",
            ":6: models[0].replies[1].match: must be a valid regular expression",
        ),
        (MODEL + "    replies:\n      - text: 5\n", ":5: models[0].replies[0].text: must be text"),
        (
            MODEL + "    replies:\n      - {text: a, turn: 0}\n",
            ":5: models[0].replies[0].turn: must be greater than or equal to 1",
        ),
        (
            MODEL + "    replies:\n      - {text: a, pace: -1}\n",
            ":5: models[0].replies[0].pace: must be greater than or equal to 0",
        ),
        (
            MODEL + "    replies:\n      - match: a\n",
            ":5: models[0].replies[0]: is empty: add text, pieces, tool_calls, error or status",
        ),
        (
            MODEL + "    replies:\n      - {text: a, pieces: [a]}\n",
            ":5: models[0].replies[0]: has both text and pieces: keep one of them",
        ),
        (
            MODEL + "    replies:\n      - {text: a, error: b}\n",
            ":5: models[0].replies[0]: has both content and a failure: add cut_after to fail after some pieces",
        ),
        (
            MODEL + "    replies:\n      - {text: a, retry_after: 2}\n",
            ":5: models[0].replies[0]: has a retry_after without a status",
        ),
        (MODEL + "    rerank: {retry_after: 2}\n", ":4: models[0].rerank: has a retry_after without a status"),
        (
            MODEL + "    replies:\n      - tool_calls:\n          - {name: t, arguments: [1]}\n",
            ":6: models[0].replies[0].tool_calls[0].arguments: "
            "must be a mapping, or text exactly as the model writes it",
        ),
        (
            MODEL + "    script: m.yaml\n    replies: []\n    pace: 1\n",
            ":2: models[0]: has both a script file and replies, pace: keep one",
        ),
        (MODEL + "  - {id: m, kind: scripted}\n", ":4: models[1].id: another model is called 'm' already"),
        (TOOL + "  - {name: t, kind: scripted}\n", ":4: tools[1].name: another tool is called 't' already"),
        (
            BASE + "  - {id: k, kind: scripted}\n",
            ":4: knowledge_bases[1].id: another knowledge base is called 'k' already",
        ),
        ("tools:\n  - kind: scripted\n", ":2: tools[0]: must have a name, or a script file with tools"),
        (TOOL + "    script: t.yaml\n", ":2: tools[0]: has both a script file and name: keep one"),
        (
            TOOL + "    parameters: {properties: {a: {type: text}}}\n",
            ":4: tools[0].parameters: has a type for a that is none of "
            "string, number, integer, boolean, array, object, null",
        ),
        (
            TOOL + "    answers:\n      - {result: 1, error: b}\n",
            ":5: tools[0].answers[0]: must have either a result or a failure (error, status)",
        ),
        (
            TOOL + "    answers:\n      - {match: {a: 1}}\n",
            ":5: tools[0].answers[0]: must have either a result or a failure (error, status)",
        ),
        (BASE + "    documents: [{metadata: {}}]\n", ":4: knowledge_bases[0].documents[0].text: is missing"),
        (
            BASE + "    script: k.yaml\n    delay: 1\n",
            ":2: knowledge_bases[0]: has both a script file and delay: keep one",
        ),
    ],
)
def test_invalid_resource_is_reported_with_file_line_and_key(write, text: str, message: str):
    path = write("trackside.yaml", text)

    with pytest.raises(ConfigError) as caught:
        load_project(path)

    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("models:\n  - {id: m, kind: scripted, script: gone.yaml}\n", "models[0].script"),
        ("tools:\n  - {kind: scripted, script: gone.yaml}\n", "tools[0].script"),
        ("knowledge_bases:\n  - {id: k, kind: scripted, script: gone.yaml}\n", "knowledge_bases[0].script"),
    ],
)
def test_missing_script_file_is_reported_with_its_key(write, tmp_path: Path, text: str, key: str):
    path = write("trackside.yaml", text)

    with pytest.raises(ConfigError) as caught:
        load_resources(load_project(path))

    assert str(caught.value) == f"{path}:2: {key}: no such file: {tmp_path / 'gone.yaml'}"


@pytest.mark.parametrize(
    ("entry", "script", "message"),
    [
        (
            "models:\n  - {id: m, kind: scripted, script: s.yaml}\n",
            "replies:\n  - txt: a\n",
            ":2: replies[0].txt: unknown key",
        ),
        ("models:\n  - {id: m, kind: scripted, script: s.yaml}\n", "id: m\n", ":1: id: unknown key"),
        ("models:\n  - {id: m, kind: scripted, script: s.yaml}\n", "replies: [a\n", ":2: not YAML"),
        ("tools:\n  - {kind: scripted, script: s.yaml}\n", "", ": tools: is missing"),
        (
            "tools:\n  - {kind: scripted, script: s.yaml}\n",
            "tools:\n  - description: d\n",
            ":2: tools[0].name: is missing",
        ),
        (
            "tools:\n  - {kind: scripted, script: s.yaml}\n  - {kind: scripted, name: t}\n",
            "tools:\n  - name: t\n",
            ":2: tools[0].name: another tool is called 't' already",
        ),
        (
            "tools:\n  - {kind: scripted, script: s.yaml}\n",
            "tools:\n  - name: t\n  - name: t\n",
            ":3: tools[1].name: another tool is called 't' already",
        ),
        (
            "knowledge_bases:\n  - {id: k, kind: scripted, script: s.yaml}\n",
            "documents:\n  - {text: a, id: x}\n  - {text: b, id: x}\n",
            ":3: documents[1]: another document is called 'x' already",
        ),
        (
            "knowledge_bases:\n  - {id: k, kind: scripted, script: s.yaml}\n",
            "files:\n  - gone.md\n",
            ":2: files[0]: gone.md cannot be read: No such file or directory",
        ),
        (
            "knowledge_bases:\n  - {id: k, kind: scripted, script: s.yaml}\n",
            "files: [s.yaml]\n",
            ":1: files[0]: s.yaml must be a text or Markdown file (.txt, .markdown, .md)",
        ),
        (
            "knowledge_bases:\n  - {id: k, kind: scripted, script: s.yaml}\n",
            "files: [n.md, n.md]\n",
            ":1: files[1]: n.md is listed twice",
        ),
    ],
)
def test_invalid_script_file_is_reported_with_its_own_line_and_key(write, entry: str, script: str, message: str):
    write("n.md", "notes")
    script_path = write("s.yaml", script)

    with pytest.raises(ConfigError) as caught:
        load_resources(load_project(write("trackside.yaml", entry)))

    assert str(caught.value).startswith(f"{script_path}{message}")


def test_schema_has_every_key_of_a_resource():
    schema = json_schema()
    parts = schema["$defs"]

    assert {"id", "kind", "script", "replies", "otherwise", "pace", "rerank"} <= set(parts["ModelEntry"]["properties"])
    assert {"turn", "match", "tool_result", "tool_calls", "cut_after"} <= set(parts["ReplyRule"]["properties"])
    assert {"name", "parameters", "answers", "otherwise"} <= set(parts["ToolEntry"]["properties"])
    assert {"documents", "files", "delay", "error"} <= set(parts["KnowledgeBaseEntry"]["properties"])
    assert all(part.get("additionalProperties") is False for name, part in parts.items() if name.endswith("Entry"))
