"""No column ends the process: broken ones are refused for a reason, sound ones are read right, whatever nulls hide.

The columns are tried in processes of their own, whose end is noticed.
"""

import io
import logging
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt
import pytest

import kiln_arrow
from kiln.hostile_columns import make
from kiln_arrow import KilnError

# What pyarrow itself says of types that Parquet cannot hold, and of values that Parquet's units cannot.
OF_PARQUET = (pa.ArrowNotImplementedError, pa.ArrowInvalid, OSError)


def written(column):
    table = pa.table({"c": column, "k": kiln_arrow.array([{}] * len(column))})
    try:
        kiln_arrow.write_table(table, io.BytesIO())
    except KilnError:
        raise
    except OF_PARQUET:
        return


def framed(column):
    frames = kiln_arrow.from_structs(column)
    frames.validate(full=True)
    assert kiln_arrow.from_structs(kiln_arrow.to_structs(frames)).to_pylist() == frames.to_pylist()


def listed(column):
    if isinstance(column, (kiln_arrow.TensorsArray, kiln_arrow.FrameArray)):
        column.to_pylist()


def stored(column):
    kiln_arrow.from_storage(kiln_arrow.to_storage(pa.table({"c": column})), {"c": column.type})


FUNCTIONS = {
    "validate_column": kiln_arrow.validate_column,
    "to_numpy": lambda column: kiln_arrow.to_numpy(column, nulls="mask", ragged="object"),
    "iter_tensors": lambda column: [cell and cell.tensors for cell in kiln_arrow.iter_tensors(column)],
    "to_structs": lambda column: kiln_arrow.to_structs(column).validate(full=True),
    "from_structs": framed,
    "to_pylist": listed,
    "storage": stored,
    "write_table": written,
    "array": kiln_arrow.array,
    "encode": lambda column: kiln_arrow.encode({"x": column}),
    "from_numpy": lambda column: kiln_arrow.from_numpy({"x": column}),
}


def tensors_in(data_type):
    """How many columns of directories are in a type."""
    if isinstance(data_type, kiln_arrow.TensorsType):
        return 1
    if isinstance(data_type, pa.BaseExtensionType):
        return 0
    if pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
        return tensors_in(data_type.value_type)
    return sum(tensors_in(data_type.field(index).type) for index in range(data_type.num_fields))


def slow_cells(array, slots):
    """The bytes of the directories in some slots of an array, None for a null: a slot at a time."""
    kind = array.type
    valid = [True] * len(array) if pt.is_run_end_encoded(kind) or pt.is_union(kind) else array.is_valid().to_pylist()
    slots = [slot if slot is not None and valid[slot] else None for slot in slots]
    if isinstance(kind, kiln_arrow.TensorsType):
        yield from (None if slot is None else array.storage[slot].as_buffer().to_pybytes() for slot in slots)
    elif not tensors_in(kind):
        return
    elif pt.is_dictionary(kind):
        indices = array.indices.to_pylist()
        yield from slow_cells(array.dictionary, [None if slot is None else indices[slot] for slot in slots])
    elif pt.is_run_end_encoded(kind):
        ends = array.run_ends.to_pylist()
        yield from slow_cells(
            array.values,
            [None if s is None else next(r for r, end in enumerate(ends) if end > s + array.offset) for s in slots],
        )
    elif pt.is_struct(kind):
        for index in range(kind.num_fields):
            yield from slow_cells(array.field(index), slots)
    else:
        items = [item for slot in slots if slot is not None for item in items_of(array, slot)]
        values = array.values
        parts = [values.field(0), values.field(1)] if pt.is_map(kind) else [values]
        for part in parts:
            yield from slow_cells(part, items)


def items_of(array, slot):
    if pt.is_fixed_size_list(array.type):
        first = (array.offset + slot) * array.type.list_size
        return range(first, first + array.type.list_size)
    start = array.offsets[slot].as_py()
    if pt.is_list_view(array.type) or pt.is_large_list_view(array.type):
        return range(start, start + array.sizes[slot].as_py())
    return range(start, array.offsets[slot + 1].as_py())


def has_union(data_type):
    if pt.is_union(data_type):
        return True
    if pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
        return has_union(data_type.value_type)
    return any(has_union(data_type.field(index).type) for index in range(data_type.num_fields))


def is_read_right(column):
    """Whether `iter_tensors` gives what the slow opinion does, or refuses what no decoder takes."""
    expected = list(slow_cells(column, range(len(column))))
    if b"KLNT" in expected:
        with pytest.raises(KilnError):
            list(kiln_arrow.iter_tensors(column))
        return True
    found = list(kiln_arrow.iter_tensors(column))
    return [None if cell is None else kiln_arrow.encode(cell) for cell in found] == expected


def attempt(first, last):
    """Tries every function on some columns; says where it is on standard output, and how many were compared."""
    logging.disable()
    compared = refused = accepted = 0
    for seed in range(first, last):
        made = make(seed)
        if made is None:
            continue
        column, broken = made
        for name, function in FUNCTIONS.items():
            print(seed, name, flush=True)
            try:
                function(column)
                accepted += 1
            except KilnError as error:
                # What pyarrow itself looks at, it looks at under nulls too, and at what values mean.
                by_pyarrow = name in ("write_table", "storage") or has_union(column.type)
                if error.rule == "arrow" and not broken and not by_pyarrow:
                    raise
                refused += 1
        if not broken and tensors_in(column.type) == 1 and not has_union(column.type):
            print(seed, "compared", flush=True)
            assert is_read_right(column), seed
            compared += 1
    print("done", accepted, refused, compared)


@pytest.mark.parametrize("first", [0, 400, 800])
def test_no_column_ends_the_process_and_sound_ones_are_read_right(first):
    code = f"from kiln.test_hostile_columns import attempt; attempt({first}, {first + 400})"
    path = str(Path(__file__).parents[1])
    script = f"import sys; sys.path[:0] = [{path!r}]; {code}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    last = result.stdout.splitlines()[-1:]
    assert result.returncode == 0, (last, result.stderr[-2000:])
    accepted, refused, compared = map(int, last[0].split()[1:])
    assert accepted > 500
    assert refused > 1000
    assert compared > 30
