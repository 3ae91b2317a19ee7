"""The session browser: every session there is, and everything that was ever said."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar, Final

from textual.binding import BindingType

from console.data.sessions import SearchResults, SessionReader
from console.model.commands.key_labels import key_of
from console.model.sessions.rows import about_line, about_session, hit_row, session_row, title_of
from console.model.sessions.tree import Branch
from console.model.text.lists import Item, ListItems, LongListItems, Row, Source, heading
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.sessions.delete import MOMENT
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser
from engine.api import Hit

_NOTHING: Final = "There is no session yet.\nesc, then send something: that begins one."
_NEED_A_ROW: Final = frozenset({"open", "rename", "delete", "fork", "resend", "fold", "copy", "aside"})


class SessionsScreen(SearchBrowser):
    """A tree of sessions, or what a search found. What is chosen in it is carried out by the app."""

    place = "sessions"
    heading = "Sessions"
    placeholder = "{sessions.search} searches titles and all that was said"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.found: SearchResults | None = None
        self._was_shown = False

    # Reading

    def open_reader(self) -> None:
        self.desk = SessionReader(self.trackside.stage.engine)

    def read_first_page(self) -> Awaitable[None]:
        return self.desk.load_first()

    def read_next_page(self) -> Awaitable[None] | None:
        if self.found is not None:
            return None if self.found.is_complete else self.desk.search_more(self.found)
        return None if self.desk.is_complete else self.desk.load_more()

    async def read_changes(self) -> bool:
        shelf = self.list.source
        seen = {name for row in self.list.visible_rows if (name := _session_of(shelf.item(row).thing))}
        is_new = await self.desk.refresh(seen, self.found)
        if is_new:
            self.expire_side()
        return is_new

    @property
    def searched_text(self) -> str:
        return self.found.query if self.found is not None else ""

    async def search_for(self, text: str) -> None:
        self.found = await self.desk.search(text) if text else None

    async def _read_again(self, session_id: str) -> None:
        await self.desk.reload(session_id)
        if self.found is not None:
            self.found = await self.desk.search(self.found.query)
        self.show()

    def parted(self, session_id: str, *, is_gone: bool) -> None:
        """One that was deleted is gone now, or it stays."""
        if not self.is_mounted:
            return  # nothing was read yet
        if is_gone:
            parent = self.desk.tree.parent_of(session_id)
            self.desk.remove(session_id, self.found)
            if parent is not None:  # which has one child less
                self.read(self.desk.reload(parent), self.show)
        self.show()

    # What is shown

    def empty_text(self) -> str:
        return _NOTHING if self.found is None else self.found.nothing

    def remark(self) -> str:
        if self.found is not None:
            return self.found.remark
        return (
            f"{len(self.desk.tree):,}+ sessions"
            if not self.desk.is_complete
            else number(len(self.desk.tree), "session")
        )

    def list_items(self) -> ListItems:
        going, tree = self.trackside.parting.going, self.desk.tree
        if self.found is None:
            return LongListItems(tree.arrange(going), self._session_item, tree.place_of)
        sessions = [Branch(row, 0, None) for row in self.found.sessions if row.session.session_id not in going]
        hits = [hit for hit in self.found.hits if hit.line.conversation_id not in going]
        items: list[Item] = []
        if sessions:
            above = partial(_heading, "Sessions by title", self.found.titles)
            items += [Item("titles", above, is_heading=True), *map(self._session_item, sessions)]
        if hits:
            above = partial(_heading, "Lines", self.found.lines)
            items += [Item("lines", above, is_heading=True), *map(self._hit_item, hits)]
        return ListItems(items)

    def show_list(self) -> None:
        """When it opens, the cursor is on the session that one is in."""
        super().show_list()
        place = None if self._was_shown else self.list.source.place_of(self.trackside.stage.session)
        self._was_shown = self._was_shown or self.list.source.height > 0
        if place is not None:
            self.list.go_to(place)

    def _session_item(self, branch: Branch) -> Item:
        return Item(branch.row.session.session_id, partial(self._session_row, branch), branch)

    def _session_row(self, branch: Branch, width: int) -> Row:
        stage = self.trackside.stage
        return session_row(branch, width, stage.engine.now(), stage.session)

    def _hit_item(self, hit: Hit) -> Item:
        return Item(f"line {hit.line.seq}", partial(self._hit_row, hit), hit)

    def _hit_row(self, hit: Hit, width: int) -> Row:
        return hit_row(hit, self.searched_text, width, self.trackside.stage.engine.now())

    @property
    def branch(self) -> Branch | None:
        """The session that the cursor is on."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, Branch) else None

    @property
    def hit(self) -> Hit | None:
        """The line that it is on."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, Hit) else None

    def side_rows(self) -> Source | None:
        branch, hit, now = self.branch, self.hit, self.trackside.stage.engine.now()
        if hit is not None:
            return about_line(hit, now)
        if branch is None:
            return None
        session = branch.row.session
        said = self.load_side(session.session_id, partial(self.desk.load_last_lines, session.session_id))
        parent = self.desk.name_of(session.parent_session_id)
        return about_session(branch.row, now, said.value or (), said.note, parent=parent)

    # Acting

    def on_item_list_chosen(self) -> None:
        self.action_open()

    def why_not(self, what: str) -> str | None:
        """Why something cannot be done with what the cursor is on."""
        if what == "undo":
            return self.trackside.parting.why_no_undo
        if what not in _NEED_A_ROW:
            return None
        if (hit := self.hit) is not None:
            return _why_not_line(what, hit)
        if (branch := self.branch) is not None:
            return _why_not_session(what, branch)
        return "choose a row first" if self.list.source.height else "there is nothing here"

    def action_open(self) -> None:
        if not self.trackside.can("sessions.open"):
            return
        if (hit := self.hit) is not None:
            self._do_there("opening it…", partial(self.trackside.go_to_line, hit))
        elif (branch := self.branch) is not None:
            self._do_there("opening it…", partial(self.trackside.resume, branch.row.session.session_id))

    def _do_there(self, words: str, act: Callable[[], Awaitable[None]]) -> None:
        """Do something with the session that the cursor is on, unless another process deleted it."""
        thing = self.list.current.thing if self.list.current is not None else None
        session_id, title = _session_of(thing), _title_of(thing)

        async def do() -> None:
            if await self._is_there(session_id, title):
                await act()

        self.do(words, do())

    async def _is_there(self, session_id: str, title: str) -> bool:
        """Whether a session still is; else that is said, and it is listed no more."""
        if await self.trackside.stage.engine.sessions.exists(session_id):
            return True
        self.trackside.tell(f"“{one_line(title, 60)}” was deleted in another process", severity="warning")
        self.desk.remove(session_id, self.found)
        self.show()
        return False

    def action_rename(self) -> None:
        branch = self.branch
        if self.trackside.can("sessions.rename") and branch is not None:
            session = branch.row.session
            rename = partial(self._rename, session.session_id, title_of(branch.row))
            self.ask_line.ask("New title (empty: none)", session.title or "", rename)
            self.read(self._ask_no_more(session.session_id, title_of(branch.row)))

    async def _ask_no_more(self, session_id: str, title: str) -> None:
        if not await self._is_there(session_id, title):
            self.ask_line.close()

    def _rename(self, session_id: str, former: str, title: str) -> None:
        async def rename() -> None:
            if not await self._is_there(session_id, former):
                return
            await self.trackside.stage.engine.sessions.rename(session_id, title.strip() or None)
            self.trackside.hearing.refresh("rail")
            await self._read_again(session_id)

        self.do(f"renaming it to “{one_line(title, 30)}”…" if title.strip() else "taking its title away…", rename())

    def action_delete(self) -> None:
        branch = self.branch
        if self.trackside.can("sessions.delete") and branch is not None:
            title = title_of(branch.row)
            self.trackside.part_with(branch.row, title)
            self.mention(f"deleted “{one_line(title, 60)}”", _undoes_it(), MOMENT)
            self.show()

    def action_undo(self) -> None:
        if self.trackside.can("sessions.undo") and (session_id := self.trackside.take_back()) is not None:
            self.hush()
            self.show()
            if (place := self.list.source.place_of(session_id)) is not None:
                self.list.go_to(place)

    def action_fork(self) -> None:
        if not self.trackside.can("sessions.fork"):
            return
        if (hit := self.hit) is not None:
            self._do_there("forking it…", partial(self.trackside.fork, hit.line.conversation_id, hit.line))
        elif (branch := self.branch) is not None:
            self._do_there("forking it…", partial(self.trackside.fork, branch.row.session.session_id))

    def action_resend(self) -> None:
        if not self.trackside.can("sessions.resend"):
            return
        hit, branch = self.hit, self.branch
        run_id = hit.line.run_id if hit is not None else branch.row.last_run if branch is not None else None
        if run_id is not None:
            self._do_there("sending it again…", partial(self.trackside.send_again, run_id))

    def action_fold(self) -> None:
        branch = self.branch
        if not self.trackside.can("sessions.fold") or branch is None:
            return
        session_id = branch.row.session.session_id
        self.desk.tree.fold(session_id, is_open=not branch.is_open)
        if not branch.is_open and self.desk.tree.begot(session_id) < branch.row.children:
            self.read(self.desk.load_children(session_id), self.show)
        self.show()

    def action_copy(self) -> None:
        if not self.trackside.can("sessions.copy") or self.copy_line():
            return
        hit, branch = self.hit, self.branch
        if hit is not None:
            self.trackside.copy(hit.line.conversation_id, "the session's id")
        elif branch is not None:
            self.trackside.copy(branch.row.session.session_id, "the session's id")


def _session_of(thing: object) -> str:
    """Whose row it is; a heading's is nobody's."""
    if isinstance(thing, Branch):
        return thing.row.session.session_id
    return thing.line.conversation_id if isinstance(thing, Hit) else ""


def _title_of(thing: object) -> str:
    if isinstance(thing, Branch):
        return title_of(thing.row)
    return thing.title or thing.line.conversation_id if isinstance(thing, Hit) else ""


def _undoes_it() -> str:
    return f"{key_of('sessions.undo')} undoes it; quitting makes it final"


def _heading(words: str, remark: str, _: int) -> Row:
    return heading(words, remark)


def _why_not_line(what: str, hit: Hit) -> str | None:
    if what in ("rename", "delete", "fold"):
        return "this is a line, not a session; esc shows the sessions"
    return "its run is gone; nothing can be sent again" if what == "resend" and hit.line.run_id is None else None


def _why_not_session(what: str, branch: Branch) -> str | None:
    row = branch.row
    if what == "delete" and row.live_run is not None:
        return "a run is at work in it; stop it first"
    if what == "resend" and row.last_run is None:
        return "nothing ran in it yet"
    if what == "fork" and not row.lines:
        return "nothing was said in it yet"
    if what == "fold" and branch.is_open is None:
        return f"nothing came of it; {key_of('sessions.fork')} forks it"
    return None
