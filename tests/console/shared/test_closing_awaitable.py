"""What is to be done and never begins."""

import gc
import warnings

import pytest

from console.ui.shared.closing_awaitable import ClosingAwaitable


async def some() -> str:
    return "done"


async def test_an_act_is_awaited_like_what_it_is_made_of():
    assert await ClosingAwaitable(some()) == "done"


async def test_what_failed_fails():
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await ClosingAwaitable(fails())


def test_one_that_never_began_is_gone_without_a_word():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ClosingAwaitable(some())
        gc.collect()
    assert told == []
