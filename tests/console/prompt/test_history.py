from console.model.prompt.history import MAX_HISTORY_ITEMS, PromptHistory


def test_history_is_walked_newest_first_and_back_to_the_draft():
    recall = PromptHistory(["one", "two"])

    assert recall.earlier("dra") == "two"
    assert recall.earlier("two") == "one"
    assert recall.earlier("one") is None
    assert recall.is_browsing
    assert recall.later("one") == "two"
    assert recall.later("two") == "dra"
    assert not recall.is_browsing
    assert recall.later("dra") is None


def test_edited_history_is_kept_until_the_next_message():
    recall = PromptHistory(["one", "two"])

    recall.earlier("draft")
    recall.earlier("two, but better")
    assert recall.later("one") == "two, but better"
    recall.add("three")

    assert [recall.earlier(""), recall.earlier("three"), recall.earlier("two")] == ["three", "two", "one"]


def test_repeated_message_is_kept_once_at_the_end():
    recall = PromptHistory(["one", "two", "one"])

    assert [recall.earlier(""), recall.earlier("one"), recall.earlier("two")] == ["one", "two", None]


def test_empty_message_is_not_kept_in_the_history():
    assert len(PromptHistory(["", "  \n"])) == 0
    assert PromptHistory().earlier("draft") is None


def test_history_is_limited():
    recall = PromptHistory(str(number) for number in range(MAX_HISTORY_ITEMS + 20))

    assert len(recall) == MAX_HISTORY_ITEMS
    assert recall.earlier("") == str(MAX_HISTORY_ITEMS + 19)
