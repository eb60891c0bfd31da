"""The extension types: registration, metadata, and what becomes of them when something is wrong."""

from __future__ import annotations

import contextlib
import copy
import importlib
import io
import logging
import pickle
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kiln_arrow
from kiln_arrow import FrameType, TensorsType

STORAGES = [pa.binary(), pa.large_binary(), pa.binary_view()]
FRAME = "struct{id:i64,batch:tensors,}"


def types():
    return [*(TensorsType(storage) for storage in STORAGES), *(FrameType(FRAME, storage) for storage in STORAGES)]


def field_as_read(name, metadata, storage):
    keys = {"ARROW:extension:name": name, "ARROW:extension:metadata": metadata}
    return pa.ipc.read_schema(pa.schema([pa.field("x", storage, metadata=keys)]).serialize()).field("x")


@pytest.fixture
def registered_again():
    yield
    for name in ("kiln.tensors", "kiln.frame"):
        with contextlib.suppress(pa.ArrowKeyError):
            pa.unregister_extension_type(name)
    kiln_arrow.register()


@pytest.mark.parametrize("data_type", types(), ids=str)
def test_a_type_survives_a_schema_a_pickle_and_a_copy(data_type):
    schema = pa.schema([pa.field("x", data_type)])
    for found in (
        pa.ipc.read_schema(schema.serialize()).field("x").type,
        pickle.loads(pickle.dumps(data_type)),
        copy.deepcopy(data_type),
    ):
        assert found == data_type
        assert hash(found) == hash(data_type)
        assert found.storage_type == data_type.storage_type
        assert type(found) is type(data_type)


def test_the_metadata_is_the_text_of_the_specification():
    assert TensorsType().__arrow_ext_serialize__() == b'{"version":2}'
    assert FrameType(FRAME).__arrow_ext_serialize__() == b'{"type":"' + FRAME.encode() + b'","version":2}'


def test_types_of_other_storage_or_text_differ():
    found = [*types(), FrameType("struct{id:i64,}")]
    assert len(set(found)) == len(found)
    assert TensorsType() != pa.binary()


@pytest.mark.parametrize("storage", [pa.string(), pa.int32(), pa.binary(4), pa.list_(pa.uint8()), pa.null()])
def test_another_storage_is_refused(storage):
    for make in (TensorsType, lambda storage: FrameType(FRAME, storage)):
        with pytest.raises(kiln_arrow.KilnError) as caught:
            make(storage)
        assert caught.value.rule == "arrow_type"


@pytest.mark.parametrize("text", ["i64", "list{i64,}", "struct{}", "struct{id:i64, }", ""])
def test_a_frame_type_needs_the_canonical_text_of_a_struct(text):
    with pytest.raises(kiln_arrow.KilnError):
        FrameType(text)


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("kiln.tensors", metadata)
        for metadata in [
            b"",
            b"{}",
            b'{"version":1}',
            b'{"version": 2}',
            b'{"version":2} ',
            b"\xff",
            pickle.dumps(print),
        ]
    ]
    + [
        ("kiln.frame", metadata)
        for metadata in [
            b"",
            b'{"version":2}',
            b'{"type":"i64","version":2}',
            b'{"type":"struct{id:i64}","version":2}',
            b'{"type":"struct{id:i64,}","version":3}',
            b'{"type":"struct{\\u0069d:i64,}","version":2}',
            b'{"type":"struct{id:i64,}\xff","version":2}',
            b'{"type":"' + b"list{" * 100_000 + b'","version":2}',
            pickle.dumps(print),
        ]
    ],
)
def test_foreign_metadata_leaves_the_storage_and_a_line_in_the_log(name, metadata, caplog, monkeypatch):
    monkeypatch.setattr("kiln_arrow.columns.extension_types._KEPT", {})
    with caplog.at_level(logging.WARNING, "kiln_arrow"):
        assert field_as_read(name, metadata, pa.binary()).type == pa.binary()
    assert [record.name for record in caplog.records] == ["kiln_arrow"]


@pytest.mark.parametrize(
    "storage",
    [pa.string(), pa.int32(), pa.binary(64), pa.list_(pa.uint8()), pa.null(), pa.dictionary(pa.int8(), pa.binary())],
)
def test_our_name_on_another_storage_leaves_the_storage(storage):
    assert field_as_read("kiln.tensors", b'{"version":2}', storage).type == storage


def test_an_error_of_the_logging_does_not_leave_the_hook(monkeypatch):
    def explode(*_):
        raise RuntimeError("no logs today")

    monkeypatch.setattr("kiln_arrow.columns.extension_types._LOG.warning", explode)
    monkeypatch.setattr("kiln_arrow.columns.extension_types._KEPT", {})
    assert field_as_read("kiln.tensors", b"?", pa.binary()).type == pa.binary()


