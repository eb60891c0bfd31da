"""What the kiln-arrow command reads: whole files, every marked column of them, and nothing that was not looked at."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kiln_arrow
from _arrow_io.errors import UnreadableError
from helpers.command import LIMIT_SECONDS, environment, quick_command
from kiln_arrow.columns.nested import cell_arrays
from kiln_arrow.files.reading import ColumnError, opened

CODE = "from kiln_arrow.cli import main; main()"
COMMANDS = (["validate"], ["inspect"], ["export", "-o", "out"])
NUMBER = 0x1122334455667788


def kiln(*arguments, cwd, **options):
    command = [*quick_command("kiln-arrow"), *map(os.fspath, arguments)]
    return subprocess.run(
        command, capture_output=True, cwd=cwd, env=environment(), timeout=LIMIT_SECONDS, check=False, **options
    )


def stream(table, rows=None):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def ipc_file(table):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


FORMS = {"stream": stream, "file": ipc_file, "parquet": parquet}


def cells(count=3):
    return kiln_arrow.array([{"x": np.arange(index)} for index in range(count)])


def unchecked_pages(content):
    """The content with the number's bytes changed where no reader but a checksum notices."""
    return content.replace(NUMBER.to_bytes(8, "little"), bytes(8))


def numbered(*names):
    column = kiln_arrow.array([{"x": np.array([NUMBER])}])
    return pa.table(dict.fromkeys(names, column))


CHECKED = {"write_page_checksum": True, "use_dictionary": False, "compression": "none", "write_statistics": False}


def cut_between_batches():
    table = pa.table({"t": cells(10)})
    whole = stream(table, 5)
    return whole[: len(whole) - 8 - (len(whole) - len(stream(table.slice(0, 5), 5)))]


NOT_WHOLE = {
    "cut between batches": (cut_between_batches(), b"cut short"),
    "cut at the end mark": (stream(pa.table({"t": cells()}))[:-8], b"cut short"),
    "cut inside a message": (stream(pa.table({"t": cells()}))[:-60], b"cut short"),
    "bytes after the end": (stream(pa.table({"t": cells()})) + b"xx", b"2 bytes after the end"),
    "a wrong checksum": (unchecked_pages(parquet(numbered("t"), **CHECKED)), b"CRC"),
    "a file that was cut": (ipc_file(pa.table({"t": cells()}))[:-9], b"cut short"),
    "Parquet that was cut": (parquet(pa.table({"t": cells()}))[:-9], b"cut short"),
    "gzip": (b"\x1f\x8b\x08\0" + bytes(30), b"gzip: decompress it first"),
    "empty": (b"", b"empty"),
}


@pytest.mark.parametrize("case", NOT_WHOLE)
def test_what_is_not_whole_is_status_two_and_one_line(case, tmp_path):
    content, message = NOT_WHOLE[case]
    (tmp_path / "f").write_bytes(content)
    for command in COMMANDS:
        result = kiln(*command, "f", cwd=tmp_path)
        assert (result.returncode, result.stderr.count(b"\n"), message in result.stderr) == (2, 1, True)
        assert result.stderr.startswith(b"kiln-arrow: f: ")
        assert b" bad" not in result.stdout


def test_of_parquet_all_of_a_marked_column_is_checked_and_nothing_of_the_others(tmp_path):
    plain = pa.table({"n": [NUMBER], "s": [{"a": 1, "b": [2]}]})
    table = plain.append_column("t", kiln_arrow.array([{"x": np.arange(2)}]))
    content = parquet(table.append_column("u", cells(1)), **CHECKED)
    (tmp_path / "f").write_bytes(unchecked_pages(content))
    assert content != unchecked_pages(content)
    result = kiln("validate", "f", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, b"f: 2 cells, 0 bad\n")
    result = kiln("inspect", "f", "--column", "t", cwd=tmp_path)
    assert (result.returncode, result.stdout.split()[:2]) == (0, [b"0", b"t"])


def labels(path, column=None):
    with opened(str(path), column) as found:
        return [label for label, _ in found.columns]


def marked(name, metadata, values):
    field = pa.field("c", values.type, metadata={"ARROW:extension:name": name, "ARROW:extension:metadata": metadata})
    good = cells(len(values))
    return pa.Table.from_arrays([values, good], schema=pa.schema([field, pa.field("g", good.type)]))


