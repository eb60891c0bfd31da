"""Write tree0.json and bag0.json, or with --check see whether they say what the cases in code say.

    python golden/generate_trees.py            # write
    python golden/generate_trees.py --check    # write nothing; exit status 1 where a file is missing or says otherwise

Expected values come from reference/, which imports no package of this project; the answers of other implementations in
tree_cases/published.py must come out of it. Streams that still decode to the same are kept, as in generate.py.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

GOLDEN = Path(__file__).resolve().parent
sys.path[:0] = [str(GOLDEN), str(GOLDEN.parent / "tests")]

from generate import differences, read, read_stream, varint  # noqa: E402  (found, like the others, by the line above)
from reference import bag0, tree0  # noqa: E402
from reference.arrays import records  # noqa: E402
from reference.records import FUNCTIONS, Records, RefusedError, type_bytes  # noqa: E402
from tree_cases import FLAGS, PUBLISHED, UNSEEN, TreeCase, all_cases, nested_table  # noqa: E402

SHORT = 200  # bytes; what is hashed is published up to this length
FEW = 8  # digests; so many chunks or entries are listed
STANDARD = FUNCTIONS["blake3"]


# --- Streams ----------------------------------------------------------------------------------------------------------


def write_stream(case: TreeCase, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd" if case.compressed else None, allow_64bit=True)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
        if case.empty_batch:
            writer.write_batch(pa.RecordBatch.from_pylist([], table.schema))
    ipc = sink.getvalue().to_pybytes()
    for before, after in case.patches:
        if ipc.count(before) != 1:
            raise ValueError(f"{case.id}: the bytes to patch are there {ipc.count(before)} times")
        ipc = ipc.replace(before, after)
    return ipc


def read_table(ipc: bytes) -> pa.Table:
    schema, batches = read_stream(ipc)
    return pa.Table.from_batches(batches, schema)


def hashed_parts(table: pa.Table) -> Any:
    """What the records of a table are, in little."""
    hashed = records(table)
    return hashed.fields, hashed.row_count, [tree0.column(STANDARD, *column) for column in typed_columns(hashed)]


def is_faithful(case: TreeCase, ipc: bytes) -> bool:
    """Whether a stream holds a case's records: older versions of pyarrow write an extension over a union wrongly."""
    try:
        return case.result == "refused" or bool(hashed_parts(read_table(ipc)) == hashed_parts(case.table))
    except RefusedError:
        return False


def decoded(case: TreeCase, ipc: bytes) -> Iterator[Any]:
    """What a stream has to say besides its records, without how its writer laid it out."""
    schema, batches = read_stream(ipc)
    yield schema.serialize().to_pybytes()
    yield [batch.num_rows for batch in batches]
    yield [buffers_of(batch) for batch in batches]  # what lies under nulls counts too
    yield [after in ipc for _, after in case.patches]


def buffers_of(batch: pa.RecordBatch) -> list[Any]:
    if any("interval" in str(t) for t in batch.schema.types):
        return []  # pyarrow has no arrays of two of these types
    return [[buffer and buffer.to_pybytes() for buffer in column.buffers()] for column in batch.columns]


def stream_of(case: TreeCase, stored: dict[str, bytes]) -> bytes:
    """The stored stream if it still says what the case says, else a new one."""
    old, ipc = stored.get(case.id), write_stream(case, case.table)
    if old is not None:
        try:
            alike = is_faithful(case, old)
            if alike and is_faithful(case, ipc):
                alike = list(decoded(case, old)) == list(decoded(case, ipc))
        except (pa.ArrowException, ValueError, OSError):
            alike = False
        if alike:
            return old
    if not is_faithful(case, ipc):
        raise ValueError(f"{case.id}: this version of pyarrow does not write it")
    return ipc


# --- Cases ------------------------------------------------------------------------------------------------------------


def typed_columns(hashed: Records) -> Iterator[tuple[Any, Any]]:
    return ((field.type, values) for field, values in zip(hashed.fields, hashed.columns, strict=True))


def short(key: str, data: bytes) -> dict[str, str]:
    return {key: data.hex()} if len(data) <= SHORT else {}


def tree0_entry(hashed: Records) -> dict[str, Any]:
    columns = []
    for t, values in typed_columns(hashed):
        chunks = tree0.chunks(STANDARD, t, values)
        entry = short("type", type_bytes(t)) | {
            "null_count": sum(value is None for value in values),
            "digest": tree0.column(STANDARD, t, values).hex(),
            "root": tree0.root(STANDARD, chunks).hex(),
        }
        if len(chunks) <= FEW:
            entry["chunks"] = [digest.hex() for digest in chunks]
        streams = tree0.streams(t, values[: tree0.CHUNK_ROWS]) if chunks else []
        if chunks and sum(map(len, streams)) <= SHORT:
            entry["streams"] = [stream.hex() for stream in streams]
        columns.append(entry)
    digests = [bytes.fromhex(column["digest"]) for column in columns]
    return {"columns": columns} | short("table_preimage", tree0.table_input(hashed.fields, hashed.row_count, digests))


