"""One call at a time feeds a digest: what comes beside it is refused, takes nothing, and changes nothing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest as ad
from arrow_digest.rules.arrow0.rule import Arrow0
from helpers import child

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string())])
BATCH = pa.record_batch({"a": range(5000), "s": ["x"] * 5000}, schema=SCHEMA)


class Gate:
    """Lets a test wait until a call is inside the digest, and lets it go on when the test has had its look."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.entered.set()
        assert self.leave.wait(500)


class Arrays:
    """A stream of arrays that waits at a gate when it is asked for."""

    def __init__(self, gate: Gate, array: pa.Array) -> None:
        self.gate, self.array = gate, array

    def __arrow_c_stream__(self, requested_schema=None):
        self.gate.pass_through()
        return pa.chunked_array([self.array]).__arrow_c_stream__(requested_schema)


def records(gate: Gate) -> pa.RecordBatchReader:
    def batches():
        yield BATCH
        gate.pass_through()
        yield BATCH

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def digest_and_feed(kind: str, gate: Gate):
    """A digest, what feeds it slowly, what feeds it at once, and every way to ask it."""
    if kind == "records":
        digest = ad.RecordDigest(SCHEMA, threads=1)
        uses = (digest.digest, digest.hexdigest, digest.multihash, digest.columns, digest.copy)
        return digest, records(gate), BATCH, uses
    array_digest = ad.ArrayDigest(pa.int64())
    array = BATCH.column(0)
    return array_digest, Arrays(gate, array), array, (array_digest.digest, array_digest.hexdigest, array_digest.copy)


def of_two_batches(kind: str) -> str:
    digest, _, data, _ = digest_and_feed(kind, Gate())
    for _ in range(2):
        digest.update(data)
    return digest.hexdigest()


@pytest.mark.parametrize("kind", ["records", "array"])
def test_calls_beside_an_update_are_refused_and_the_update_goes_on(kind):
    gate = Gate()
    digest, slow, data, uses = digest_and_feed(kind, gate)
    if kind == "array":
        digest.update(data)
    with ThreadPoolExecutor(1) as other:
        update = other.submit(digest.update, slow)
        assert gate.entered.wait(500)
        taken = []

        def taken_by_the_refused():
            taken.append(1)
            yield BATCH

        refused = pa.RecordBatchReader.from_batches(SCHEMA, taken_by_the_refused()) if kind == "records" else data
        for use in (lambda: digest.update(refused), lambda: digest.update(data), *uses):
            with pytest.raises(ad.DigestStateError, match="one at a time") as caught:
                use()
            assert caught.value.rule == "concurrent"
        gate.leave.set()
        update.result()
    assert taken == []
    assert digest.hexdigest() == of_two_batches(kind)


