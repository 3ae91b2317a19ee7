"""ClosingAwaitable: a coroutine that may never be awaited."""

import gc
import warnings

import pytest

from console.ui.shared.closing_awaitable import ClosingAwaitable


async def return_done() -> str:
    return "done"


async def test_result_is_that_of_the_coroutine():
    assert await ClosingAwaitable(return_done()) == "done"


async def test_exception_of_the_coroutine_is_raised():
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await ClosingAwaitable(fail())


def test_coroutine_that_was_never_awaited_causes_no_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ClosingAwaitable(return_done())
        gc.collect()
    assert caught == []
