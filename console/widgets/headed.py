"""A list with headings: they say what follows, and the cursor passes over them."""

from itertools import chain

from console.model.shelf import Shelf
from console.widgets.listing import Listing


class Headed(Listing):
    """The cursor is on something that can be chosen, wherever there is such a thing."""

    def fill(self, shelf: Shelf, words: str = "") -> None:
        super().fill(shelf, words)
        self.go_to(self._at[0])

    @property
    def chosen(self) -> str | None:
        """The name of what the cursor is on."""
        current = self.current
        return None if current is None or current.is_heading else current.id

    def go_to(self, row: int) -> None:
        """The row, or the nearest in the same direction that can be chosen, or else the nearest in the other."""
        shelf, cursor = self.shelf, self._at[0]
        row = max(0, min(row, shelf.height - 1))
        onward, back = range(row, shelf.height), range(min(row, shelf.height - 1), -1, -1)
        order = chain(onward, back) if row >= cursor else chain(back, onward)
        place = next((at for at in order if not shelf.item(at).is_heading), row)
        super().go_to(place)
        if self.view is not None and place and place == self.view.top and shelf.item(place - 1).is_heading:
            self.view.top -= 1  # what it stands under is seen, too
            self.redraw()
