"""The comparison of two revisions: which figure counts as worse, and which is too noisy to count."""

import pytest

from tests.bench.compare import Figure, compared, is_more_better


def figures(*ratios: float, more: bool = False) -> list[Figure]:
    return [Figure(ratio, more) for ratio in ratios]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (figures(1.0, 1.02, 0.99), figures(1.08, 1.05, 1.06), "ok"),
        (figures(1.0, 1.02, 0.99), figures(1.2, 1.21, 1.19), "worse"),
        (figures(1.0, 1.02, 0.99), figures(0.8, 0.81, 0.8), "better"),
        (figures(1.0, 1.3, 0.9), figures(2.0, 2.0, 2.0), "noisy"),
        (figures(0.5, 0.5, 0.5, more=True), figures(0.4, 0.4, 0.4, more=True), "worse"),
        (figures(0.5, 0.5, 0.5, more=True), figures(0.6, 0.6, 0.6, more=True), "better"),
        ([], figures(1.0), "new"),
        (figures(1.0), [], "gone"),
    ],
)
def test_verdict_compares_the_medians_and_excludes_noisy_figures(
    before: list[Figure], after: list[Figure], verdict: str
):
    assert compared("figure", before, after).verdict == verdict


def test_an_old_line_without_a_direction_is_a_rate_if_its_aim_is_above_its_limit():
    assert is_more_better({"aim": 0.3, "limit": 0.15})
    assert not is_more_better({"aim": 100, "limit": 300})
    assert not is_more_better({"aim": None, "limit": 1.4})
