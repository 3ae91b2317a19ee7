"""Follow states: the end, a scroll position, or one entry."""

from console.model.text.follow import NEAR_END_ROWS, Follow, FollowState


def test_following_list_stays_at_its_end() -> None:
    assert Follow().grown(1_000) == Follow()


def test_moving_up_stops_following_and_counts_new_rows() -> None:
    follow = Follow().moved_up().grown(200).grown(14)

    assert (follow.state, follow.new) == (FollowState.LOCKED, 214)


def test_moving_down_near_the_end_follows_again() -> None:
    locked = Follow().moved_up().grown(5)

    assert locked.moved_down(NEAR_END_ROWS + 1) == locked
    assert locked.moved_down(NEAR_END_ROWS) == Follow()


def test_pin_stays_while_scrolling_and_counts_new_rows() -> None:
    pinned = Follow().pinned(2082).grown(3)

    assert pinned.moved_up() == pinned
    assert pinned.moved_down(0) == pinned
    assert (pinned.position, pinned.new) == (2082, 3)


def test_moved_pin_keeps_the_count_and_the_end_clears_it() -> None:
    moved = Follow().pinned(10).grown(3).pinned(9)

    assert (moved.position, moved.new) == (9, 3)
    assert moved.end() == Follow()
