"""A scripted knowledge base: hits, their order, and how files are split into passages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.content import ContentElement
from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import KnowledgeBase, ResourceError
from engine.resources.scripted.passages import MAX_PASSAGE_CHARS, matched_share, passages_of, query_terms, terms

BASE = """
knowledge_bases:
  - id: notes
    kind: scripted
    documents:
      - {text: Light rain in Berlin, metadata: {city: Berlin, year: 2026, wet: true}}
      - {text: 'Berlin: sun', metadata: {city: Berlin, year: 2025}}
      - {id: paris, text: light RAIN in Paris}
      - {text: 今天柏林下雨。}
"""


@pytest.fixture
def notes(load_set) -> KnowledgeBase:
    return load_set(BASE).knowledge_bases["notes"]


async def found(base: KnowledgeBase, query: str, top_k: int = 10, **filters) -> list[str]:
    return [hit["id"] for hit in await base.retrieve(query, top_k, filters)]


async def test_passages_are_ranked_by_matching_words_and_ties_keep_their_order(notes):
    assert await found(notes, "light rain") == ["doc_1", "paris"]
    assert await found(notes, "Rain in Paris") == ["paris", "doc_1"]
    assert await found(notes, "snow") == []
    assert await found(notes, "") == []
    assert await found(notes, "?!") == []


async def test_at_most_top_k_passages_are_found(notes):
    assert await found(notes, "light rain", 1) == ["doc_1"]


async def test_chinese_is_found_by_pairs_of_characters_and_single_characters_only_alone(notes):
    assert await found(notes, "柏林") == ["doc_4"]
    assert await found(notes, "林柏") == []
    assert await found(notes, "雨") == ["doc_4"]
    assert await found(notes, "下雨 Paris") == ["paris", "doc_4"]


async def test_filters_are_equal_to_metadata_or_nothing_is_found(notes):
    assert await found(notes, "berlin", city="Berlin") == ["doc_1", "doc_2"]
    assert await found(notes, "berlin", city="Berlin", year=2025) == ["doc_2"]
    assert await found(notes, "berlin", wet=1) == []
    assert await found(notes, "berlin", colour=None) == []


async def test_a_passage_has_text_metadata_score_and_distance(notes):
    (hit,) = await notes.retrieve("sunny sun", 5, {})

    assert hit == {
        "id": "doc_2",
        "content": [{"type": "text", "text": "Berlin: sun"}],
        "metadata": {"city": "Berlin", "year": 2025},
        "distance": 0.5,
        "score": 0.5,
    }
    assert ContentElement.model_validate(hit["content"][0])


async def test_a_knowledge_base_can_be_slow_and_fail(load_set, sleeps):
    base = load_set("knowledge_bases:\n  - {id: a, kind: scripted, delay: 2, status: 503}\n").knowledge_bases["a"]

    with pytest.raises(ResourceError, match="503") as caught:
        await base.retrieve("q", 5, {})

    assert caught.value.code is ErrorCode.RUNTIME_ERROR
    assert caught.value.retryable
    assert sleeps.all == [2]


@given(st.text())
def test_every_term_of_a_text_is_found_in_the_text_itself(text: str):
    assert query_terms(text) <= terms(text)
    assert matched_share(query_terms(text), terms(text)) == (1.0 if query_terms(text) else 0.0)


def test_search_ignores_case_and_character_width():
    assert query_terms("ＢＥＲＬＩＮ Straße") == query_terms("berlin STRASSE")


# files


def test_markdown_is_split_at_headings_which_are_metadata_and_searched(write):
    path = write("notes.md", "Before.\n\n# Weather #\n\nRain.\n\nSnow.\n## Trains\nAll night.\n")

    passages = passages_of(path, "notes.md")

    assert [(p.id, p.text, dict(p.metadata)) for p in passages] == [
        ("notes.md#1", "Before.", {"source": "notes.md"}),
        ("notes.md#2", "# Weather #\n\nRain.\n\nSnow.", {"source": "notes.md", "heading": "Weather"}),
        ("notes.md#3", "## Trains\nAll night.", {"source": "notes.md", "heading": "Trains"}),
    ]


def test_hash_lines_in_code_blocks_and_plain_text_are_not_headings(write):
    text = "# One\n```\n# comment\n~~~\n# still\n```\nend\n"

    assert [p.metadata.get("heading") for p in passages_of(write("a.md", text), "a.md")] == ["One"]
    assert [p.metadata for p in passages_of(write("a.txt", text), "a.txt")] == [{"source": "a.txt"}]


def test_paragraphs_are_gathered_until_a_passage_is_full_and_each_passage_knows_its_heading(write):
    text = "# Weather\n\n" + "\n\n".join(f"rain {number} " + "x" * 300 for number in range(6))

    passages = passages_of(write("a.md", text), "a.md")

    assert [p.text.count("rain") for p in passages] == [3, 3]
    assert all("weather" in p.terms for p in passages)
    assert "\n\n".join(p.text for p in passages) == text


@given(st.text(alphabet="ab 。\n", max_size=4 * MAX_PASSAGE_CHARS), st.sampled_from([".md", ".txt"]))
def test_no_passage_is_empty_or_too_long_and_no_character_is_lost(tmp_path_factory, text: str, suffix: str):
    path = tmp_path_factory.mktemp("passages") / f"a{suffix}"
    path.write_text(text)

    passages = passages_of(path, "a")

    assert all(0 < len(p.text) <= MAX_PASSAGE_CHARS for p in passages)
    assert "".join("".join(p.text for p in passages).split()) == "".join(text.split())


def test_paragraph_without_spaces_is_split_too(write):
    passages = passages_of(write("a.txt", "x" * (2 * MAX_PASSAGE_CHARS + 5)), "a.txt")

    assert [len(p.text) for p in passages] == [MAX_PASSAGE_CHARS, MAX_PASSAGE_CHARS, 5]


def test_an_empty_file_has_no_passages(write):
    assert passages_of(write("a.md", "\n \n"), "a.md") == []


async def test_file_paths_are_relative_to_the_yaml_that_names_them(write, load_set):
    write("deep/kb.yaml", "files: [docs/a.md]\n")
    write("deep/docs/a.md", "rain")
    write("b.txt", "rain")
    bases = load_set(
        "knowledge_bases:\n  - {id: a, kind: scripted, script: deep/kb.yaml}\n"
        "  - {id: b, kind: scripted, files: [b.txt]}\n"
    ).knowledge_bases

    assert await found(bases["a"], "rain") == ["docs/a.md#1"]
    assert await found(bases["b"], "rain") == ["b.txt#1"]


def test_a_file_in_another_encoding_names_the_key_that_lists_it(write, load_set, tmp_path: Path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 ")

    with pytest.raises(Exception, match=r"trackside.yaml:4: knowledge_bases\[0\].files\[0\]: a.txt is not UTF-8"):
        load_set("knowledge_bases:\n  - id: a\n    kind: scripted\n    files: [a.txt]\n")
