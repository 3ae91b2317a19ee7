"""`trackside steer`: send a message to a run in progress, or change one that it has not received yet."""

import argparse
from typing import TYPE_CHECKING

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json, message_text

if TYPE_CHECKING:
    from engine.api import Engine, Receipt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    parser.add_argument("text", metavar="TEXT", nargs="?", type=message_text, help="the message")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--edit", metavar="MESSAGE", help="replace the text of this queued message by TEXT")
    change.add_argument("--withdraw", metavar="MESSAGE", help="withdraw this queued message")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    if options.withdraw is not None and options.text is not None:
        raise UsageError("--withdraw takes no TEXT. See `trackside steer --help`.")
    if options.withdraw is None and options.text is None:
        raise UsageError("TEXT is missing: the message to send. See `trackside steer --help`.")
    return asyncio.run(_steer(options))


async def _steer(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json
    from console.cli.receipts import receipt_record
    from console.cli.terminal import print_error, standard_output
    from console.model.text.safe import one_line
    from engine.api import AlreadyDecided, CannotSteer, Engine, HostGone, HostSilent

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run_id = (await engine.runs.get(options.run)).run_id
        try:
            receipt = await _change_queue(engine, run_id, options)
        except (AlreadyDecided, CannotSteer, HostGone, HostSilent) as error:
            print_error(str(error))
            return ExitCode.NO
    if options.json:
        print_json(out, receipt_record(receipt))
    else:
        done = "Withdrawn from" if options.withdraw else "Changed for" if options.edit else "Sent to"
        out.line(f"{done} {run_id}: {one_line(receipt.text or '', 200)}  ({receipt.id})")
    return ExitCode.OK


async def _change_queue(engine: "Engine", run_id: str, options: argparse.Namespace) -> "Receipt":
    """Carry out the command through the run's host. Returns the receipt of the message."""
    named: str | None = options.edit or options.withdraw
    if named is None:
        ticket = await engine.runs.steer(run_id, options.text)
        return await _receipt_of(engine, run_id, ticket.item_id)
    await _receipt_of(engine, run_id, named)  # raises if the run has no such message
    if options.edit is not None:
        await engine.queue.edit(named, options.text)
    else:
        await engine.queue.withdraw(named)
    return await _receipt_of(engine, run_id, named)


async def _receipt_of(engine: "Engine", run_id: str, item_id: str | None) -> "Receipt":
    receipts = (await engine.queue.receipts(run_id)).receipts
    found = next((receipt for receipt in receipts if receipt.id == item_id), None)
    if found is None:
        raise UsageError(f"run {run_id} has no message {item_id!r}. `trackside receipts {run_id} --json` lists them.")
    return found
