"""One way to hash a table, in a process and an environment of its own. Prints JSON lines.

python benchmarks/peer.py about PEER
python benchmarks/peer.py speed PEER TABLE ROWS ROUNDS
python benchmarks/peer.py kinds|pairs|stable PEER [FIRST]
python benchmarks/peer.py golden PEER [FIRST]

Where a peer ends its process, the caller goes on with the case after.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from cases import KINDS, PAIRS
from data import TABLES
from measuring import ipc_bytes, ratio, take_turns, versions


class Peer:
    """A way to hash: what is made ready of a table, and the hash of that. Imports wait until the peer is used."""

    packages: tuple[str, ...] = ()

    def ready(self, table: Any) -> Any:
        return table

    def hash(self, data: Any) -> str:
        raise NotImplementedError


class Ours(Peer):
    packages = ("kiln-arrow", "pyarrow")

    def __init__(self, function: str = "sha3-256") -> None:
        self._function = function

    def hash(self, data: Any) -> str:
        import arrow_digest

        return str(arrow_digest.logical_hash(data, function=self._function))


class StarfixCompiled(Peer):
    packages = ("starfix", "pyarrow")

    def hash(self, data: Any) -> str:
        import starfix

        return str(starfix.hash_arrow_table(data).hex())


class StarfixCurrent(Peer):
    packages = ("starfix", "pyarrow")

    def hash(self, data: Any) -> str:
        from starfix import ArrowDigester

        return str(ArrowDigester.hash_table(data).hex())


class Pandas(Peer):
    """One 64-bit hash a row, and SHA2-256 of these: the fingerprint that is commonly made of them."""

    packages = ("pandas", "pyarrow")

    def ready(self, table: Any) -> Any:
        return table.to_pandas()

    def hash(self, data: Any) -> str:
        import pandas as pd

        return hashlib.sha256(pd.util.hash_pandas_object(data, index=False).to_numpy()).hexdigest()


class Polars(Peer):
    """As pandas: SHA2-256 of one 64-bit hash a row."""

    packages = ("polars", "pyarrow")

    def ready(self, table: Any) -> Any:
        import polars as pl

        return pl.from_arrow(table)

    def hash(self, data: Any) -> str:
        return hashlib.sha256(data.hash_rows().to_numpy()).hexdigest()


class DuckDB(Peer):
    """The common query for a table's checksum: it needs no order, which SQL tables do not have."""

    packages = ("duckdb", "pyarrow")

    def hash(self, data: Any) -> str:
        import duckdb

        with duckdb.connect() as connection:
            connection.register("t", data)
            (row,) = connection.execute("SELECT bit_xor(hash(t)) FROM t").fetchall()
        return str(row[0])


class IpcBytes(Peer):
    packages = ("pyarrow",)

    def hash(self, data: Any) -> str:
        return hashlib.sha256(ipc_bytes(data)).hexdigest()


PEERS: dict[str, Peer] = {
    "arrow_digest": Ours(),
    "arrow_digest_sha2": Ours("sha2-256"),
    "arrow_digest_blake3": Ours("blake3"),
    "starfix_compiled": StarfixCompiled(),
    "starfix_current": StarfixCurrent(),
    "pandas": Pandas(),
    "polars": Polars(),
    "duckdb": DuckDB(),
    "ipc_bytes": IpcBytes(),
}


def _outcome(run: Callable[[], Any]) -> dict[str, Any]:
    """Return what it gives; a peer that raises refuses, and says why."""
    try:
        return {"value": run()}
    except BaseException as error:  # a peer may raise anything; a panic in Rust is a BaseException
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def _of(peer: Peer, table: Any) -> str:
    return peer.hash(peer.ready(table))


def _pair(peer: Peer, name: str) -> bool:
    first, second = PAIRS[name].make()
    return _of(peer, first) == _of(peer, second)


def _speed(peer: Peer, table: str, rows: int, rounds: int) -> dict[str, Any]:
    """Measure from Arrow data, and from data in the peer's own form, against SHA2-256 of the table's IPC bytes."""
    data = TABLES[table](rows).combine_chunks()
    serialised = ipc_bytes(data)
    ready = peer.ready(data)
    peer.hash(ready)
    runs = {
        "floor": lambda: hashlib.sha256(serialised).digest(),
        "from_arrow": lambda: _of(peer, data),
        "ready": lambda: peer.hash(ready),
    }
    best = take_turns(runs, rounds)
    more = {"ready_ratio": ratio(best["ready"], best["floor"])["ratio"], "rows": len(data), "bytes": len(serialised)}
    return ratio(best["from_arrow"], best["floor"]) | more


def _golden_cases() -> list[dict[str, Any]]:
    """Return the known answers whose every batch a whole table can hold, SHA2-256 being what the reference computes."""
    cases = json.loads((Path(__file__).parents[1] / "golden" / "arrow0.json").read_text())["cases"]
    return [case for case in cases if case["result"] == "valid" and "slice" not in case]


def _golden(peer: Peer, case: dict[str, Any]) -> str:
    table = pa.ipc.open_stream(base64.b64decode(case["ipc"])).read_all()
    return _of(peer, table.combine_chunks())[-64:]


def main(what: str, name: str, *arguments: str) -> None:
    peer = PEERS[name]
    if what == "about":
        print(json.dumps(versions(list(peer.packages))))
        return
    if what == "speed":
        table, rows, rounds = arguments
        print(json.dumps(_outcome(lambda: _speed(peer, table, int(rows), int(rounds)))))
        return
    runs: dict[str, Callable[[], Any]] = {}
    if what == "kinds":
        runs = {kind: lambda kind=kind: bool(_of(peer, KINDS[kind][1]())) for kind in KINDS}
    if what == "pairs":
        runs = {pair: lambda pair=pair: _pair(peer, pair) for pair in PAIRS}
    if what == "stable":
        runs = {table: lambda table=table: _of(peer, TABLES[table](1000)) for table in ("flat", "numbers", "texts")}
    if what == "golden":
        runs = {case["id"]: lambda case=case: _golden(peer, case) for case in _golden_cases()}
    for case in list(runs)[int(arguments[0]) if arguments else 0 :]:
        print(json.dumps({"case": case} | _outcome(runs[case])), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