def test_an_update_from_inside_an_update_is_refused():
    digest = ad.RecordDigest(SCHEMA)
    errors = []

    def batches():
        yield BATCH
        try:
            digest.update(BATCH)
        except ad.DigestStateError as error:
            errors.append(error.rule)
        yield BATCH

    digest.update(pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    assert errors == ["concurrent"]
    assert digest.hexdigest() == of_two_batches("records")


def test_reading_refuses_updates_and_no_other_reading(monkeypatch):
    gate = Gate()
    digest = ad.RecordDigest(SCHEMA)
    digest.update(BATCH)
    expected = digest.hexdigest()
    combine = Arrow0.combine

    def slow(*args):
        gate.pass_through()
        return combine(*args)

    with ThreadPoolExecutor(1) as other:
        monkeypatch.setattr(Arrow0, "combine", slow)
        first = other.submit(digest.hexdigest)
        assert gate.entered.wait(500)
        monkeypatch.setattr(Arrow0, "combine", combine)
        with pytest.raises(ad.DigestStateError) as caught:
            digest.update(BATCH)
        assert caught.value.rule == "concurrent"
        assert digest.hexdigest() == digest.copy().hexdigest() == expected
        gate.leave.set()
        assert first.result() == expected
    digest.update(BATCH)
    assert digest.hexdigest() == of_two_batches("records")


def test_a_copy_is_free_while_its_original_is_at_work():
    gate = Gate()
    digest = ad.RecordDigest(SCHEMA)
    other_digest = digest.copy()
    with ThreadPoolExecutor(1) as other:
        update = other.submit(digest.update, records(gate))
        assert gate.entered.wait(500)
        other_digest.update(BATCH)
        other_digest.update(BATCH)
        gate.leave.set()
        update.result()
    assert digest.hexdigest() == other_digest.hexdigest() == of_two_batches("records")


def test_a_refused_update_leaves_a_digest_free_for_the_next():
    digest = ad.RecordDigest(SCHEMA)
    for _ in range(2):
        with pytest.raises(ad.SchemaMismatchError):
            digest.update(pa.table({"z": [1]}))
        with pytest.raises(TypeError):
            digest.update(7)
        digest.update(BATCH)
    assert digest.hexdigest() == of_two_batches("records")


RACE = """
import threading
sys.setswitchinterval(1e-6)
def run(make, parts):
    digest, outcomes = make(), []
    def work(part):
        for _ in range(30):
            for _ in range(100):
                try:
                    digest.update(part)
                    outcomes.append(1)
                    break
                except arrow_digest.DigestStateError as error:
                    assert error.rule == "concurrent", error
            for use in (digest.hexdigest, digest.copy):
                try:
                    use()
                except arrow_digest.DigestStateError as error:
                    assert error.rule == "concurrent", error
    threads = [threading.Thread(target=work, args=(part,)) for part in parts]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    again = make()
    for _ in outcomes:
        again.update(parts[0])
    return len(outcomes) > 0 and digest.hexdigest() == again.hexdigest()
numbers = numpy.zeros(20_000, numpy.int8)
# All parts hold the same rows, so that the hash says how many were fed, and whether one was fed in halves.
batch = pyarrow.record_batch({f"c{i}": numbers for i in range(3)})
result = [
    run(lambda: arrow_digest.RecordDigest(batch.schema, threads=argument), [batch] * 8),
    run(lambda: arrow_digest.RecordDigest(batch.schema, function="blake3", threads=argument), [batch] * 8),
    run(lambda: arrow_digest.ArrayDigest(pyarrow.int8()), [pyarrow.array(numbers)] * 8),
]
"""


@pytest.mark.parametrize("kernels", ["native", "portable"])
@pytest.mark.parametrize("threads", [1, 3])
def test_whatever_many_threads_do_with_one_digest_it_holds_what_was_not_refused(kernels, threads):
    if kernels != ad.kernels().name and kernels == "native":
        pytest.skip("the native kernels are not active")
    assert child.run(RACE, threads, environment={"ARROW_DIGEST_KERNELS": kernels}) == [True, True, True]


INTERRUPTED = """
import signal, random, threading
random.seed(argument)
batch = pyarrow.record_batch({"a": numpy.arange(20_000), "s": ["x"] * 20_000})
expected = []
digest = arrow_digest.RecordDigest(batch.schema, threads=1)
for _ in range(4):
    expected.append(digest.hexdigest())
    digest.update(batch)
result = set()
for _ in range(150):
    digest = arrow_digest.RecordDigest(batch.schema, threads=random.choice([1, 2]))
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 2e-3))
        for _ in range(3):
            digest.update(batch)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        result.add("whole" if digest.hexdigest() in expected else "wrong")
    except arrow_digest.DigestStateError as error:
        result.add(error.rule)
result = sorted(result)
"""


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="no interval timer here")
def test_an_interrupted_digest_is_whole_or_says_that_it_is_not():
    setup = "import signal\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\n"
    assert set(child.run(setup + INTERRUPTED, 1)) <= {"whole", "half_way"}


FORKED = """
import os, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking while other threads run: that is what is tried here
batch = pyarrow.record_batch({"a": numpy.arange(5000)})
def in_child(work):
    end, start = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(start, json.dumps(outcome(work)).encode())
        finally:
            os._exit(0)
    os.close(start)
    os.waitpid(process, 0)
    return json.loads(os.read(end, 10_000))
def forked(batches_before):
    digest = arrow_digest.RecordDigest(batch.schema, threads=1)
    entered, leave = threading.Event(), threading.Event()
    def batches():
        for _ in range(batches_before):
            yield batch
        entered.set()
        leave.wait(500)
        yield batch
    reader = pyarrow.RecordBatchReader.from_batches(batch.schema, batches())
    thread = threading.Thread(target=digest.update, args=(reader,))
    thread.start()
    entered.wait(500)
    def fed():
        digest.update(batch)
        return digest.hexdigest()
    found = in_child(fed)
    leave.set()
    thread.join()
    return found, digest.hexdigest()
one = arrow_digest.RecordDigest(batch.schema); one.update(batch)
two = one.copy(); two.update(batch)
(nothing, after_one), (part, after_two) = forked(0), forked(1)
parents = [after_one == one.hexdigest(), after_two == two.hexdigest()]
result = {"nothing": nothing == {"hash": one.hexdigest()}, "part": part.get("rule"), "parents": parents}
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_a_fork_during_an_update_gives_a_digest_of_before_or_one_that_says_it_holds_a_part():
    assert child.run(FORKED) == {"nothing": True, "part": "half_way", "parents": [True, True]}


def test_every_function_gives_the_same_from_eight_threads_at_once():
    table = pa.table({"a": np.arange(300), "l": [[i] * (i % 3) for i in range(300)], "s": [f"{i}" for i in range(300)]})
    expected = ad.logical_hash(table), str(ad.explain(table)), ad.diff(table, table).equal

    def work(_):
        return ad.logical_hash(table), str(ad.explain(table)), ad.diff(table, table).equal

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(64))) == {expected}
