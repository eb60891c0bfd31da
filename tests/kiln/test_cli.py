"""The kiln-arrow command, run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

import kiln_arrow
from helpers.command import LIMIT_SECONDS, quick_command
from kiln_arrow.files.other_formats import ExchangeError, read_tensors

SOURCE = str(Path(kiln_arrow.__file__).parents[1])
CODE = "from kiln_arrow.cli import main; main()"


@pytest.fixture
def run(tmp_path):
    def call(*arguments, code=CODE):
        anew = [sys.executable, "-W", "error", "-c", code]
        command = [*(quick_command("kiln-arrow") if code == CODE else anew), *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "100"}
        result = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=LIMIT_SECONDS, check=False
        )
        assert "Traceback" not in result.stderr
        return result

    return call


@pytest.fixture
def table():
    cells = [
        {"image": np.zeros((3, 4), np.float32), "label": np.int64(7)},
        None,
        {},
        [(None, np.arange(2, dtype=np.int8))],
    ]
    cells[3].append(("o", kiln_arrow.Opaque("float32", (2, 2), "csr", b"abcde")))
    framed = kiln_arrow.array(
        [{"n": 1, "t": [{"x": np.zeros(2)}]}] * 4, type=kiln_arrow.FrameType("struct{n:i64,t:list{tensors,},}")
    )
    column = kiln_arrow.array(cells)
    lists = pa.ListArray.from_arrays([0, 2, 2, 3, 4], column)
    return pa.table({"id": range(4), "input": column, "many": lists, "value": framed})


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def save(table, path):
    kiln_arrow.write_table(table, path)
    return path


def test_inspect_lists_the_tensors_of_each_cell(run, table, tmp_path):
    save(table, tmp_path / "t.parquet")
    result = run("inspect", "t.parquet", "--column", "input")
    assert result.returncode == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["0", "input", "48", "f32[3,4]", "'image'"],
        ["0", "input", "8", "i64[]", "'label'"],
        ["1", "input", "null"],
        ["2", "input", "no", "tensors"],
        ["3", "input", "2", "i8[2]", "unnamed"],
        ["3", "input", "5", "f32[2,2]", "'o'", "layout", "'csr'"],
    ]
    result = run("inspect", "t.parquet", "--row", "0")
    assert [line.split()[:2] for line in result.stdout.splitlines()] == [
        ["0", "input"],
        ["0", "input"],
        ["0", "many.element[0]"],
        ["0", "many.element[0]"],
        ["0", "many.element[1]"],
        ["0", "value"],
    ]
    assert result.stdout.splitlines()[-1].split() == ["0", "value", "16", "f64[2]", "t[0]", "'x'"]


@pytest.mark.parametrize("kind", ["parquet", "file", "stream", "plain"])
def test_validate_names_row_column_tensor_and_rule_of_every_bad_cell(run, kind, tmp_path):
    good = kiln_arrow.encode({"b": np.ones(2, bool)})
    cells = [good, None, good[:256] + b"\2" + good[257:], b"KLNT", good]
    storage = pa.chunked_array([pa.array(cells), pa.array(cells)])
    column = pa.chunked_array([kiln_arrow.TensorsType().wrap_array(chunk) for chunk in storage.chunks])
    table = pa.table({"n": range(10), "c": storage if kind == "plain" else column})
    path = tmp_path / "t"
    if kind in ("parquet", "plain"):
        pq.write_table(table, path, row_group_size=3)
    else:
        make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as file, make(file, table.schema) as writer:
            writer.write_table(table)
    result = run("validate", "t", *(["--column", "c"] if kind == "plain" else []))
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert lines[-1] == "t: 8 cells, 4 bad"
    assert [line.split("(")[0].split(":")[1].strip() for line in lines[:-1]] == ["bool", "eof"] * 2
    assert lines[0].endswith("(row 2, in c, tensor 0 'b', at byte 256)")
    assert [f"(row {row}, in c," in line for row, line in zip([2, 3, 7, 8], lines[:-1], strict=True)] == [True] * 4
    listed = run("inspect", "t", *(["--column", "c"] if kind == "plain" else []))
    assert listed.returncode == 1
    assert listed.stderr.count("kiln-arrow: t: row") == 4
    assert len(listed.stdout.splitlines()) == 6


def test_validate_says_nothing_is_wrong_where_nothing_is(run, table, tmp_path):
    save(table, tmp_path / "t.parquet")
    result = run("validate", "t.parquet")
    assert (result.returncode, result.stdout) == (0, "t.parquet: 10 cells, 0 bad\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "none.parquet"],
        ["validate", "."],
        ["validate", "text"],
        ["validate", "empty"],
        ["validate", "cut.parquet"],
        ["validate", "plain.parquet"],
        ["validate", "plain.parquet", "--column", "nope"],
        ["validate", "plain.parquet", "--column", "n"],
        ["inspect", "t.parquet", "--row", "4"],
        ["inspect", "t.parquet", "--row", "-1"],
        ["export", "t.parquet", "-o", "out", "--column", "value"],
        ["export", "t.parquet", "-o", "out"],
        ["import", "none.npz", "-o", "new.parquet"],
        ["import", "text", "-o", "new.parquet"],
        ["import", "text.npz", "-o", "new.parquet"],
        ["import", "text.safetensors", "-o", "new.parquet"],
        ["import", "good.npz", "-o", "t.parquet"],
        ["import", "-o", "new.parquet"],
        ["nonsense"],
        [],
    ],
    ids=" ".join,
)
def test_usage_and_what_cannot_be_read_is_status_two(run, table, tmp_path, arguments):
    save(table, tmp_path / "t.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-7])
    for name in ("text", "text.npz", "text.safetensors"):
        (tmp_path / name).write_text("not at all")
    (tmp_path / "empty").touch()
    np.savez(tmp_path / "good.npz", x=np.arange(3))
    pq.write_table(pa.table({"n": [1]}), tmp_path / "plain.parquet")
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "new.parquet").exists()


def test_a_file_that_is_not_there_is_named_with_the_reason(run, tmp_path):
    for path in ("missing.parquet", "t.parquet/x"):
        (tmp_path / "t.parquet").touch()
        result = run("validate", path)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"kiln-arrow: {path}: no such file\n"


def test_offsets_that_lead_outside_are_status_two(run, tmp_path):
    column = kiln_arrow.array([{}, {}])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("c", column.type)])) as writer:
        writer.write_batch(pa.record_batch([column], ["c"]))
    sound, broken = (np.array(values, "<i4").tobytes() for values in ([0, 64, 128], [0, 1 << 30, 64]))
    (tmp_path / "t").write_bytes(sink.getvalue().to_pybytes().replace(sound, broken))
    for command in (["validate", "t"], ["inspect", "t"], ["export", "t", "-o", "out"]):
        assert run(*command).returncode == 2


TENSORS = {
    "a": np.arange(6, dtype=np.int16).reshape(2, 3),
    "layer.0/weight": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "scalar": np.float32(1.5),
    "none": np.zeros((0, 3)),
    "flag": np.array([True, False]),
    "größe": np.arange(2, dtype=">i4"),
    "complex": np.ones(2, np.complex64),
}


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_what_is_imported_is_exported_again(run, tmp_path, ending):
    for number in range(3):
        path = tmp_path / f"in{number}.{ending}"
        tensors = {
            name: np.ascontiguousarray(array + number if array.dtype != bool else array)
            for name, array in TENSORS.items()
        }
        if ending == "npz":
            (np.savez if number else np.savez_compressed)(path, **tensors)
        else:
            save_file({name: array.astype(array.dtype.newbyteorder("<")) for name, array in tensors.items()}, path)
    assert (
        run("import", *(f"in{number}.{ending}" for number in range(3)), "-o", "t.parquet", "--column", "x").returncode
        == 0
    )
    table = pq.read_table(tmp_path / "t.parquet")
    assert table["file"].to_pylist() == [f"in{number}.{ending}" for number in range(3)]
    assert table["x"][2].as_py()["a"].tolist() == (TENSORS["a"] + 2).tolist()
    assert run("validate", "t.parquet").returncode == 0
    for form in ("npz", "safetensors"):
        result = run("export", "t.parquet", "--format", form, "-o", f"out-{form}")
        assert (result.returncode, result.stderr) == (0, "")
        assert (names_in(tmp_path / f"out-{form}")) == [f"{row:08}.{form}" for row in range(3)]
        again = kiln_arrow.decode(kiln_arrow.encode(table["x"][1].as_py()))
        assert run("import", f"out-{form}/00000001.{form}", "-o", f"again-{form}.parquet").returncode == 0
        assert pq.read_table(tmp_path / f"again-{form}.parquet")["tensors"][0].as_py() == again
    assert run("export", "t.parquet", "-o", "out-npz", "--row", "1").returncode == 2  # it is there already
    assert run("export", "t.parquet", "-o", "one", "--row", "1", "--column", "x").returncode == 0
    assert names_in(tmp_path / "one") == ["00000001.npz"]


def test_small_floats_go_through_safetensors_only(run, tmp_path):
    dtypes = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
    cell = {str(index): np.arange(4).astype(dtype) for index, dtype in enumerate(dtypes)}
    save(pa.table({"c": kiln_arrow.array([cell])}), tmp_path / "t.parquet")
    assert run("export", "t.parquet", "-o", "out").returncode == 2
    assert run("export", "t.parquet", "-o", "out", "--format", "safetensors").returncode == 0
    assert run("import", "out/00000000.safetensors", "-o", "again.parquet").returncode == 0
    assert pq.read_table(tmp_path / "again.parquet")["tensors"].to_pylist() == [
        kiln_arrow.decode(kiln_arrow.encode(cell))
    ]
    assert names_in(tmp_path / "out") == ["00000000.safetensors"]


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "c:\\evil", "..\\evil", "a//b", "./a", "\0"])
def test_names_of_tensors_are_never_used_as_paths(run, tmp_path, name):
    save(pa.table({"c": kiln_arrow.array([{name: np.arange(2)}])}), tmp_path / "t.parquet")
    work = tmp_path / "a" / "b"
    assert run("export", "t.parquet", "-o", work).returncode == 2
    assert list(work.iterdir()) == []
    assert run("export", "t.parquet", "-o", work, "--format", "safetensors").returncode == 0
    assert [path.name for path in work.iterdir()] == ["00000000.safetensors"]
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize(
    "cell", [[(None, np.arange(2))], {"o": kiln_arrow.Opaque("i1", (1,), "csr", b"")}, {"z": np.ones(1, np.complex128)}]
)
def test_what_a_format_cannot_hold_is_refused(run, tmp_path, cell):
    save(pa.table({"c": kiln_arrow.array([cell])}), tmp_path / "t.parquet")
    assert run("export", "t.parquet", "-o", "out", "--format", "safetensors").returncode == 2
    assert list((tmp_path / "out").iterdir()) == []


def test_a_malformed_cell_is_not_exported(run, tmp_path):
    column = kiln_arrow.TensorsType().wrap_array(pa.array([kiln_arrow.encode({"x": np.arange(2)}), b"bad"]))
    save(pa.table({"c": column}), tmp_path / "t.parquet")
    result = run("export", "t.parquet", "-o", "out")
    assert result.returncode == 1
    assert "row 1" in result.stderr
    assert names_in(tmp_path / "out") == ["00000000.npz"]


def npy(header):
    header = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "data",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }") + bytes(15),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }") + bytes(17),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"cos\nsystem\n(S'touch pwned'\ntR.",
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': __import__('os').system('touch pwned'), }"),
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (0,), }"),
        b"\x93NUMPY\x09\x00" + bytes(200),
        b"not an array",
        b"",
    ],
)
def test_a_hostile_npz_is_refused(run, tmp_path, data):
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", data)
    result = run("import", "t.npz", "-o", "t.parquet")
    assert result.returncode == 2
    assert not (tmp_path / "t.parquet").exists()
    assert not (tmp_path / "pwned").exists()


def test_pickled_objects_in_an_npz_are_not_loaded(run, tmp_path):
    np.savez(tmp_path / "t.npz", x=np.array([{"a": 1}], object))
    assert run("import", "t.npz", "-o", "t.parquet").returncode == 2


def test_without_safetensors_the_extra_is_named(run, tmp_path):
    save_file({"x": np.arange(2)}, tmp_path / "t.safetensors")
    code = "import sys; sys.modules['safetensors'] = None; " + CODE
    result = run("import", "t.safetensors", "-o", "t.parquet", code=code)
    assert result.returncode == 2
    assert "kiln-arrow[safetensors]" in result.stderr


def test_names_cannot_steer_the_terminal(run, tmp_path):
    save(pa.table({"c\x1b[2J": kiln_arrow.array([{"x\x1b[31m\n": np.arange(2)}])}), tmp_path / "t.parquet")
    result = run("inspect", "t.parquet")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    save(pa.table({"c": kiln_arrow.from_numpy({"x": np.zeros((20_000, 3))})}), tmp_path / "t.parquet")
    command = f"{sys.executable} -c '{CODE}' inspect {tmp_path / 't.parquet'} | head -1; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert result.stdout.splitlines()[-1] in ("141", "-13")
    assert result.stderr == ""


def test_help_and_version_are_status_zero(run):
    for arguments in (
        ["--help"],
        ["--version"],
        ["inspect", "-h"],
        ["validate", "-h"],
        ["import", "-h"],
        ["export", "-h"],
    ):
        result = run(*arguments)
        assert result.returncode == 0
        assert "kiln-arrow" in result.stdout


def test_a_file_that_is_there_already_is_named_and_stays(run, tmp_path):
    save(pa.table({"c": kiln_arrow.array([{"x": np.arange(2)}])}), tmp_path / "t.parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "00000000.npz").write_bytes(b"mine")
    result = run("export", "t.parquet", "-o", "out")
    assert result.returncode == 2
    assert result.stderr == f"kiln-arrow: {Path('out', '00000000.npz')}: it is there already\n"
    assert names_in(tmp_path / "out") == ["00000000.npz"]
    assert (tmp_path / "out" / "00000000.npz").read_bytes() == b"mine"
    (tmp_path / "x.npz").write_bytes(b"no archive")
    result = run("import", "x.npz", "-o", "t.parquet")
    assert (result.returncode, result.stderr) == (2, "kiln-arrow: t.parquet: it is there already\n")


@pytest.mark.parametrize("name", ["x.npz", "missing.npz"])
def test_a_failed_import_leaves_no_file(run, tmp_path, name):
    np.savez(tmp_path / "good.npz", a=np.arange(3))
    (tmp_path / "x.npz").write_bytes(b"no archive")
    result = run("import", "good.npz", name, "-o", "t.parquet")
    assert result.returncode == 2
    assert name in result.stderr
    assert names_in(tmp_path) == ["good.npz", "x.npz"]


def test_a_folder_that_cannot_be_written_to_is_named(run, tmp_path):
    save(pa.table({"c": kiln_arrow.array([{"x": np.arange(2)}])}), tmp_path / "t.parquet")
    (tmp_path / "file").write_bytes(b"")
    result = run("export", "t.parquet", "-o", "file/out")
    assert result.returncode == 2
    assert result.stderr.startswith("kiln-arrow: file")
    assert result.stderr.count("\n") == 1
    result = run("import", "t.npz", "-o", "nowhere/t.parquet")
    assert (result.returncode, result.stderr) == (2, "kiln-arrow: nowhere/t.parquet: No such file or directory\n")


@pytest.mark.parametrize(
    ("header", "key"),
    [('{"a":%s,"a":%s}', "'a'"), ('{"__metadata__":{"k":"1","k":"2"},"a":%s}', "'k'")],
    ids=["tensors", "metadata"],
)
def test_a_key_twice_in_a_safetensors_file_is_refused(run, tmp_path, header, key):
    entry = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    text = header.replace("%s", entry).encode()
    (tmp_path / "x.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"\1")
    result = run("import", "x.safetensors", "-o", "t.parquet")
    assert result.returncode == 2
    assert result.stderr.endswith(f"x.safetensors: expected every key once in its header, found {key} twice\n")
    assert names_in(tmp_path) == ["x.safetensors"]


def test_an_archive_claims_no_more_than_deflate_can_make(tmp_path):
    path = tmp_path / "x.npz"
    header = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1048576,), }")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", header + bytes(1 << 20))
    assert path.stat().st_size * 1040 < 1 << 20
    with pytest.raises(ExchangeError, match=f"claims {1 << 20} bytes, which the file does not hold"):
        read_tensors(path)


def test_members_of_an_archive_share_what_deflate_can_make(tmp_path):
    path = tmp_path / "x.npz"
    header = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (400000,), }")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name in "abc":
            archive.writestr(f"{name}.npy", header + bytes(400_000))
    most = path.stat().st_size * 1040
    assert 400_000 < most < 3 * 400_000 or pytest.fail(f"{most} does not fall between one and three members")
    with pytest.raises(ExchangeError, match=r"[bc]\.npy' claims 400000 bytes, which the file does not hold"):
        read_tensors(path)
