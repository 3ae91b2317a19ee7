"""The same runner, but what is said while it works does not reach it."""

import obeys


async def run(ctx):
    async for result in obeys.run(ctx):
        yield result
