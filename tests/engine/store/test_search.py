"""Search over the transcript: which queries match which lines, and in which conversations."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from engine.store import pruning, search, search_index, sessions, tokenizer, transcript
from engine.store.database import Database
from engine.store.deletion import delete_session
from engine.store.row_mapping import ConversationKey
from engine.store.writer import Transaction
from tests.support.store_samples import (
    RecordedCallbacks,
    find_texts,
    indexed_terms,
    is_index_consistent,
    make_writer,
    text_line,
)

CONVERSATION = ConversationKey("talk")
PLACES = [
    CONVERSATION,
    ConversationKey("other"),
    ConversationKey("talk", thread_id="t"),
    ConversationKey("talk", bot_id="b"),
    ConversationKey("talk", workspace_id="w"),
    ConversationKey("talk", "t", "b", "w"),
    ConversationKey("talk", thread_id=""),
]


def write(conn: Connection, *contents: str, place: ConversationKey = CONVERSATION) -> None:
    for content in contents:
        number = conn.execute(text("SELECT count(*) FROM transcript")).scalar_one()
        transcript.append(conn, text_line(number, content, place))


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("midnight", "The train leaves at midnight."),
        ("MIDNIGHT", "The train leaves at midnight."),
        ("train midnight", "The train leaves at midnight."),
        ("midnight train", "The train leaves at midnight."),
        ("mid", "The train leaves at midnight."),
        ("midn", "The train leaves at midnight."),
        ("leaves at mid", "The train leaves at midnight."),
        ("night", "The train leaves at midnight."),
        ("idn", "The train leaves at midnight."),
        ("rain dnigh ave", "The train leaves at midnight."),
        ("mid train", "The train leaves at midnight."),
        ("ript_sea", "the table transcript_search"),
        ("ser@exam", "write to user@example.org"),
        ("192.168.1", "from 192.168.1.254"),
        ("cafe", "un café crème"),
        ("CAFÉ", "un cafe creme"),
        ("afé", "un cafe creme"),
        ("creme", "un cafe\u0301 cre\u0300me"),
        ("ελλαδα", "η Ελλάδα"),
        ("еще", "ещё раз"),
        ("viet", "Tiếng Việt"),
        ("smorrebrod", "et smørrebrød"),
        ("lodz", "Łódź"),
        ("istanbul", "İstanbul"),
        ("नमस", "वह नमस्ते कहता है"),
        ("ガラス", "ガラスの靴"),
        ("at", "The train leaves at midnight."),
        ("ÉCOLE", "une école"),
        ("e\u0301cole", "une école"),
        ("STRASSE", "eine Straße"),
        ("привет", "Привет, мир"),
        ("हिन्दी", "यह हिन्दी है।"),
        ("है", "यह हिन्दी है।"),
        ("ＡＢＣ", "abc"),
        ("3.14", "pi is 3.14 or so"),
        ("don't", "I don't know"),
        ("snake_case", "a snake_case name"),
        ("user@example.org", "write to user@example.org"),
        ("天气", "今天天气很好"),
        ("今天天气", "今天天气很好"),
        ("天天气很", "今天天气很好"),
        ("好", "今天天气很好"),
        ("今", "今天天气很好"),
        ("气", "今天天气很好"),
        ("好 今天", "今天天气很好"),
        ("今 好", "今天天气很好"),
        ("今天", "今天"),
        ("茶", "茶"),
        ("你好", "你好，世界"),
        ("你好，世界", "你好，世界"),
        ("Python教程", "一份Python教程在这里"),
        ("用pyt", "我用Python写"),
        ("ython教", "一份Python教程在这里"),
        ("教程v2", "教程v2完"),
        ("東京", "東京タワー"),
        ("タワー", "東京タワー"),
        ("ﾀﾜｰ", "東京タワー"),
        ("서울", "서울에서"),
        ("สวัส", "สวัสดีครับ"),
        ("𠀋𠀋", "字𠀋𠀋字"),
        ("🎉", "done 🎉🎉 at last"),
        ("👍", "👍🏽"),
        ("AND", "this and that"),
        ("NEAR", "near or far"),
        ("NOT OR", "not here or there"),
        ("x" * 70, "x" * 70),
    ],
)
def test_the_query_finds_the_line(conn: Connection, query: str, line: str):
    write(conn, "something else altogether", line, "完全不同")
    assert find_texts(conn, query) == [line]


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("nights", "The train leaves at midnight."),
        ("nightmid", "The train leaves at midnight."),
        ("trainleaves", "The train leaves at midnight."),
        ("there", "the here"),
        ("abcdefg", "abcd cdefg"),
        ("er@exa", "write to user@example.org"),
        ("カラス", "ガラスの靴"),
        ("train tomorrow", "The train leaves at midnight."),
        ("mi", "The train leaves at midnight."),
        ("14.3", "pi is 3.14 or so"),
        ("天今", "今天天气很好"),
        ("今天气", "今天天气很好"),
        ("今天很好", "今天天气很好"),
        ("好世", "你好，世界"),
        ("你好世界", "你好，世界"),
        ("Python程", "一份Python教程在这里"),
        ("雨", "今天天气很好"),
        ("🎈", "done 🎉"),
        ("ई", "यह हिन्दी है।"),
        ("NEAR(train midnight)", "The train leaves at midnight."),
        ("words:train", "The train leaves at midnight."),
        ("train*midnight", "The train leaves at midnight."),
        ("tr_in", "The train leaves at midnight."),
        ("tr%n", "The train leaves at midnight."),
    ],
)
def test_the_query_does_not_find_the_line(conn: Connection, query: str, line: str):
    write(conn, line)
    assert find_texts(conn, query) == []


@pytest.mark.parametrize(
    ("query", "reach"),
    [
        ("%", search.Reach.NOTHING),
        ("_ …", search.Reach.NOTHING),
        ("ne", search.Reach.WHOLE),
        ("midnight a", search.Reach.WHOLE),
        ("a mid", search.Reach.WHOLE),
        ("mid %", search.Reach.ANYWHERE),
        ("3.14", search.Reach.ANYWHERE),
        ("京", search.Reach.ANYWHERE),
        ("the 京都", search.Reach.ANYWHERE),
    ],
)
def test_match_of_the_words_is_decided_before_the_search(query: str, reach: search.Reach):
    assert search.reach(query) is reach


@pytest.mark.parametrize(
    "query",
    [
        *" %_*()^-+:§\\'\"\x00\ud800",
        "",
        "\n\t",
        '""',
        "()",
        "{}",
        "...",
        "。，",
        "\u200d\ufe0f",
        '" * "',
        "%_%",
        "~!@#$^&",
    ],
)
def test_only_punctuation_finds_nothing(conn: Connection, query: str):
    write(conn, "train", "100 % sure", "a_b", "it's", "§ 5", '"quoted"', "()")
    assert search.find(conn, query, None) == ([], 0)


@pytest.mark.parametrize(
    "query", ['"train', "train'", "(train", "train)", "train*", "*train", "tra*", "^train", "+train"]
)
def test_special_characters_around_a_word_are_not_operators(conn: Connection, query: str):
    write(conn, "the train", "no tower")
    assert find_texts(conn, query) == ["the train"]


@pytest.mark.parametrize(
    "query",
    [
        *(one * 10_000 for one in 'x天"(🎉ﷺ§%'),
        *(two * 5_000 for two in ("天 ", "a ", "a-", "a天", "天a")),
        "train " * 1_667,
        "NEAR(" * 2_000,
        " OR ".join(["train"] * 1_500),
    ],
    ids=lambda query: f"{query[:5]}…",
)
def test_query_of_ten_thousand_characters_is_accepted(conn: Connection, query: str):
    write(conn, "a train", "天", "or near")
    lines, total = search.find(conn, query, CONVERSATION)
    assert total == len(lines) <= 1


def test_whole_paragraph_can_be_searched(conn: Connection):
    paragraph = " ".join(f"word{number}" for number in range(200))
    write(conn, paragraph, paragraph.replace("word107 ", "other "))
    assert find_texts(conn, paragraph) == [paragraph]


def test_part_finds_every_word_that_contains_it(conn: Connection):
    for number in range(search.MAX_WORDS + 8):
        write(conn, f"a{number:03}word{number:03}", "wo rd")
        assert len(find_texts(conn, "word", limit=100)) == number + 1
        assert len(find_texts(conn, "wor", limit=100)) == number + 1


def test_lines_come_newest_first_and_hits_are_counted_to_a_thousand(conn: Connection):
    conn.exec_driver_sql("BEGIN")
    for number in range(1_005):
        transcript.append(conn, text_line(number, f"train {number}"))
    lines, total = search.find(conn, "train", CONVERSATION, limit=3)
    assert ([line.content for line in lines], total) == (["train 1004", "train 1003", "train 1002"], 1_000)
    assert [line.seq for line in lines] == sorted((line.seq for line in lines), reverse=True)
    assert len(search.find(conn, "train", None)[0]) == 10
    assert find_texts(conn, "train", None, limit=1) == ["train 1004"]
    assert search.find(conn, "train 77", CONVERSATION, limit=1)[1] == 1


def test_found_line_has_its_original_text(conn: Connection):
    whole = text_line(
        1, "train", content_json={"content": "train"}, artifact_refs=[{"artifact_id": "a"}], metadata={"a": 1}
    )
    seq = transcript.append(conn, whole)
    ((line,), total) = search.find(conn, "train", CONVERSATION)
    assert (line, total) == (transcript.page(conn, CONVERSATION)[0], 1)
    assert (line.seq, line.artifact_refs, line.metadata) == (seq, [{"artifact_id": "a"}], {"a": 1})


def test_conversation_key_matches_exactly_and_a_missing_part_only_a_missing_part(conn: Connection):
    for number, place in enumerate(PLACES):
        transcript.append(conn, text_line(number, f"train {number}", place))
    for number, place in enumerate(PLACES):
        assert find_texts(conn, "train", place) == [f"train {number}"]
    assert len(find_texts(conn, "train", None)) == len(PLACES)
    assert find_texts(conn, "train", ConversationKey("nowhere")) == []
    assert find_texts(conn, "train", ConversationKey(None)) == []


@pytest.mark.parametrize("marked_lines", [search.MAX_MARKED_LINES, 1])
def test_whole_session_is_searched_with_all_its_threads_and_bots(
    conn: Connection, monkeypatch: pytest.MonkeyPatch, marked_lines: int
):
    monkeypatch.setattr(search, "MAX_MARKED_LINES", marked_lines)
    many = [ConversationKey("many", f"t{number}") for number in range(search.MAX_MARKS + 2)]
    for number, place in enumerate([*PLACES, *many]):
        transcript.append(conn, text_line(number, f"train {number}", place))
    for session in {place.conversation_id for place in (*PLACES, *many)}:
        lines, total = search.find(conn, "train", search.WholeSession(str(session)), limit=100)
        expected = sum(place.conversation_id == session for place in (*PLACES, *many))
        assert (len(lines), total) == (expected, expected)
        assert {line.conversation_id for line in lines} == {session}


def test_internal_place_token_cannot_be_searched(conn: Connection):
    write(conn, "train")
    (terms,) = indexed_terms(conn).values()
    marks = terms.split()[:4]
    assert marks[3] == "§wtrain"
    for mark in [*marks, *(mark[:4] for mark in marks), *(mark[1:] for mark in marks)]:
        assert find_texts(conn, mark, None) == []


def test_colliding_place_tokens_reveal_no_foreign_line(conn: Connection, monkeypatch: pytest.MonkeyPatch):
    for module in (search, search_index):
        monkeypatch.setattr(module, "place_mark", lambda _: "§p0000000000")
    write(conn, "train", place=ConversationKey("other"))
    assert find_texts(conn, "train", CONVERSATION) == []
    assert find_texts(conn, "train", ConversationKey("other")) == ["train"]


def test_search_is_filtered_by_roles_and_types(conn: Connection):
    kinds = [("user", "message"), ("assistant", "message"), ("assistant", "tool_call"), ("tool", "message")]
    for number, (role, kind) in enumerate(kinds):
        transcript.append(conn, text_line(number, f"train {number}", role=role, item_type=kind))
    assert find_texts(conn, "train", roles=["assistant"]) == ["train 2", "train 1"]
    assert find_texts(conn, "train", roles=["assistant", "tool"], item_types=["message"]) == ["train 3", "train 1"]
    assert find_texts(conn, "train", None, item_types=["tool_call"]) == ["train 2"]
    assert find_texts(conn, "train", roles=["nobody"]) == []
    assert len(find_texts(conn, "train", roles=[], item_types=[])) == 4


def test_filters_accept_any_number_of_roles_and_types(conn: Connection):
    transcript.append(conn, text_line(1, "train", role='it\'s "me"'))
    transcript.append(conn, text_line(2, "train", role="user"))
    many = [f"role {number}" for number in range(100_000)]
    assert find_texts(conn, "train", roles=['it\'s "me"']) == ["train"]
    assert find_texts(conn, "train", roles=many, item_types=[*many, "message"]) == []
    assert len(find_texts(conn, "train", roles=[*many, "user"], item_types=["message", "\ud800", "%", "\x00"])) == 1


def test_lines_without_words_are_ignored(conn: Connection):
    for number, content in enumerate((None, "", "…", "train")):
        transcript.append(conn, text_line(number, content))
    assert find_texts(conn, "train") == ["train"]
    assert is_index_consistent(conn)


def test_cut_line_is_found_by_its_remaining_text(conn: Connection):
    write(conn, "begin " + "x " * 3_000 + "finish")
    assert len(find_texts(conn, "begin")) == 1
    assert find_texts(conn, "finish") == []


def test_deleted_lines_are_not_found(conn: Connection):
    sessions.ensure(conn, "talk", at=1)
    write(conn, "train one", "今天")
    write(conn, "train two", place=ConversationKey("other"))
    write(conn, "train three", place=ConversationKey("other", thread_id="t"))

    deleted = delete_session(conn, "talk", at=9, event_id="audit")
    assert deleted.transcript == 2
    assert find_texts(conn, "train", None) == ["train three", "train two"]
    assert find_texts(conn, "今天", None) == []

    assert pruning.prune(conn, 3, 9, event_id="audit2").counts.transcript == 1
    assert find_texts(conn, "train", None) == ["train three"]
    assert is_index_consistent(conn)


def test_words_that_no_line_has_any_more_are_forgotten(conn: Connection):
    sessions.ensure(conn, "talk", at=1)
    write(conn, "gooseberry train", "gooseberry")
    write(conn, "train", place=ConversationKey("other"))

    delete_session(conn, "talk", at=9, event_id="audit")
    assert not search_index.remove_unused_words(conn)

    assert conn.exec_driver_sql("SELECT word, is_unchecked FROM search_words").all() == [("train", 0)]
    assert find_texts(conn, "berry", None) == []
    assert find_texts(conn, "rain", None) == ["train"]
    assert is_index_consistent(conn)


def test_words_are_checked_a_few_at_a_time(conn: Connection):
    write(conn, "alpha beta gamma delta epsilon")
    transcript.remove(conn, "line_0")
    assert search_index.remove_unused_words(conn, limit=3)
    assert conn.exec_driver_sql("SELECT count(*) FROM search_words").scalar_one() == 2
    assert not search_index.remove_unused_words(conn, limit=3)
    assert conn.exec_driver_sql("SELECT count(*) FROM search_words").scalar_one() == 0


def test_program_without_the_terms_of_a_line_cannot_delete_it(conn: Connection, database: Database):
    write(conn, "train")
    with closing(sqlite3.connect(database.path)) as driver, pytest.raises(sqlite3.OperationalError, match="line_terms"):
        driver.execute("DELETE FROM transcript")
    assert find_texts(conn, "train") == ["train"]


async def test_failed_operation_leaves_no_line_in_the_index(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks)

    def fail(tx: Transaction) -> None:
        transcript.append(tx.connection, text_line(2, "train two"))
        raise LookupError

    one = writer.submit(lambda tx: transcript.append(tx.connection, text_line(1, "train one")))
    two = writer.submit(fail)
    three = writer.submit(lambda tx: transcript.append(tx.connection, text_line(3, "train three")))
    with pytest.raises(LookupError):
        await two
    assert await one < await three
    await writer.close()
    assert database.read_now(lambda conn: find_texts(conn, "train", None)) == ["train three", "train one"]
    with database.writing_connection() as conn:
        assert is_index_consistent(conn)


def test_copied_lines_of_a_fork_are_found(conn: Connection):
    sessions.ensure(conn, "talk", at=1)
    write(conn, "train one", "train two")
    first = transcript.page(conn, CONVERSATION)[-1].seq
    sessions.fork(conn, "talk", "child", until=first, at=2, new_id=iter(["copy"]).__next__)
    assert find_texts(conn, "train", ConversationKey("child")) == ["train one"]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    database = Database.open(tmp_path_factory.mktemp("search") / "facts.db", write=True)
    with database.writing_connection() as conn:
        for place in PLACES:
            write(conn, "the train at midnight", "今天天气很好", "a_b 100% 🎉 don't", "§p or near", place=place)
        yield conn
    database.close()


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    query=st.text()
    | st.lists(st.sampled_from(["mid", "今", "天气", "天", '"', "*", "NEAR(", ")", " ", "%", "_", "§p", "AND"])).map(
        "".join
    ),
    place=st.sampled_from([*PLACES, None]),
)
@example("a\x00b", None)
@example("\ud83d", None)
def test_no_query_fails_or_finds_a_foreign_line(furnished: Connection, query: str, place: ConversationKey | None):
    lines, total = search.find(furnished, query, place, limit=100)
    assert total == len(lines)
    for line in lines:
        assert place in (None, ConversationKey(line.conversation_id, line.thread_id, line.bot_id, line.workspace_id))


CHARACTERS = st.text(st.sampled_from("今天气好雨，a "), max_size=8)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=CHARACTERS, query=st.text(st.sampled_from("今天气好雨"), min_size=1, max_size=4))
def test_chinese_query_finds_exactly_the_lines_that_contain_it(database: Database, line: str, query: str):
    with database.writing_connection() as conn:
        conn.exec_driver_sql("BEGIN")
        write(conn, line)
        assert find_texts(conn, query) == ([line] if query in line else [])
        conn.exec_driver_sql("ROLLBACK")


WORDS = st.text(st.sampled_from("aäbcé 今天.,"), max_size=12)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=WORDS, query=st.text(st.sampled_from("abcé"), min_size=3, max_size=6))
@example("aab abc", "aabc")
def test_three_letters_or_more_find_exactly_the_lines_that_contain_them(database: Database, line: str, query: str):
    contains = tokenizer.folded(query) in tokenizer.folded(line)
    for is_common in (False, True):
        with database.writing_connection() as conn, pytest.MonkeyPatch.context() as patch:
            # Once by the words that contain the query, once by the parts of the line, as for many words.
            patch.setattr(search, "MAX_WORDS", 0 if is_common else 32)
            conn.exec_driver_sql("BEGIN")
            write(conn, line, f"x{query}x")
            assert find_texts(conn, query) == [f"x{query}x", *([line] if contains else [])]
            conn.exec_driver_sql("ROLLBACK")


@given(st.text())
def test_a_line_has_the_terms_that_the_index_gets(content: str):
    terms, words = tokenizer.split(content)
    for term in [*terms, *words]:
        if term == tokenizer.BREAK:
            continue
        assert term
        assert len(term) <= tokenizer.MAX_WORD_CHARS
        # ASCII characters other than letters and digits would make SQLite split the term again.
        assert all(character.isalnum() for character in term if character.isascii())
        assert not term.startswith("§")
        term.encode()
