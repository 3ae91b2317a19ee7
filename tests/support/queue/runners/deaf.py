"""The runner of obeys.py without the capability to be steered."""

import obeys


async def run(ctx):
    async for result in obeys.run(ctx):
        yield result
