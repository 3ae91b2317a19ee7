"""Secrets from config and environment are masked in everything that is recorded."""

import json

import pytest

from engine.journal.secret_mask import SecretMask, secrets_in
from tests.support.engines import (
    Engines,
    ScriptRunner,
    delta,
    done,
    events_of,
    failed,
    journal_of,
    lines_of,
    message,
    run_event,
    said,
)

KEY = "sk-very-secret-1"
CONFIG = {"config": {"api_key": KEY}}
MARK = "‹secret api_key›"


async def test_secret_in_config_reaches_the_runner_and_is_masked_in_the_journal(open_engine: Engines):
    seen = []

    async def looks(ctx):
        seen.append(ctx.config["api_key"])
        yield said(f"my key is {ctx.config['api_key']}")

    run = await run_event(await open_engine(looks), **CONFIG)

    assert seen == [KEY]
    assert run.context["config"] == {"api_key": MARK}
    assert run.one("message.completed").data["message"]["content"] == f"my key is {MARK}"


async def test_secret_in_the_environment_is_masked(run_script: ScriptRunner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MAIL_TOKEN", "hunter2-token")
    monkeypatch.setenv("MAIL_HOST", "mail.example")

    run = await run_script(delta("hunter2-token at mail.example"), done(), env=("MAIL_TOKEN", "MAIL_HOST"))

    assert run.one("message.delta").data["chunk"]["content"] == "‹secret MAIL_TOKEN› at mail.example"


async def test_secret_nested_in_config_is_masked(run_script: ScriptRunner):
    run = await run_script(said("pw: open sesame"), config={"mail": {"password": "open sesame", "port": 25}})

    assert run.context["config"]["mail"] == {"password": "‹secret mail.password›", "port": 25}
    assert run.one("message.completed").data["message"]["content"] == "pw: ‹secret mail.password›"


async def test_no_secret_is_left_in_the_database(open_engine: Engines):
    async def blabs(ctx):
        yield said(KEY)
        yield {"type": "artifact.created", "data": {"artifact_type": "file", "content_base64": "bad " + KEY}}
        yield {"type": "state.updated", "data": {"scope": "subject", "key": KEY, "value": KEY}}
        yield delta(KEY) | {"sequence": KEY}
        yield failed(f"401 for {KEY}", code=KEY)

    engine = await open_engine(blabs)
    run = await run_event(engine, f"use {KEY}", **CONFIG)

    assert KEY not in str(await journal_of(engine, run.run_id))
    assert KEY not in str(run.row)
    assert (run.row.status_reason, run.row.metadata["error"]) == (MARK, f"401 for {MARK}")
    assert run.finished["error"] == f"401 for {MARK}"
    assert await lines_of(engine) == [("user", f"use {MARK}"), ("assistant", MARK)]
    assert events_of(engine, "message.received")[0].input_summary == f"use {MARK}"
    assert events_of(engine, "run.finished")[0].metadata["reason"] == MARK
    await open_engine.close(engine)
    assert KEY.encode() not in open_engine.db.read_bytes()


async def test_secret_is_masked_in_a_traceback(open_engine: Engines):
    async def breaks(ctx):
        raise RuntimeError(f"bad key {ctx.config['api_key']}")
        yield

    run = await run_event(await open_engine(breaks), **CONFIG)

    assert KEY not in run.one("output").data["text"]
    assert run.finished["error"].endswith(f"bad key {MARK}")


async def test_numeric_secret_does_not_corrupt_entries(run_script: ScriptRunner):
    run = await run_script(
        {"type": "tool.call.completed", "data": {"count": 123456, "text": "pin 1234"}},
        done("x") | {"usage": {"tokens": 912345}},
        config={"secret_pin": "1234"},
    )

    assert run.one("tool.call.completed").data == {"count": 123456, "text": "pin ‹secret secret_pin›"}
    assert run.finished["usage"] == {"claimed": {"tokens": 912345}}


async def test_secret_is_masked_in_a_queued_message(run_script: ScriptRunner):
    run = await run_script(done("x"), event=message(f"use {KEY}"), **CONFIG)

    assert run.row.metadata["input"] == f"use {MARK}"


def test_only_named_secrets_of_a_minimum_length_are_masked():
    found = secrets_in([("api_key", "abc"), ("API_KEY", "abcd"), ("colour", "purple"), ("tokens", ["one1", "two2"])])

    assert found == {"abcd": "API_KEY", "one1": "tokens", "two2": "tokens"}


def test_longer_of_two_overlapping_secrets_is_masked_first():
    marks = SecretMask({"hunter": "short_key", "hunter2": "long_key"})

    assert marks.cover_words("hunter2 hunter") == "‹secret long_key› ‹secret short_key›"


def test_a_secret_with_quotes_is_found_in_json():
    secret = 'say "hi" \\ bye'
    marks = SecretMask({secret: "password"})

    assert json.loads(marks.cover(json.dumps({"a": secret}))) == {"a": "‹secret password›"}


def test_text_without_a_secret_is_unchanged():
    text = '{"a":  "spaced"}'

    assert SecretMask({"zzzz": "key"}).cover(text) is text


async def test_a_number_of_the_config_is_masked_wherever_it_is_recorded(run_script: ScriptRunner):
    config = {"password": 9876543210, "max_tokens": 128000}
    run = await run_script(
        said("9876543210 with 128000"), {"type": "x", "data": {"n": 9876543210, "m": 19876543210}}, config=config
    )

    assert run.context["config"] == {"password": "‹secret password›", "max_tokens": 128000}
    assert run.one("message.completed").data["message"]["content"] == "‹secret password› with 128000"
    assert run.one("x").data == {"n": "‹secret password›", "m": 19876543210}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("postgres://user:PASSWORD@host/db", "PASSWORD"),
        ("postgres://user:p%40ss%2Fword@host/db", "p@ss/word"),
        ("redis://:s3cret@host:6379/0", "s3cret"),
        ("Server=db;User Id=sa;Password=Pa55w0rd;", "Pa55w0rd"),
        ("https://api.example/v1?api_key=Zy12-98&page=1", "Zy12-98"),
        ("Authorization: Bearer abc123.def-456", "abc123.def-456"),
        ("sk-proj-0123456789abcdef", "sk-proj-0123456789abcdef"),
    ],
)
def test_a_credential_inside_a_value_is_a_secret_whatever_its_name(value: str, secret: str):
    assert secret in secrets_in([("PLACE", value)])


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com:8080/a@b",
        "Answer as key=value",
        "Basic knowledge of tokens",
        "mail me@example.com",
        "a:b@c",
    ],
)
def test_ordinary_text_holds_no_secret(value: str):
    assert secrets_in([("prompt", value)]) == {}


async def test_a_password_in_an_address_of_the_environment_is_masked(
    run_script: ScriptRunner, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATABASE", "postgres://user:open-sesame-1@host/db")

    run = await run_script(said("connecting to postgres://user:open-sesame-1@host/db"), env=("DATABASE",))

    content = run.one("message.completed").data["message"]["content"]
    assert content == "connecting to postgres://user:‹secret DATABASE›@host/db"
