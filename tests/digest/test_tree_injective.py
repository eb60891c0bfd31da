"""tree0 and bag0 lose nothing: by exhaustion over small types, and by reading records back from the bytes hashed."""

from __future__ import annotations

from itertools import combinations_with_replacement, islice, product

import pytest
from reference import bag0, tree0
from reference.records import FUNCTIONS, Field, Records, Type, length, type_bytes, u16

H = FUNCTIONS["blake3"]

NULL = Type("null", u16(0))
BOOL = Type("bool", u16(5))
INT8 = Type("fixed", b"\x01\x00\x01\x08\x00")
INT16 = Type("fixed", b"\x01\x00\x01\x10\x00")
BINARY = Type("bytes", u16(3))
STRING = Type("bytes", u16(4))

# Values that look like nulls, lengths, counts, and each other's bytes.
LEAVES = {
    NULL: [None],
    BOOL: [None, False, True],
    INT8: [None, b"\x00", b"\x01", b"\xff"],
    INT16: [None, b"\x00\x00", b"\x01\x00"],
    BINARY: [None, b"", b"\x00", b"\x01\x00\x00\x00\x01"],
    STRING: [None, b"", b"\x00"],
}


def list_of(item):
    return Type("list", u16(11), (Field("", item),))


def map_of(key, value):
    return Type("map", u16(16), (Field("", key), Field("", value)))


def struct_of(*children, names="ab"):
    return Type("struct", u16(12), tuple(Field(name, child) for name, child in zip(names, children, strict=False)))


def union_of(*children, names="ab"):
    return Type("union", u16(13), tuple(Field(name, child) for name, child in zip(names, children, strict=False)))