BYTES = pa.array([b"garbage", None])
TENSORS, FRAME = "kiln.tensors", "kiln.frame"
MISMARKED = {
    "a later version": (TENSORS, '{"version":3}', BYTES),
    "text for metadata": (TENSORS, "v9", BYTES),
    "no metadata": (TENSORS, "", BYTES),
    "over text": (TENSORS, '{"version":2}', pa.array(["a", "b"])),
    "over numbers": (TENSORS, '{"version":2}', pa.array([1, 2], pa.int32())),
    "over bytes of one size": (TENSORS, '{"version":2}', pa.array([b"ab", None], pa.binary(2))),
    "over a struct": (TENSORS, '{"version":2}', pa.array([{"a": b""}, None])),
    "over a list": (TENSORS, '{"version":2}', pa.array([[b""], None])),
    "a frame of no type": (FRAME, '{"version":2}', BYTES),
    "a frame of a wrong type": (FRAME, '{"type":"struct{","version":2}', BYTES),
    "a frame over text": (FRAME, '{"type":"struct{a:i8,}","version":2}', pa.array(["a", "b"])),
    "a name that is not known": ("kiln.later", '{"version":2}', BYTES),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", MISMARKED)
def test_a_marked_column_that_cannot_be_looked_at_is_named(case, form, tmp_path):
    (tmp_path / "f").write_bytes(FORMS[form](marked(*MISMARKED[case])))
    with pytest.raises(ColumnError, match=r"f: a column that is marked as Kiln's cannot be looked at: .*\(in c[,)]"):
        labels(tmp_path / "f")
    assert labels(tmp_path / "f", "g") == ["g"]  # the other is not asked for


@pytest.mark.parametrize("form", FORMS)
def test_a_marked_column_that_cannot_be_looked_at_is_status_two(form, tmp_path):
    (tmp_path / "f").write_bytes(FORMS[form](marked(TENSORS, '{"version":3}', BYTES)))
    for command in COMMANDS:
        result = kiln(*command, "f", cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr.count(b"\n")) == (2, b"", 1)
        assert b"(in c)" in result.stderr


class Mismarked(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.binary(), TENSORS)

    def __arrow_ext_serialize__(self):
        return b'{"version":3}'

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, metadata):
        return cls()


def nested(inner):
    """The array inside of every type that can hold it, with the path of its cells."""
    three = pa.array([0, 2, 1], pa.int8())
    struct = pa.StructArray.from_arrays([inner], ["t"])
    return {
        "struct": (struct, "c.t"),
        "list": (pa.ListArray.from_arrays([0, 2, 2, 3], inner), "c.item"),
        "large list": (pa.LargeListArray.from_arrays([0, 2, 2, 3], inner), "c.item"),
        "list view": (pa.ListViewArray.from_arrays([0, 2, 1], [2, 1, 0], inner), "c.item"),
        "fixed-size list": (pa.FixedSizeListArray.from_arrays(inner, 1), "c.item"),
        "map": (pa.MapArray.from_arrays([0, 2, 2, 3], pa.array(["a", "b", "c"]), inner), "c"),
        "dictionary": (pa.DictionaryArray.from_arrays(three, inner), "c"),
        "dictionary of structs": (pa.DictionaryArray.from_arrays(three, struct), "c.t"),
        "dictionary in a struct": (
            pa.StructArray.from_arrays([pa.DictionaryArray.from_arrays(three, inner)], ["t"]),
            "c.t",
        ),
        "runs": (pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), inner), "c"),
        "list of structs": (pa.ListArray.from_arrays([0, 2, 2, 3], struct), "c.item.t"),
        "foreign extension": (pa.opaque(struct.type, "a", "b").wrap_array(struct), "c.t"),
    }


PLACES = list(nested(pa.array([b"", b"", b""])))