def bag0_entry(hashed: Records) -> dict[str, Any]:
    counts = bag0.counts(STANDARD, hashed)
    entries = sorted(counts.items())
    bag = bag0.bag(STANDARD, entries)
    rows = bag0.rows(hashed)
    entry: dict[str, Any] = {"distinct_row_count": len(entries)}
    if sum(map(len, rows)) <= SHORT and len(rows) <= 100:
        entry["rows"] = [row.hex() for row in rows]
    if len(entries) <= FEW:
        entry["entries"] = [{"digest": digest.hex(), "count": count} for digest, count in entries]
    return entry | {"bag": bag.hex()} | short("table_preimage", bag0.table_input(hashed.fields, hashed.row_count, bag))


RULES: dict[str, tuple[Any, Callable[[Records], dict[str, Any]]]] = {
    "tree0": (tree0, tree0_entry),
    "bag0": (bag0, bag0_entry),
}


def valid_entry(rules: str, case: TreeCase, table: pa.Table) -> dict[str, Any]:
    module, details = RULES[rules]
    entry: dict[str, Any] = {} if case.slice is None else {"slice": list(case.slice)}
    hashed = records(table.slice(*case.slice or (0,)))
    digests = {}
    for function, h in FUNCTIONS.items():
        digest = module.table(h, hashed)
        prefix = varint(module.HASH_CODES[function]) + varint(len(digest))
        digests[function] = {"hex": digest.hex(), "multihash": "f" + (prefix + digest).hex()}
    published = PUBLISHED.get(case.id)
    if published and published[list(RULES).index(rules)] != digests["blake3"]["hex"]:
        raise ValueError(f"{case.id}: {rules} was published as something else")
    return entry | {"row_count": hashed.row_count, "digests": digests} | details(hashed)


def refused_entry(case: TreeCase, table: pa.Table) -> dict[str, Any]:
    if case.id not in UNSEEN:
        try:
            records(table)
        except RefusedError as found:
            if case.error != {"kind": found.rule, "path": list(found.path)}:
                raise ValueError(f"{case.id}: {found}") from found
        else:
            raise ValueError(f"{case.id}: the reference does not refuse it")
    return {"error": case.error}


def related(rules: str, cases: list[TreeCase], entries: list[dict[str, Any]]) -> None:
    """Name the cases of equal digests, and see that no others are equal."""
    group: dict[str, str] = {}
    for case in cases:
        equal = case.same_records_as or (case.same_bag_as if rules == "bag0" else ())
        group[case.id] = group[equal[0]] if equal else case.id
    ids: dict[str, list[str]] = {}
    for entry in entries:
        if entry["result"] == "valid":
            ids.setdefault(entry["digests"]["blake3"]["hex"], []).append(entry["id"])
    for entry in entries:
        if entry["result"] == "valid":
            equal = ids[entry["digests"]["blake3"]["hex"]]
            declared = [id_ for id_ in group if group[id_] == group[entry["id"]]]
            if sorted(equal) != sorted(declared):
                raise ValueError(f"{entry['id']}: {rules} is that of {sorted(equal)}, declared are {sorted(declared)}")
            if len(equal) > 1:
                entry["same_hash_as"] = sorted({*equal} - {entry["id"]})


# --- Files ------------------------------------------------------------------------------------------------------------


def document(rules: str, stored: dict[str, Any] | None) -> dict[str, Any]:
    old = {entry["id"]: base64.b64decode(entry.get("ipc", "")) for entry in (stored or {}).get("cases", [])}
    cases = [case for case in all_cases() if case.only in (None, rules)]
    entries = []
    for case in cases:
        entry = {"id": case.id, "comment": case.comment, "flags": sorted(case.flags), "result": case.result}
        if case.nested:
            entry["nested"] = case.nested
            table = nested_table(case.nested)
        else:
            ipc = stream_of(case, old)
            entry["ipc"] = base64.b64encode(ipc).decode()
            table = read_table(ipc)
        entries.append(entry | (refused_entry(case, table) if case.error else valid_entry(rules, case, table)))
    related(rules, cases, entries)
    flags = {flag for case in cases for flag in case.flags}
    if unknown := flags - set(FLAGS):
        raise ValueError(f"flags that are not explained: {sorted(unknown)}")
    return {
        "about": f"Known answers of the logical hash {rules}. How to use them: README.md beside this file.",
        "schema": "schema-tree0-bag0.json",
        "version": 1,
        "rules": rules,
        "function": "blake3",
        "hash_codes": {f"{rules}-{name}": f"0x{code:x}" for name, code in RULES[rules][0].HASH_CODES.items()},
        "flags": {name: FLAGS[name] for name in FLAGS if name in flags},
        "case_count": len(entries),
        "cases": entries,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the golden files of tree0 and bag0, or check them.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where a file differs")
    check = parser.parse_args().check
    found = []
    for rules in RULES:
        name = f"{rules}.json"
        stored = read(name)
        if check and stored is None:
            found.append(f"{name}: missing")
            continue
        made = document(rules, stored)
        if check:
            found += differences(name, stored, made)
        else:
            (GOLDEN / name).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
