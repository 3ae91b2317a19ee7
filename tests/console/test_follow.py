"""Follow: the end, a place further up, or one entry."""

from console.model.stream.follow import NEAR, Follow, Hold


def test_a_list_that_follows_stays_at_its_end_however_much_comes() -> None:
    assert Follow().grown(1_000) == Follow()


def test_any_move_up_lets_go_of_the_end_and_counts_what_comes_then() -> None:
    follow = Follow().moved_up().grown(200).grown(14)

    assert (follow.hold, follow.new) == (Hold.LOCKED, 214)


def test_a_move_down_to_near_the_end_follows_again() -> None:
    locked = Follow().moved_up().grown(5)

    assert locked.moved_down(NEAR + 1) == locked
    assert locked.moved_down(NEAR) == Follow()


def test_a_pin_stays_whatever_is_scrolled_and_counts_what_is_new() -> None:
    pinned = Follow().pinned(2082).grown(3)

    assert pinned.moved_up() == pinned
    assert pinned.moved_down(0) == pinned
    assert (pinned.position, pinned.new) == (2082, 3)


def test_a_pin_that_moves_keeps_the_count_and_the_end_clears_it() -> None:
    moved = Follow().pinned(10).grown(3).pinned(9)

    assert (moved.position, moved.new) == (9, 3)
    assert moved.end() == Follow()