def is_lost_in_parquet(place, form):
    """pyarrow 22 gives nothing of what a Parquet file says of the items of a map: no column is marked then."""
    return place == "map" and form == "parquet" and int(pa.__version__.split(".")[0]) < 23


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_a_mark_is_seen_however_deep_it_lies(place, form, tmp_path):
    inner = Mismarked().wrap_array(pa.array([b"garbage", None, b"x"]))
    array, path = nested(inner)[place]
    try:
        content = FORMS[form](pa.table({"c": array, "n": range(3)}))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        assert form == "parquet"
        return
    (tmp_path / "f").write_bytes(content)
    lost = is_lost_in_parquet(place, form)
    words = "none of its 2 columns is marked" if lost else r"cannot be looked at: .*\(in c"
    with pytest.raises(ColumnError, match=words) as caught:
        labels(tmp_path / "f")
    if form != "parquet":  # which has names of its own
        assert f"(in {path}" in str(caught.value)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_cells_are_read_however_deep_they_lie(place, form, tmp_path):
    array, _ = nested(cells())[place]
    try:
        content = FORMS[form](pa.table({"n": range(3), "c": array}))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        assert form == "parquet"
        return
    (tmp_path / "f").write_bytes(content)
    if is_lost_in_parquet(place, form):
        with pytest.raises(ColumnError, match="none of its 2 columns is marked"), opened(str(tmp_path / "f"), None):
            pass
        return
    with opened(str(tmp_path / "f"), None) as found:
        ((label, data_type),) = found.columns
        counts = [
            len(leaf.cells) for batch in found.batches for _, values in batch.columns for leaf in cell_arrays(values)
        ]
    assert (label, counts) == ("c", [3])
    assert "kiln.tensors" in str(data_type)


def test_cells_in_a_union_are_refused_by_name(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [cells()])
    (tmp_path / "f").write_bytes(stream(pa.table({"c": union})))
    with (
        pytest.raises(ColumnError, match=r"outside unions, found some in one \(in c\)"),
        opened(str(tmp_path / "f"), None),
    ):
        pass


def test_after_a_file_was_read_the_types_are_known_as_before(tmp_path):
    (tmp_path / "f").write_bytes(stream(pa.table({"c": cells()})))
    for _ in range(2):
        with opened(str(tmp_path / "f"), None) as found:
            list(found.batches)
    assert pa.ipc.open_stream((tmp_path / "f").read_bytes()).schema.field("c").type == kiln_arrow.TensorsType()


@pytest.mark.parametrize("form", FORMS)
def test_two_columns_of_one_name_are_told_apart_by_their_numbers(form, tmp_path):
    bad = kiln_arrow.TensorsType().wrap_array(pa.array([kiln_arrow.encode({}), b"bad"]))
    table = pa.Table.from_arrays([pa.array([1, 2]), cells(2), bad], ["n", "g", "g"])
    (tmp_path / "f").write_bytes(FORMS[form](table))
    result = kiln("validate", "f", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, b"")
    first, last = result.stdout.splitlines()
    assert b"(row 1, in g#2, " in first
    assert last == b"f: 4 cells, 1 bad"
    result = kiln("inspect", "f", cwd=tmp_path)
    assert (result.returncode, [line.split()[1] for line in result.stdout.splitlines()]) == (
        1,
        [b"g#1", b"g#2", b"g#1"],
    )
    result = kiln("export", "f", "-o", "out", "--column", "g", cwd=tmp_path)
    assert (result.returncode, b"found 2: name one of g#1, g#2" in result.stderr) == (2, True)
    assert kiln("export", "f", "-o", "out", "--column", "g#1", cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["00000000.npz", "00000001.npz"]


def test_names_that_are_no_utf8_are_shown_and_can_be_given(tmp_path):
    content = stream(pa.table({"labl": cells(1)})).replace(b"labl", b"l\xffbl")
    (tmp_path / "f").write_bytes(content)
    result = kiln("inspect", "f", cwd=tmp_path)
    assert (result.returncode, result.stdout.split()[1]) == (0, b"l\\xffbl")
    assert kiln("validate", "f", "--column", "l\\xffbl", cwd=tmp_path).returncode == 0


def test_a_file_without_a_marked_column_is_told_so(tmp_path):
    (tmp_path / "f").write_bytes(stream(pa.table({"a": [1], "b": [b""]})))
    result = kiln("validate", "f", cwd=tmp_path)
    expected = b"kiln-arrow: f: none of its 2 columns is marked as Kiln's; --column takes one of plain bytes\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", expected)


