"""Queued messages: what waits for a run in progress or for its end."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engine.api.core import EngineCore
from engine.events import Mode
from engine.intake.envelope import copy_with_new_ids
from engine.journal.secret_mask import SecretMask, has_mark
from engine.queue.items import current_envelope
from engine.queue.leftovers import Resend, resend_withdrawn
from engine.queue.receipts import SteeringReport, read_steering_report
from engine.queue.requests import Action
from engine.queue.ticket import Ticket
from engine.queue.user_edits import QueueEditor
from engine.run.masked_event import put_back_secrets
from engine.run.prepare import RunOptions, prepare
from engine.run.run_order import RunOrder
from engine.store import queue
from engine.store.errors import CannotSteer, OwnedByOtherHost
from engine.store.queue import QueueItem


class QueueApi:
    """List, change, withdraw and resend queued messages, also those that wait in another process.

    Their secrets are masked when they are read.
    """

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def receipts(self, name: str) -> SteeringReport:
        """The steering messages of a run with their fates, when it last pulled, or why it cannot be steered."""
        run = await self._core.find_run(name)
        live = self._core.live_run(run.run_id)
        pulls, last = (live.pulls, live.last_pull_at) if live is not None else (None, None)
        return await self._core.read(lambda conn: read_steering_report(conn, run, pulls=pulls, last_pull_at=last))

    async def edit(self, item_id: str, text: str) -> QueueItem:
        """Replace the text of a queued message."""
        return await self._change(Action.EDIT, QueueEditor.edit, item_id, text=text)

    async def move(self, item_id: str, before: str | None = None) -> QueueItem:
        """Move a queued message before another, or to the end."""
        return await self._change(Action.MOVE, QueueEditor.move, item_id, before=before)

    async def pause(self, item_id: str) -> QueueItem:
        """Keep a queued message back until it is resumed."""
        return await self._change(Action.PAUSE_MESSAGE, QueueEditor.pause, item_id)

    async def resume(self, item_id: str) -> QueueItem:
        return await self._change(Action.RESUME_MESSAGE, QueueEditor.resume, item_id)

    async def withdraw(self, item_id: str) -> QueueItem:
        """Withdraw a queued message, so that it is never delivered."""
        return await self._change(Action.WITHDRAW, QueueEditor.withdraw, item_id)

    async def set_mode(self, item_id: str, mode: Mode) -> QueueItem:
        """Offer a queued message to the run in progress (`steer`), or start a run with it afterwards (`after`)."""
        return await self._change(Action.SET_MODE, QueueEditor.set_mode, item_id, mode=mode)

    async def dismiss(self, item_id: str) -> QueueItem:
        """Take a dropped message off the list of messages that can be sent again."""
        return queue.as_shown(await self._core.require_host().queue_editor.dismiss(item_id))

    async def resend(
        self,
        item_id: str,
        options: RunOptions | None = None,
        *,
        text: str | None = None,
        after: bool = False,
        ask_elsewhere: bool = False,
    ) -> Ticket:
        """Send a dropped or withdrawn message as a new message to the same runner, with another text if given.

        `ask_elsewhere` has the meaning that it has for `engine.runs.submit`.
        """
        item = await self._core.read(lambda conn: queue.get(conn, item_id))
        item = item if text is None else replace(item, text=text)
        order, resend = self._new_order(item, options), Resend(item_id)
        host = self._core.require_host()
        return await host.submit(order, after=after, resend=resend, ask_elsewhere=ask_elsewhere)

    async def restore(self, item_id: str) -> Ticket:
        """Undo a withdrawal: queue the same message again, in its former mode and place."""
        item = await self._core.read(lambda conn: queue.get(conn, item_id))
        resend = resend_withdrawn(item)
        order, is_after = self._new_order(item), item.mode == Mode.AFTER
        return await self._core.require_host().submit(order, after=is_after, resend=resend, ask_elsewhere=True)

    async def list_resendable(self, conversation_id: str, *, withdrawn_since: int, limit: int = 100) -> list[QueueItem]:
        """The newest messages that were dropped, or withdrawn since a time, and neither resent nor dismissed.

        The message that was lost last comes last.
        """
        return await self._core.read(
            lambda conn: queue.returnable(conn, conversation_id, withdrawn_since=withdrawn_since, limit=limit)
        )

    async def list(self, conversation_id: str | None = None, *, run_id: str | None = None) -> list[QueueItem]:
        """Messages that are queued, in their order."""
        items = await self._core.fetch(queue.waiting_query(conversation_id=conversation_id, run_id=run_id))
        return [queue.as_shown(item) for item in items]

    async def _change(
        self, action: Action, change: Callable[..., Awaitable[QueueItem]], item_id: str, **arguments: Any
    ) -> QueueItem:
        """Change a message here, or ask the process that it is queued in to change it."""
        core = self._core
        if core.host is not None:
            with suppress(OwnedByOtherHost):
                return queue.as_shown(await change(core.host.queue_editor, item_id, **arguments))
        item = await core.read(lambda conn: queue.editable(conn, item_id))
        await core.requests.send(action, item.host, item.run_id, {"item_id": item_id, **arguments})
        return queue.as_shown(await core.read(lambda conn: queue.get(conn, item_id)))

    def _new_order(self, item: QueueItem, options: RunOptions | None = None) -> RunOrder:
        """The message of an item as a new event, prepared for the same runner unless `options` names another."""
        core = self._core
        same = options or core.same_runner(item.metadata.get(queue.AGENT), item.runner_id, item.metadata)
        envelope = copy_with_new_ids(current_envelope(item), core.ids)
        order = prepare(core.workspace, envelope, same)
        if queue.IS_MASKED not in item.metadata:
            return order
        mask = _with_known(order.secret_mask, core.workspace.secrets)
        whole = put_back_secrets(envelope, mask)
        if has_mark(whole.model_dump_json()):
            raise CannotSteer("The message contains a secret that is no longer known. Type the message again.")
        return replace(prepare(core.workspace, whole, same), secret_mask=mask)


def _with_known(mask: SecretMask, known: Mapping[str, str]) -> SecretMask:
    """A mask that also has the secrets of earlier runs whose names are not ambiguous."""
    counts = Counter([*mask.secrets.values(), *(name for value, name in known.items() if value not in mask.secrets)])
    return SecretMask({**mask.secrets, **{value: name for value, name in known.items() if counts[name] == 1}})