def test_metadata_beyond_what_is_kept_is_read_all_the_same(monkeypatch):
    monkeypatch.setattr("kiln_arrow.columns.extension_types._KEPT", {})
    monkeypatch.setattr("kiln_arrow.columns.extension_types._KEPT_COUNT", 1)
    for width in range(3):
        data_type = FrameType(f"struct{{f{width}:i64,}}")
        assert pa.ipc.read_schema(pa.schema([("x", data_type)]).serialize()).field("x").type == data_type


def test_reading_hands_out_one_instance_of_a_type():
    schema = pa.schema([pa.field("x", TensorsType())]).serialize()
    assert pa.ipc.read_schema(schema).field("x").type is pa.ipc.read_schema(schema).field("x").type


@pytest.mark.usefixtures("registered_again")
def test_registering_and_unregistering_may_be_done_again_and_again():
    for _ in range(2):
        kiln_arrow.register()
        assert field_as_read("kiln.tensors", b'{"version":2}', pa.binary()).type == TensorsType()
    for _ in range(2):
        kiln_arrow.unregister()
        assert field_as_read("kiln.tensors", b'{"version":2}', pa.binary()).type == pa.binary()


@pytest.mark.usefixtures("registered_again")
def test_threads_may_register_at_once():
    kiln_arrow.unregister()
    errors = []

    def register():
        barrier.wait()
        try:
            kiln_arrow.register()
        except Exception as error:  # collected for the assertion below
            errors.append(error)

    barrier = threading.Barrier(16)
    threads = [threading.Thread(target=register) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert field_as_read("kiln.tensors", b'{"version":2}', pa.binary()).type == TensorsType()


@pytest.mark.usefixtures("registered_again")
def test_a_foreign_type_under_our_name_is_named_and_left_alone(caplog):
    class Squatter(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.binary(), "kiln.tensors")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage, metadata):
            return cls()

    kiln_arrow.unregister()
    pa.register_extension_type(Squatter())
    with pytest.raises(RuntimeError, match="Squatter"):
        kiln_arrow.register()
    kiln_arrow.unregister()
    assert isinstance(field_as_read("kiln.tensors", b"", pa.binary()).type, Squatter)
    with caplog.at_level(logging.WARNING, "kiln_arrow"):
        importlib.reload(kiln_arrow)
    assert "Squatter" in caplog.text


@pytest.mark.usefixtures("registered_again")
def test_after_a_reload_the_new_classes_hold_the_names_and_old_columns_work():
    import kiln_arrow.columns.extension_types
    import kiln_arrow.columns.registration

    old = kiln_arrow.from_numpy({"x": np.arange(3)})
    state = {name: dict(vars(module)) for name, module in MODULES.items()}
    try:
        importlib.reload(kiln_arrow.columns.extension_types)
        importlib.reload(kiln_arrow.columns.registration).register()
        found = field_as_read("kiln.tensors", b'{"version":2}', pa.binary()).type
        assert type(found) is kiln_arrow.columns.extension_types.TensorsType
        assert type(found) is not type(old.type)
        assert kiln_arrow.to_numpy(old)["x"].tolist() == [0, 1, 2]
    finally:
        for name, module in MODULES.items():
            vars(module).update(state[name])


MODULES = {
    name: importlib.import_module(f"kiln_arrow.{name}") for name in ("columns.extension_types", "columns.registration")
}


def test_reloading_the_package_is_harmless():
    importlib.reload(kiln_arrow)
    assert field_as_read("kiln.tensors", b'{"version":2}', pa.binary()).type == TensorsType()


@pytest.mark.parametrize("data_type", types(), ids=str)
def test_scalars_show_little_and_survive_a_pickle(data_type):
    value = {"id": 7, "batch": {"x": np.zeros(1000)}}
    cell = value if data_type.extension_name == "kiln.frame" else value["batch"]
    column = kiln_arrow.array([cell, None], type=data_type)
    for scalar in column:
        again = pickle.loads(pickle.dumps(scalar))
        assert again.type == data_type
        assert again.is_valid == scalar.is_valid
        assert again.equals(scalar)
        assert len(repr(scalar)) < 100
    assert column[1].as_py() is None
    assert column[0].as_py(maps_as_pydicts="strict") == (
        column[0].as_py() if data_type.extension_name == "kiln.frame" else kiln_arrow.decode(kiln_arrow.encode(cell))
    )


def test_views_that_a_scalar_gives_cannot_be_written_to():
    view = kiln_arrow.from_numpy({"x": np.arange(6).reshape(2, 3)})[1].as_py()["x"]
    assert not view.flags.writeable
    with pytest.raises(ValueError, match=r"writeable|WRITEABLE"):
        view.flags.writeable = True


def test_a_file_with_broken_metadata_stays_readable():
    keys = {"ARROW:extension:name": "kiln.frame", "ARROW:extension:metadata": "broken"}
    schema = pa.schema([pa.field("x", pa.binary(), metadata=keys), pa.field("y", pa.int64())])
    file = io.BytesIO()
    pq.write_table(pa.table([pa.array([b"a"]), pa.array([1])], schema=schema), file)
    assert pq.read_table(file).to_pydict() == {"x": [b"a"], "y": [1]}