def spread(values, count):
    """At most so many of some values: all of them, or as many from everywhere."""
    values = list(values)
    return values if len(values) <= count else [values[i * len(values) // count] for i in range(count)]


def domain(t, count):
    """Some values of a type, null first; all of them where there are no more."""
    if t.layout in ("null", "bool", "fixed", "bytes"):
        return spread(LEAVES[t], count)
    below = [domain(child.type, count) for child in t.children]
    if t.layout == "union":
        return [None, *spread([(n, value) for n, values in enumerate(below) for value in values], count - 1)]
    if t.layout == "struct":
        return [None, *spread(product(*below), count - 1)]
    items = below[0] if t.layout == "list" else list(product(*below))
    # One item of every kind before lists of two, since these are many.
    lists = [(), *((item,) for item in items), *islice(product(items, repeat=2), 40)]
    return [None, *spread(lists, count - 1)]


def small_types():
    """All leaves, everything one level above them, and a good part of what is two levels above."""
    leaves = list(LEAVES)
    pairs = list(product(leaves, repeat=2))
    one = [list_of(t) for t in leaves] + [struct_of(t) for t in leaves] + [union_of(t) for t in leaves]
    one += [make(*pair) for make in (struct_of, union_of, map_of) for pair in pairs]
    one += [
        struct_of(),
        struct_of(INT8, names="b"),
        struct_of(INT8, INT8, names="ba"),
        struct_of(INT8, INT8, names="aa"),
    ]
    one += [union_of(INT8, names="b"), union_of(INT8, INT8, names="ba"), union_of(INT8, INT8, names=["", ""])]
    below = [t for t in one if len(t.children) < 2] + one[18::9]
    two = [make(t) for make in (list_of, struct_of, union_of) for t in below]
    two += [make(t, INT8) for make in (struct_of, union_of) for t in below]
    two += [make(INT8, t) for make in (struct_of, union_of, map_of) for t in below]
    three = [list_of(list_of(list_of(t))) for t in leaves] + [list_of(struct_of(list_of(t))) for t in leaves]
    return list(dict.fromkeys([*leaves, *one, *two, *three]))


TYPES = small_types()


def small_tables(t, count=6, rows=3):
    values = domain(t, count)
    for n in range(rows + 1):
        yield from product(values, repeat=n)


def test_there_are_about_400_types_with_bytes_of_their_own():
    assert 380 <= len(TYPES) <= 460
    assert len({type_bytes(t) for t in TYPES}) == len(TYPES)
    assert {t.layout for t in TYPES} == {"null", "bool", "fixed", "bytes", "list", "struct", "union", "map"}


def test_tree0_has_another_hash_for_every_small_table():
    seen = {}
    for t in TYPES:
        for column in small_tables(t):
            hashed = tree0.table(H, Records((Field("c", t),), len(column), (column,)))
            assert hashed not in seen, (seen[hashed], (t, column))
            seen[hashed] = t, column
    assert len(seen) > 60_000


def test_bag0_has_another_hash_for_every_small_bag_and_one_for_every_order_of_its_rows():
    seen = {}
    for t in TYPES:
        for column in small_tables(t):
            hashed = bag0.table(H, Records((Field("c", t),), len(column), (column,)))
            bag = t, tuple(sorted(map(repr, column)))
            assert seen.setdefault(hashed, bag) == bag
    assert len(seen) == len(set(seen.values())) > 18_000


def test_columns_never_run_into_each_other():
    """Two columns: names that join to one text, values that join to the same bytes, equal types and others."""
    seen = {tree0: {}, bag0: {}}
    for left, right in product([NULL, BOOL, INT8, BINARY, list_of(INT8)], repeat=2):
        for names in (("", "ab"), ("a", "b"), ("ab", ""), ("b", "a")):
            fields = tuple(Field(name, t) for name, t in zip(names, (left, right), strict=True))
            rows = list(product(domain(left, 4), domain(right, 4)))
            for count in (0, 1, 2):
                for table in combinations_with_replacement(rows, count):  # one order of each bag
                    columns = tuple(zip(*table, strict=True)) or ((), ())
                    for module, hashes in seen.items():
                        hashed = module.table(H, Records(fields, count, columns))
                        assert hashed not in hashes, (hashes[hashed], (fields, table))
                        hashes[hashed] = fields, table
    assert len(seen[tree0]) == len(seen[bag0]) > 5_000


def test_a_name_never_runs_into_the_digest_beside_it():
    digest = b"x" * 32
    names = ("a" + digest.decode(), ""), ("a", digest.decode())
    inputs = {tree0.table_input([Field(name, INT8) for name in each], 1, [digest] * 2) for each in names}
    assert len(inputs) == 2


def test_a_chunk_says_by_itself_how_many_rows_it_has():
    """Two parties that compare digests of chunks have nothing else to go by."""
    for t, value in ((NULL, None), (struct_of(), ())):
        assert len({tree0.chunk_input(H, t, [value] * count) for count in range(1, 9)}) == 8


@pytest.mark.parametrize("number", [0, 1, 2**16, 2**32 - 2, 2**32 - 1, 2**32, 2**63], ids=str)
def test_a_length_says_itself_how_long_it_is(number):
    data = length(number)
    assert len(data) == (4 if number < 2**32 - 1 else 12)
    assert read_length(data + b"rest", 0) == (number, len(data))


# --- Reading back -----------------------------------------------------------------------------------------------------


def read_length(data, at):
    short = int.from_bytes(data[at : at + 4], "little")
    if short < 2**32 - 1:
        return short, at + 4
    return int.from_bytes(data[at + 4 : at + 12], "little"), at + 12


def read_bits(data, count):
    assert len(data) == (count + 7) // 8
    return [bool(data[i // 8] >> i % 8 & 1) for i in range(count)]


def width_of(t):
    return t.head[3] // 8


def read_value(t, data, at=0):
    """A value from bag0's row bytes, and where it ends."""
    tag, at = data[at], at + 1
    if t.layout == "union":
        if tag == 0xFF:
            return None, at
        value, at = read_value(t.children[tag].type, data, at)
        return (tag, value), at
    if tag == 0:
        return None, at
    if t.layout == "bool":
        return tag == 2, at
    if t.layout == "fixed":
        return data[at : at + width_of(t)], at + width_of(t)
    if t.layout == "struct":
        return read_tuple(t, data, at)
    count, at = read_length(data, at)
    if t.layout == "bytes":
        return data[at : at + count], at + count
    items = []
    for _ in range(count):
        item, at = read_tuple(t, data, at)
        items.append(item if t.layout == "map" else item[0])
    return tuple(items), at


def read_tuple(t, data, at):
    values = []
    for child in t.children:
        value, at = read_value(child.type, data, at)
        values.append(value)
    return tuple(values), at


def read_slots(t, count, streams):
    """The slots of a node from tree0's streams, of which as many are taken from an iterator as the type has."""
    if t.layout == "null":
        return [None] * count
    if t.layout == "union":
        numbers = next(streams)
        held = [iter(read_slots(c.type, numbers.count(n), streams)) for n, c in enumerate(t.children)]
        return [None if n == 0xFF else (n, next(held[n])) for n in numbers]
    validity = next(streams)
    flags = read_bits(validity, count) if validity else [True] * count
    values = iter(read_valid(t, sum(flags), streams))
    return [next(values) if flag else None for flag in flags]


def read_valid(t, count, streams):
    if t.layout == "bool":
        return read_bits(next(streams), count)
    if t.layout == "fixed":
        data = next(streams)
        return [data[i * width_of(t) : (i + 1) * width_of(t)] for i in range(count)]
    if t.layout == "struct":
        fields = [read_slots(child.type, count, streams) for child in t.children]
        return [tuple(field[i] for field in fields) for i in range(count)]
    data, sizes, at = next(streams), [], 0
    for _ in range(count):
        size, at = read_length(data, at)
        sizes.append(size)
    assert at == len(data)
    if t.layout == "bytes":
        data = next(streams)
        entries = iter(data[i : i + 1] for i in range(len(data)))
        return [b"".join(islice(entries, size)) for size in sizes]
    below = [read_slots(child.type, sum(sizes), streams) for child in t.children]
    entries = iter(below[0]) if t.layout == "list" else zip(*below, strict=True)
    return [tuple(islice(entries, size)) for size in sizes]


def test_values_can_be_read_back_from_the_bytes_of_rows():
    for t in TYPES:
        for value in domain(t, 12):
            data = bag0.value_bytes(t, value)
            assert read_value(t, data + b"\x01\x02") == (value, len(data))


def test_columns_can_be_read_back_from_the_streams_of_chunks():
    for t in TYPES:
        column = [value for value in domain(t, 12) for _ in range(2)]
        streams = iter(tree0.streams(t, column))
        assert read_slots(t, len(column), streams) == column
        assert list(streams) == []
