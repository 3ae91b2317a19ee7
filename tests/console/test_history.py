from console.model.prompt.history import MOST, Recall


def test_what_was_sent_comes_back_newest_first_and_then_the_draft():
    recall = Recall(["one", "two"])

    assert recall.earlier("dra") == "two"
    assert recall.earlier("two") == "one"
    assert recall.earlier("one") is None
    assert recall.is_browsing
    assert recall.later("one") == "two"
    assert recall.later("two") == "dra"
    assert not recall.is_browsing
    assert recall.later("dra") is None


def test_what_was_made_of_something_that_was_sent_is_kept_until_the_next_is_sent():
    recall = Recall(["one", "two"])

    recall.earlier("draft")
    recall.earlier("two, but better")
    assert recall.later("one") == "two, but better"
    recall.note("three")

    assert [recall.earlier(""), recall.earlier("three"), recall.earlier("two")] == ["three", "two", "one"]


def test_what_was_sent_twice_is_there_once_at_its_last_place():
    recall = Recall(["one", "two", "one"])

    assert [recall.earlier(""), recall.earlier("one"), recall.earlier("two")] == ["one", "two", None]


def test_nothing_is_not_remembered():
    assert len(Recall(["", "  \n"])) == 0
    assert Recall().earlier("draft") is None


def test_only_the_last_are_remembered():
    recall = Recall(str(number) for number in range(MOST + 20))

    assert len(recall) == MOST
    assert recall.earlier("") == str(MOST + 19)
