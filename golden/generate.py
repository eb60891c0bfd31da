"""Write arrow0.json and multihash.json, or with --check see whether they say what the cases in code say.

    python golden/generate.py            # write
    python golden/generate.py --check    # write nothing; exit status 1 where a file is missing or says something else

Expected values come from golden/reference/arrow0.py, which imports no package of this project; the published digests
are constants in arrow0_cases/published.py that the model must reproduce. Versions of Arrow may lay a stream out in
other ways, so the streams in a file are compared by what they decode to, and a stream that still decodes to the same is
kept as it is. Everything else is compared exactly.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

GOLDEN = Path(__file__).resolve().parent
sys.path[:0] = [str(GOLDEN), str(GOLDEN.parent / "tests")]

import multihash_cases  # noqa: E402  (found, like the others, by the line above)
from arrow0_cases import NOTES, all_cases  # noqa: E402
from arrow0_cases.case import Case  # noqa: E402
from arrow0_cases.published import PUBLISHED, REFERENCE_DEPARTS  # noqa: E402
from reference import arrow0 as model  # noqa: E402

SHORT = 200  # bytes; a preimage up to this length is published


# --- Streams ----------------------------------------------------------------------------------------------------------


def write_stream(case: Case) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=case.dictionary_deltas)
    with pa.ipc.new_stream(sink, case.table.schema, options=options) as writer:
        for batch in case.table.to_batches():
            writer.write_batch(batch)
        if case.empty_batch:
            writer.write_batch(
                pa.RecordBatch.from_arrays([c.chunk(0) for c in case.table.columns], schema=case.table.schema)
            )
    ipc = sink.getvalue().to_pybytes()
    for before, after in case.patches:
        if ipc.count(before) != 1:
            raise ValueError(f"{case.id}: the bytes to patch are there {ipc.count(before)} times")
        ipc = ipc.replace(before, after)
    return ipc


def read_stream(ipc: bytes) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    with pa.ipc.open_stream(ipc) as reader:
        return reader.schema, list(reader)


def decoded(case: Case, ipc: bytes) -> Iterator[Any]:
    """What a stream has to say, without how its writer laid it out."""
    schema, batches = read_stream(ipc)
    yield schema.serialize().to_pybytes()
    yield [batch.num_rows for batch in batches]
    if case.result == "valid":
        yield model.preimages(batches or schema.empty_table())
    for column in [column for batch in batches for column in batch.columns]:  # what lies under nulls counts too
        yield [buffer and buffer.to_pybytes() for buffer in column.buffers()]
    yield [after in ipc for _, after in case.patches]


def stream_of(case: Case, stored: dict[str, bytes], made: dict[str, bytes]) -> bytes:
    """The stored stream if it still says what the case says, else a new one."""
    if case.derived is not None:
        base, derive = case.derived
        return derive(made[base])
    ipc, old = write_stream(case), stored.get(case.id)
    try:
        same = old is not None and list(decoded(case, old)) == list(decoded(case, ipc))
    except (pa.ArrowException, ValueError, OSError):
        same = False
    return old if same and old is not None else ipc


# --- arrow0.json ------------------------------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


def multihash_text(function: str, digest: bytes) -> str:
    return "f" + (varint(model.HASH_CODES[function]) + varint(len(digest)) + digest).hex()


def leaf(path: tuple[str, ...], stream: bytes, validity: list[bool]) -> dict[str, Any]:
    digest = model.FUNCTIONS["sha3-256"](stream).hexdigest()
    entry = {"path": list(path), "null_count": validity.count(False), "digest": digest}
    return entry | ({"preimage": stream.hex()} if len(stream) <= SHORT else {})


def valid_entry(case: Case, ipc: bytes) -> dict[str, Any]:
    schema, batches = read_stream(ipc)
    data = pa.Table.from_batches(batches, schema).slice(*case.slice or (0,))
    preamble, leaves = model.preimages(data)
    made = case.table is not None and not case.patches and case.table.slice(*case.slice or (0,))
    if made and (preamble, leaves) != model.preimages(made):
        raise ValueError(f"{case.id}: the stream holds other records than the case")
    digests = {function: model.record_digest(data, function) for function in model.HASH_CODES}
    published = PUBLISHED.get(case.id)
    if published not in (None, digests["sha3-256"].hex()):
        raise ValueError(f"{case.id}: published {published}, computed {digests['sha3-256'].hex()}")
    entry: dict[str, Any] = {} if case.slice is None else {"slice": list(case.slice)}
    entry |= {
        "row_count": data.num_rows,
        "digests": {f: {"hex": d.hex(), "multihash": multihash_text(f, d)} for f, d in digests.items()},
        "leaves": [leaf(*parts) for parts in leaves],
    }
    if len(preamble) <= SHORT:
        entry["schema_preimage"] = preamble.hex()
    if case.id in REFERENCE_DEPARTS:
        entry["reference_digest"] = REFERENCE_DEPARTS[case.id]
    return entry


def refused_entry(case: Case) -> dict[str, Any]:
    error = case.error
    if error is not None and error["kind"] == "unsupported_type" and case.table is not None:
        try:
            model.preimages(case.table)
        except model.RefusedError as found:
            if error != error | {"path": list(found.path), "type": str(found.data_type), "reserved": found.reserved}:
                raise ValueError(f"{case.id}: {found}") from found
        else:
            raise ValueError(f"{case.id}: the model does not refuse it")
    return {"error": error}


def related(cases: list[Case], entries: list[dict[str, Any]]) -> None:
    """Name the cases of equal digests, both ways, and see that no others are equal."""
    by_id = {entry["id"]: entry for entry in entries}
    first: dict[str, str] = {}
    for case in cases:
        first[case.id] = first[case.same_records_as[0]] if case.same_records_as else case.id
    collides: dict[str, set[str]] = {case.id: set() for case in cases}
    for case in cases:
        for other in case.collides_with:
            collides[case.id].add(other)
            collides[other].add(case.id)
    groups: dict[str, list[str]] = {}
    for entry in entries:
        if entry["result"] == "valid":
            groups.setdefault(entry["digests"]["sha3-256"]["hex"], []).append(entry["id"])
    for case in cases:
        if case.result != "valid":
            continue
        entry = by_id[case.id]
        equal = set(groups[entry["digests"]["sha3-256"]["hex"]])
        same = {other for other in equal if first[other] == first[case.id]}
        reachable = {id_ for other in same for id_ in collides[other]}
        if equal != same | {other for other in equal if first[other] in {first[id_] for id_ in reachable}}:
            raise ValueError(f"{case.id}: equal digests that no case declares: {sorted(equal)}")
        if not {*case.same_records_as, *collides[case.id]} <= equal:
            raise ValueError(f"{case.id}: digests that should be equal are not")
        if len(same) > 1:
            entry["same_records_as"] = sorted(same - {case.id})
        if collides[case.id]:
            entry["collides_with"] = sorted(collides[case.id])


def arrow0(stored: dict[str, Any] | None) -> dict[str, Any]:
    old = {entry["id"]: base64.b64decode(entry["ipc"]) for entry in (stored or {}).get("cases", [])}
    cases = all_cases()
    made: dict[str, bytes] = {}
    entries = []
    for case in cases:
        ipc = made[case.id] = stream_of(case, old, made)
        entry = {"id": case.id, "comment": case.comment, "flags": sorted(case.flags), "result": case.result}
        entry |= {"ipc": base64.b64encode(ipc).decode()}
        entries.append(entry | (valid_entry(case, ipc) if case.result == "valid" else refused_entry(case)))
    related(cases, entries)
    used = {flag for case in cases for flag in case.flags}
    if used != set(NOTES):
        raise ValueError(f"flags and notes differ: {sorted(used ^ set(NOTES))}")
    if missing := set(PUBLISHED) - set(made):
        raise ValueError(f"published cases are missing: {sorted(missing)}")
    return {
        "about": "Known answers of the logical hash arrow0. How to use them: README.md beside this file.",
        "version": 1,
        "function": "sha3-256",
        "hash_codes": {f"arrow0-{name}": f"0x{code:x}" for name, code in model.HASH_CODES.items()},
        "notes": NOTES,
        "cases": entries,
    }


# --- Files ------------------------------------------------------------------------------------------------------------


def read(name: str) -> dict[str, Any] | None:
    path = GOLDEN / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def differences(name: str, stored: dict[str, Any] | None, made: dict[str, Any]) -> Iterator[str]:
    if stored is None:
        yield f"{name}: missing"
        return
    old = {entry["id"]: entry for entry in stored.get("cases", [])}
    new = {entry["id"]: entry for entry in made["cases"]}
    for id_ in sorted(old.keys() | new.keys()):
        if old.get(id_) != new.get(id_):
            what = "not in the file" if id_ not in old else "not in the code" if id_ not in new else "differs"
            yield f"{name}: case {id_} {what}"
    if stored != made and old == new:
        yield f"{name}: header or order of cases differs"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the golden files of arrow0, or check them.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where a file differs")
    check = parser.parse_args().check
    found = []
    for name, make in (("arrow0.json", arrow0), ("multihash.json", lambda _: multihash_cases.document())):
        stored = read(name)
        made = make(stored)
        if check:
            found += differences(name, stored, made)
        else:
            text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
            (GOLDEN / name).write_text(text, encoding="utf-8")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
