"""The session browser: all sessions as a tree, and search in titles and transcripts."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, Final

from textual.binding import BindingType

from console.data.sessions import Hit, SearchResults, SessionDetails, SessionReader
from console.model.commands.key_labels import key_of
from console.model.sessions.new_session import SessionFields, metadata_object
from console.model.sessions.rows import (
    hit_row,
    line_details,
    own_metadata,
    session_details,
    session_row,
    title_of,
)
from console.model.sessions.tree import SessionNode
from console.model.state.json_text import to_json_text
from console.model.text.lists import Item, ListItems, LongListItems, Row, Source, heading
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.sessions.controller import SessionsController
from console.ui.sessions.delete import UNDO_SECONDS, SessionDeleter
from console.ui.sessions.new import NewSession
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser
from console.ui.shared.clipboard import Clipboard
from console.ui.shared.services import AppServices
from console.ui.state.edit import EditValue

_NO_SESSIONS: Final = "No sessions yet.\nPress esc and send a message to start one."
_NEEDS_ROW: Final = frozenset({"open", "rename", "delete", "fork", "spawn", "set", "resend", "fold", "copy", "aside"})
"""Commands that act on the row at the cursor."""


class SessionsScreen(SearchBrowser):
    """Shows the tree of sessions, or the results of a search."""

    place = "sessions"
    heading = "Sessions"
    placeholder = "{sessions.search} searches titles and messages"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("sessions")

    def __init__(
        self, services: AppServices, sessions: SessionsController, deleter: SessionDeleter, clipboard: Clipboard
    ) -> None:
        super().__init__(services, clipboard)
        self._sessions = sessions
        self._deleter = deleter
        self.found: SearchResults | None = None
        self._has_cursor_moved = False

    # Reading

    def open_reader(self) -> None:
        self.reader = SessionReader(self.services.active_session.engine)

    async def read_first_page(self) -> None:
        await self._deleter.load()
        await self.reader.load_first()

    def read_next_page(self) -> Awaitable[None] | None:
        if self.found is not None:
            return None if self.found.is_complete else self.reader.search_more(self.found)
        return None if self.reader.is_complete else self.reader.load_more()

    async def read_changes(self) -> bool:
        shelf = self.list.source
        visible = {name for row in self.list.visible_rows if (name := _session_of(shelf.item(row).thing))}
        is_new = await self.reader.refresh(visible, self.found)
        if is_new:
            self.expire_side()
        return is_new

    @property
    def searched_text(self) -> str:
        return self.found.query if self.found is not None else ""

    async def search_for(self, text: str) -> None:
        self.found = await self.reader.search(text) if text else None

    async def _reload(self, session_id: str) -> None:
        await self.reader.reload(session_id)
        if self.found is not None:
            self.found = await self.reader.search(self.found.query)
        self.show()

    def finish_delete(self, session_id: str, *, is_deleted: bool) -> None:
        """Update the list after a session was deleted, or after that failed."""
        if not self.is_mounted:
            return  # nothing is loaded yet
        if is_deleted:
            parent = self.reader.tree.parent_of(session_id)
            self.reader.remove(session_id, self.found)
            if parent is not None:  # its number of children has changed
                self.read(self.reader.reload(parent), self.show)
        self.show()

    # Showing

    def empty_text(self) -> str:
        return _NO_SESSIONS if self.found is None else self.found.nothing

    def remark(self) -> str:
        if self.found is not None:
            return self.found.remark
        count = len(self.reader.tree)
        return number(count, "session") if self.reader.is_complete else f"{count:,}+ sessions"

    def list_items(self) -> ListItems:
        going, tree = self._deleter.pending, self.reader.tree
        if self.found is None:
            return LongListItems(tree.arrange(going), self._session_item, tree.index_of)
        sessions = [SessionNode(row, 0, None) for row in self.found.sessions if row.session.session_id not in going]
        hits = [hit for hit in self.found.hits if hit.line.conversation_id not in going]
        items: list[Item] = []
        if sessions:
            above = partial(_heading, "Sessions by title", self.found.titles)
            items += [Item("titles", above, is_heading=True), *map(self._session_item, sessions)]
        if hits:
            above = partial(_heading, "Messages", self.found.lines)
            items += [Item("lines", above, is_heading=True), *map(self._hit_item, hits)]
        return ListItems(items)

    def show_list(self) -> None:
        """Fill the list. When it opens, the cursor goes to the open session."""
        super().show_list()
        place = None if self._has_cursor_moved else self.list.source.place_of(self.services.active_session.session_id)
        self._has_cursor_moved = self._has_cursor_moved or self.list.source.height > 0
        if place is not None:
            self.list.go_to(place)

    def _session_item(self, node: SessionNode) -> Item:
        return Item(node.row.session.session_id, partial(self._session_row, node), node)

    def _session_row(self, node: SessionNode, width: int) -> Row:
        active = self.services.active_session
        return session_row(node, width, active.engine.now(), active.session_id)

    def _hit_item(self, hit: Hit) -> Item:
        return Item(f"line {hit.line.seq}", partial(self._hit_row, hit), hit)

    def _hit_row(self, hit: Hit, width: int) -> Row:
        return hit_row(hit, self.searched_text, width, self.services.active_session.engine.now())

    @property
    def node(self) -> SessionNode | None:
        """The session at the cursor."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, SessionNode) else None

    @property
    def hit(self) -> Hit | None:
        """The found line at the cursor."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, Hit) else None

    def side_rows(self) -> Source | None:
        node, hit, now = self.node, self.hit, self.services.active_session.engine.now()
        if hit is not None:
            return line_details(hit, now)
        if node is None:
            return None
        session = node.row.session
        side = self.load_side(session.session_id, partial(self.reader.load_details, session.session_id))
        details = side.value if isinstance(side.value, SessionDetails) else SessionDetails()
        parent = self.reader.name_of(session.parent_session_id)
        return session_details(node.row, now, details.last_lines, side.note, parent_title=parent, stored=details.size)

    # Commands

    def on_item_list_chosen(self) -> None:
        self.action_open()

    def why_not(self, what: str) -> str | None:
        """Why a command is not available for the row at the cursor."""
        if what == "undo":
            return self._deleter.why_no_undo
        if what not in _NEEDS_ROW:
            return None
        if (hit := self.hit) is not None:
            return _why_not_line(what, hit)
        if (node := self.node) is not None:
            return _why_not_session(what, node)
        return "Choose a row first." if self.list.source.height else "The list is empty."

    def action_open(self) -> None:
        if not self.services.check_can("sessions.open"):
            return
        if (hit := self.hit) is not None:
            self._do_if_exists("Opening…", partial(self._sessions.open_line, hit))
        elif (node := self.node) is not None:
            self._do_if_exists("Opening…", partial(self._sessions.resume, node.row.session.session_id))

    def _do_if_exists(self, progress: str, act: Callable[[], Awaitable[None]]) -> None:
        """Run a command on the session at the cursor, unless another process has deleted it."""
        thing = self.list.current.thing if self.list.current is not None else None
        session_id, title = _session_of(thing), _title_of(thing)

        async def do() -> None:
            if await self._exists(session_id, title):
                await act()

        self.run_with_progress(progress, do())

    async def _exists(self, session_id: str, title: str) -> bool:
        """Whether a session still exists. If not, say so and remove it from the list."""
        if await self.services.active_session.engine.sessions.exists(session_id):
            return True
        self.services.show_toast(f"“{one_line(title, 60)}” was deleted in another process.", severity="warning")
        self.reader.remove(session_id, self.found)
        self.show()
        return False

    def action_rename(self) -> None:
        node = self.node
        if self.services.check_can("sessions.rename") and node is not None:
            session = node.row.session
            rename = partial(self._rename, session.session_id, title_of(node.row))
            self.ask_line.ask("New title (empty removes it)", session.title or "", rename)
            self.read(self._close_line_if_deleted(session.session_id, title_of(node.row)))

    async def _close_line_if_deleted(self, session_id: str, title: str) -> None:
        if not await self._exists(session_id, title):
            self.ask_line.close()

    def _rename(self, session_id: str, former: str, title: str) -> None:
        async def rename() -> None:
            if not await self._exists(session_id, former):
                return
            await self.services.active_session.engine.sessions.rename(session_id, title.strip() or None)
            self.services.updater.refresh("rail")
            await self._reload(session_id)

        self.run_with_progress(
            f"Renaming to “{one_line(title, 30)}”…" if title.strip() else "Removing the title…", rename()
        )

    def action_new(self) -> None:
        engine = self.services.active_session.engine

        async def create(fields: SessionFields) -> str:
            session = await engine.sessions.create(
                fields.session_id, user_id=fields.user_id, title=fields.title, metadata=fields.metadata
            )
            return session.session_id

        if self.services.check_can("sessions.new"):
            self.app.push_screen(NewSession("New session", create), self._open_created)

    def action_spawn(self) -> None:
        node, engine = self.node, self.services.active_session.engine
        if not self.services.check_can("sessions.spawn") or node is None:
            return
        parent = node.row.session

        async def create(fields: SessionFields) -> str:
            child = await engine.sessions.spawn(
                parent.session_id,
                fields.session_id,
                user_id=fields.user_id,
                title=fields.title,
                metadata=fields.metadata,
            )
            return child.session_id

        title = f"New child of “{title_of(node.row, 60)}”"
        self.app.push_screen(NewSession(title, create, user=parent.user_id or ""), self._open_created)

    def _open_created(self, session_id: str | None) -> None:
        if session_id is not None:
            self.run_with_progress("Opening…", self._sessions.resume(session_id))

    def action_set(self) -> None:
        node, engine = self.node, self.services.active_session.engine
        if not self.services.check_can("sessions.set") or node is None:
            return
        session_id, before = node.row.session.session_id, own_metadata(node.row.session)

        async def save(value: Any, _: object) -> None:
            metadata = metadata_object(value)
            await engine.sessions.set_metadata(session_id, metadata, remove=before.keys() - metadata.keys())
            await self._reload(session_id)

        report = partial(self.services.show_toast, severity="error")
        title = f"Metadata of “{title_of(node.row, 60)}”"
        self.app.push_screen(EditValue(title, to_json_text(before), save, before, engine.now, report))

    def action_delete(self) -> None:
        node = self.node
        if self.services.check_can("sessions.delete") and node is not None:
            title = title_of(node.row)
            hiding = self._deleter.delete(node.row, title)
            self.run_with_progress("Deleting the session…", self._show_deleted(hiding, title))
            self.show()

    async def _show_deleted(self, hiding: "asyncio.Task[str]", title: str) -> None:
        kept = await asyncio.shield(hiding)  # it goes on if the app quits
        text = f"Deleted “{one_line(title, 60)}”"
        self.show_key_toast(f"{text}. {kept}" if kept else text, _undo_hint(), UNDO_SECONDS)

    def action_undo(self) -> None:
        if self.services.check_can("sessions.undo"):
            self.run_with_progress("Restoring the session…", self._undo())

    async def _undo(self) -> None:
        if (session_id := await self._deleter.undo()) is not None:
            self.dismiss_key_toasts()
            await self._reload(session_id)
            if (parent := self.reader.tree.parent_of(session_id)) is not None:
                await self.reader.reload(parent)
                self.show()
            if (place := self.list.source.place_of(session_id)) is not None:
                self.list.go_to(place)

    def action_fork(self) -> None:
        if not self.services.check_can("sessions.fork"):
            return
        if (hit := self.hit) is not None:
            self._do_if_exists("Forking…", partial(self._sessions.fork, hit.line.conversation_id, hit.line))
        elif (node := self.node) is not None:
            self._do_if_exists("Forking…", partial(self._sessions.fork, node.row.session.session_id))

    def action_resend(self) -> None:
        if not self.services.check_can("sessions.resend"):
            return
        hit, node = self.hit, self.node
        run_id = hit.line.run_id if hit is not None else node.row.last_run if node is not None else None
        if run_id is not None:
            self._do_if_exists("Sending again…", partial(self._sessions.send_again, run_id))

    def action_fold(self) -> None:
        node = self.node
        if not self.services.check_can("sessions.fold") or node is None:
            return
        session_id = node.row.session.session_id
        self.reader.tree.set_open(session_id, is_open=not node.is_open)
        if not node.is_open and self.reader.tree.loaded_children(session_id) < node.row.children:
            self.read(self.reader.load_children(session_id), self.show)
        self.show()

    def action_copy(self) -> None:
        if not self.services.check_can("sessions.copy") or self.copy_line():
            return
        hit, node = self.hit, self.node
        if hit is not None:
            self._clipboard.copy(hit.line.conversation_id, "the session id")
        elif node is not None:
            self._clipboard.copy(node.row.session.session_id, "the session id")


def _session_of(thing: object) -> str:
    """The session id of a row; empty for a heading."""
    if isinstance(thing, SessionNode):
        return thing.row.session.session_id
    return thing.line.conversation_id if isinstance(thing, Hit) else ""


def _title_of(thing: object) -> str:
    if isinstance(thing, SessionNode):
        return title_of(thing.row)
    return thing.title or thing.line.conversation_id if isinstance(thing, Hit) else ""


def _undo_hint() -> str:
    return f"{key_of('sessions.undo')} undoes it; quitting makes it final"


def _heading(title: str, remark: str, _: int) -> Row:
    return heading(title, remark)


def _why_not_line(what: str, hit: Hit) -> str | None:
    if what in ("rename", "delete", "fold", "spawn", "set"):
        return "This is a message, not a session. esc shows the sessions."
    return "Its run was deleted. It cannot be sent again." if what == "resend" and hit.line.run_id is None else None


def _why_not_session(what: str, node: SessionNode) -> str | None:
    row = node.row
    if what == "delete" and row.live_run is not None:
        return "A run is in progress in this session. Stop it first."
    if what == "resend" and row.last_run is None:
        return "This session has no runs."
    if what == "fork" and not row.lines:
        return "This session is empty."
    if what == "fold" and node.is_open is None:
        return f"This session has no forks. {key_of('sessions.fork')} forks it."
    return None
