"""Cells read one by one, each checked, and errors that name the row of the column."""

from __future__ import annotations

from collections.abc import Iterator

from kiln_arrow.canonical.decoder import Front
from kiln_arrow.canonical.directory import read_whole
from kiln_arrow.canonical.frame import Form, form_of
from kiln_arrow.columns.cells import CellArray
from kiln_arrow.columns.extension_types import FRAME
from kiln_arrow.errors import KilnError

__all__ = [
    "at_row",
    "bad_cells",
    "fronts",
]


def fronts(leaf: CellArray) -> Iterator[tuple[Front, memoryview] | None]:
    """Yield what the front of each directory says, and its bytes, all of them checked; None for a null.

    Raises:
        KilnError: A cell is malformed, with its row.
    """
    cells = leaf.cells
    seen: dict[tuple[int, int, int], Front] = {}
    index = 0
    try:
        if not cells.may_repeat:
            for data in cells:
                yield None if data is None else (read_whole(data), data)
                index += 1  # needed after the loop breaks off
            return
        for place, data in zip(cells.places(), cells, strict=True):
            if place is None or data is None:
                yield None
            else:
                front = seen.get(place)
                if front is None:
                    front = seen[place] = read_whole(data)
                yield front, data
            index += 1
    except KilnError as error:
        raise at_row(error, leaf, index) from None


def at_row(error: KilnError, leaf: CellArray, cell: int) -> KilnError:
    """Return the error of a cell with the cell's place in its column."""
    return error.placed(leaf.path, row=leaf.row(cell))


def bad_cells(leaf: CellArray) -> Iterator[KilnError]:
    """Yield the error of each malformed cell, one for a cell, with its row."""
    form = form_of(leaf.type.type_text) if leaf.type.extension_name == FRAME else None
    # Of cells that may be there more than once, each is read once.
    known: dict[tuple[int, int, int] | None, KilnError | None] = {}
    places = leaf.cells.places() if leaf.cells.may_repeat else iter([None] * len(leaf.cells))
    for index, (place, data) in enumerate(zip(places, leaf.cells, strict=True)):
        if data is None:
            continue
        if place is None or place not in known:
            known[place] = _error_of(data, form)
        error = known[place]
        if error is not None:
            yield at_row(error, leaf, index)


def _error_of(data: memoryview, form: Form | None) -> KilnError | None:
    try:
        if form is None:
            read_whole(data)
        else:
            form.check(data)
    except KilnError as error:
        return error
    return None