def test_every_row_group_and_batch_is_read(tmp_path):
    column = cells(3000)
    content = parquet(pa.table({"n": range(3000), "c": column}), row_group_size=100)
    (tmp_path / "f").write_bytes(content)
    assert kiln("validate", "f", cwd=tmp_path).stdout == b"f: 3000 cells, 0 bad\n"
    (tmp_path / "g").write_bytes(stream(pa.table({"c": column}), 7))
    assert kiln("validate", "g", cwd=tmp_path).stdout == b"g: 3000 cells, 0 bad\n"


@pytest.mark.parametrize("name", ["run::1.arrows", "file::b", "with space #1 %41?"])
def test_names_of_local_files_are_local(name, tmp_path):
    (tmp_path / name).write_bytes(stream(pa.table({"c": cells()})))
    result = kiln("validate", name, cwd=tmp_path)
    assert (result.returncode, result.stdout.decode()) == (0, f"{name}: 3 cells, 0 bad\n")


def test_uris_and_standard_input_are_read_too(tmp_path):
    content = stream(pa.table({"c": cells()}))
    (tmp_path / "f").write_bytes(content)
    uri = f"file://{tmp_path}/f"
    assert kiln("validate", uri, cwd=tmp_path).stdout.decode() == f"{uri}: 3 cells, 0 bad\n"
    assert kiln("validate", "-", cwd=tmp_path, input=content).stdout == b"-: 3 cells, 0 bad\n"
    result = kiln("validate", "-", cwd=tmp_path, input=content[:-8])
    assert (result.returncode, result.stderr.startswith(b"kiln-arrow: standard input: cut short")) == (2, True)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(stream(pa.table({"c": cells()})))

    def change():
        with opened(str(path), None) as found:
            for _ in found.batches:
                path.write_bytes(path.read_bytes() + b"more")

    with pytest.raises(UnreadableError, match="changed"):
        change()


def test_offsets_that_lead_outside_name_file_and_column(tmp_path):
    sound, broken = (np.array(values, "<i4").tobytes() for values in ([0, 64, 128], [0, 1 << 30, 64]))
    content = stream(pa.table({"c": kiln_arrow.array([{}, {}])}))
    assert sound in content
    (tmp_path / "f").write_bytes(content.replace(sound, broken))
    result = kiln("validate", "f", cwd=tmp_path)
    assert (result.returncode, result.stderr.count(b"\n")) == (2, 1)
    assert result.stderr.startswith(b"kiln-arrow: f: column 'c': ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it takes a device that is full")
def test_output_that_cannot_be_written_is_status_two(tmp_path):
    (tmp_path / "f").write_bytes(stream(pa.table({"c": cells()})))
    script = f'"$1" -c "{CODE}" validate f'
    for end, message in ((">/dev/full", "cannot write: No space left"), (">&-", "standard output is closed")):
        result = subprocess.run(
            ["bash", "-c", f"{script} {end}", "bash", sys.executable],
            capture_output=True,
            cwd=tmp_path,
            env=environment(),
            check=False,
            text=True,
        )
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert result.stderr.startswith(f"kiln-arrow: {message}")


def test_an_interrupt_ends_the_command_without_a_traceback(tmp_path):
    os.mkfifo(tmp_path / "fifo")

    def heed():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "validate", "fifo"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed,
    )
    # Opening waits for a reader: then the command is at work.
    with (tmp_path / "fifo").open("wb", buffering=0) as writer:
        writer.write(stream(pa.table({"c": cells()}))[:100])
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, stdout, stderr.strip()) == (130, b"", b"")


@pytest.mark.parametrize("form", [stream, ipc_file])
@pytest.mark.parametrize("size", [-1, -3, -(2**31)])
def test_a_list_of_negative_size_is_refused_before_its_type_is_made_again(form, size, tmp_path):
    """pyarrow makes a list of any size of -1, and raises what it likes for the others."""
    recognised = 0x01020304
    table = pa.table({"f": pa.array([], pa.list_(pa.int8(), recognised)), "g": cells(0)})
    data = form(table)
    changed = data.replace(recognised.to_bytes(4, "little"), size.to_bytes(4, "little", signed=True))
    assert changed != data
    (tmp_path / "f").write_bytes(changed)
    for command in COMMANDS:
        result = kiln(command[0], "f", *command[1:], cwd=tmp_path)
        assert (result.returncode, result.stderr.count(b"\n")) == (2, 1), result.stderr
