"""Every type with a hash goes through diff, explain, verify, manifest and check: against itself and a changed copy."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from arrow_digest import Manifest, Status, diff, explain, logical_hash, verify
from helpers.examples import examples
from helpers.files import ipc_file, ipc_stream
from helpers.layouts import build, read
from helpers.strategies import plain, tables


def written(table, folder):
    """The table in memory, and in each kind of file that can hold it, in plain layouts."""
    forms = {"file.arrow": ipc_file, "stream.arrows": ipc_stream, "f.parquet": parquet_or_none}
    yield table
    for name, form in forms.items():
        data = form(plainly(table))
        if data is not None:
            (folder / name).write_bytes(data)
            yield folder / name


def plainly(table):
    """The table in the plain layout of every type, since pyarrow's writers break some others."""
    fields = [pa.field(field.name, plain(field.type)) for field in table.schema]
    values = ([value for chunk in column.chunks for value in read(chunk)] for column in table.columns)
    arrays = [build(some, field.type) for some, field in zip(values, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def parquet_or_none(table):
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(table, sink)
        data = sink.getvalue().to_pybytes()
        same = logical_hash(table) == logical_hash(pq.read_table(pa.BufferReader(data)))
    except (pa.ArrowException, OSError):
        return None
    return data if same else None  # some types come back as others


@settings(max_examples=examples(20))  # of each, a dozen files are written and read
@given(data=st.data())
def test_every_type_goes_through_everything(data, tmp_path_factory):
    table = data.draw(tables().filter(lambda t: t.num_columns and t.num_rows))
    place = data.draw(st.integers(0, table.num_rows - 1))
    changed = pa.concat_tables([table.slice(0, place), table.slice(place + 1)])
    folder = tmp_path_factory.mktemp("every_type")
    expected, other = logical_hash(table), logical_hash(changed)
    for source in written(table, folder):
        assert diff(source, table).equal
        assert not diff(changed, source).equal
        explained = explain(source)
        assert explained.logical == expected
        assert str(explained)
        assert verify(source, logical=expected, row_count=table.num_rows).passed
        assert verify(source, logical=other, row_count=changed.num_rows).status is Status.DIFFERENT
    manifest = Manifest.create(folder)
    assert {result.status for result in manifest.check()} == {Status.IDENTICAL}
    (folder / "stream.arrows").write_bytes(ipc_file(plainly(table)))
    assert {r.status for r in manifest.check() if r.path == "stream.arrows"} == {Status.EQUIVALENT}
    (folder / "file.arrow").write_bytes(ipc_stream(plainly(changed)))
    assert {r.status for r in manifest.check() if r.path == "file.arrow"} == {Status.DIFFERENT}
