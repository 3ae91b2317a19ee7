"""Each process has a random hash seed and each run a random seed, which are known before the run begins."""

import os
import random

import pytest

from engine.runtimes.seeds import Seeds, new_seeds

DRAWS = """
    import os, random, uuid

    AT_IMPORT = random.random()

    async def run(ctx):
        order = list({str(number) for number in range(50)})
        yield [AT_IMPORT, random.random(), str(uuid.uuid4()), order, os.environ.get("PYTHONHASHSEED")]
"""
AUTHOR = """
    import random
    random.seed(7)

    async def run(ctx):
        yield random.random()
"""


async def draw(harness, launch):
    """Run once. Returns the facts of the reserved process, and what the runner has drawn."""
    process, sink = await harness.run_reserved(launch)
    assert not sink.chosen
    return process, *sink.results


def with_same_seeds(harness, facts, monkeypatch) -> None:
    """Let the pool choose the seeds of these facts again."""
    chosen = {32: facts.hash_seed, 128: int(facts.random_seed, 16)}
    monkeypatch.setattr(harness.pool, "_random_bits", chosen.__getitem__)


async def test_two_processes_have_different_seeds_and_orders(harness):
    launch = harness.launch(DRAWS)
    (one, first), (two, second) = await draw(harness, launch), await _draw_in_new_process(harness, launch)
    assert one.hash_seed != two.hash_seed
    assert one.random_seed != two.random_seed
    assert all(mine != other for mine, other in zip(first, second, strict=True))


async def test_same_seeds_give_the_same_numbers_ids_and_orders(harness, monkeypatch):
    launch = harness.launch(DRAWS)
    facts, first = await draw(harness, launch)
    with_same_seeds(harness, facts, monkeypatch)
    again, second = await _draw_in_new_process(harness, launch)
    assert (again.hash_seed, again.random_seed) == (facts.hash_seed, facts.random_seed)
    assert first == second


async def test_warmed_process_is_seeded_before_the_import_too(harness, monkeypatch):
    launch = harness.launch(DRAWS)
    facts, first = await draw(harness, launch)
    with_same_seeds(harness, facts, monkeypatch)
    await harness.pool.warm(launch)  # waits for the check of the first process
    harness.pool.renew()
    await harness.pool.warm(launch)
    # Only the child knows the seeds now.
    monkeypatch.setattr(harness.pool, "_random_bits", lambda bits: 1)
    again, second = await draw(harness, launch)
    assert (again.is_fresh, again.random_seed) == (True, facts.random_seed)
    assert first == second


async def test_run_that_comes_while_its_process_is_warmed_has_the_seeds_of_that_process(harness):
    launch = harness.launch(DRAWS)
    harness.pool._add_warm_start(launch)
    seeds = harness.pool._warm_starts[launch].seeds
    facts, drawn = await draw(harness, launch)
    assert Seeds(facts.hash_seed, facts.random_seed) == seeds
    assert drawn[-1] == str(seeds.hash_seed)
    assert len(harness.pool._children) == 1


async def test_reused_process_gets_a_new_seed_at_the_start_of_the_run(harness):
    launch = harness.launch(DRAWS)
    one, first = await draw(harness, launch)
    two, second = await draw(harness, launch)
    assert (one.is_fresh, two.is_fresh) == (True, False)
    assert (one.hash_seed, first[3]) == (two.hash_seed, second[3])
    assert one.random_seed != two.random_seed
    assert second[1] == random.Random(int(two.random_seed, 16)).random()
    assert second[2] != first[2]


async def test_seed_of_the_author_decides_in_the_first_and_in_a_later_run(harness):
    launch = harness.launch(AUTHOR)
    (one, first), (two, second) = await draw(harness, launch), await draw(harness, launch)
    own = random.Random(7)
    assert (one.is_fresh, two.is_fresh) == (True, False)
    assert [first, second] == [own.random(), own.random()]


async def test_without_determinism_nothing_is_seeded(harness):
    facts, drawn = await draw(harness, harness.launch(DRAWS, is_deterministic=False))
    assert (facts.is_deterministic, facts.hash_seed, facts.random_seed) == (False, None, None)
    assert drawn[-1] is None
    assert drawn[1] != random.Random(0).random()


@pytest.mark.parametrize(("given", "recorded"), [("7", 7), ("random", None), ("", None), ("4294967296", None)])
async def test_hash_seed_of_the_user_wins(given, recorded, harness):
    launch = harness.launch(DRAWS, env=(("PYTHONHASHSEED", given),))
    assert new_seeds(launch, lambda bits: 99).hash_seed == recorded


async def test_hash_seed_of_the_user_reaches_the_process(harness):
    facts, drawn = await draw(harness, harness.launch(DRAWS, env=(("PYTHONHASHSEED", "7"),)))
    assert (facts.hash_seed, drawn[-1]) == (7, "7")
    assert "PYTHONHASHSEED" in facts.variables


async def test_hash_seed_is_never_zero_which_would_turn_hashing_off(harness):
    assert new_seeds(harness.launch(DRAWS), lambda bits: 0).hash_seed == 1


async def test_released_process_serves_the_next_run(harness):
    launch = harness.launch(DRAWS)
    await harness.pool.warm(launch)
    reserved = await harness.pool.reserve(launch)
    reserved.release()
    facts, _ = await draw(harness, launch)
    reserved.release()
    assert facts.hash_seed == reserved.process.hash_seed
    assert len(harness.pool._children) == 1


async def test_reserved_process_that_ends_is_replaced_by_one_with_the_same_seeds(harness, run_context, sink):
    launch = harness.launch(DRAWS)
    await draw(harness, launch)
    reserved = await harness.pool.reserve(launch)
    os.kill(reserved.child.pid, 9)
    await reserved.child._watching
    await (await reserved.begin("run_1", run_context({}), sink)).ended()
    [(process, reason, is_replaced)] = sink.chosen
    assert (process.is_fresh, is_replaced, reason) == (True, True, "the reserved process had ended")
    assert (process.hash_seed, process.random_seed) == (reserved.process.hash_seed, reserved.process.random_seed)
    assert sink.results[0][-1] == str(process.hash_seed)
    assert sink.results[0][0] == random.Random(int(process.random_seed, 16)).random()


async def _draw_in_new_process(harness, launch):
    harness.pool.renew()
    return await draw(harness, launch)
