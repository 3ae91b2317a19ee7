"""The base of readers that load a list page by page and look for changes."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from engine.api import Engine

PAGE_ROWS: Final = 100
Row = TypeVar("Row")


class PagedReader(ABC, Generic[Row]):
    """Loads pages of rows from the engine and keeps what was loaded."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.is_complete = False
        """The last page was loaded."""
        self._version = -1
        """The version of the database that the loaded rows are from."""

    async def load_first(self) -> None:
        """Load the first page. `refresh` reports changes from now on."""
        self._version = await self.read_version()
        await self.load_more()

    async def load_more(self) -> None:
        """Load the page after the last loaded row."""
        page = await self.read_page()
        self.is_complete = len(page) < PAGE_ROWS
        self.add_page(page)

    @abstractmethod
    async def read_page(self) -> list[Row]:
        """Read up to PAGE_ROWS rows after the last loaded one."""

    @abstractmethod
    def add_page(self, page: list[Row]) -> None:
        """Append a page to what is loaded."""

    async def read_version(self) -> int:
        """A number that changes if something relevant was written."""
        return await self._engine.last_row()

    async def has_changed(self) -> bool:
        """Whether something was written since the last call."""
        version = await self.read_version()
        if version == self._version:
            return False
        self._version = version
        return True
