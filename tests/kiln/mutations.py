"""Structure-aware mutations of Kiln's bytes and the properties every one of them keeps.

The short run in test_mutations.py and the long one in tests/fuzz/fuzz_kiln.py share this module. A property returns
the rule a refusal names, or "accepted"; anything but a `KilnError` from foreign bytes is a violation.
"""

import random
from types import SimpleNamespace

import numpy as np

import kiln_arrow
from kiln_arrow import KilnDtypeError, KilnEOFError, KilnError, KilnSchemaError, Opaque

HEADER = {"magic": (0, 4), "version": (4, 2), "flags": (6, 2), "count": (8, 8), "names": (16, 8), "payload": (24, 8)}
DESCRIPTOR = {
    "byte_offset": (0, 8),
    "byte_length": (8, 8),
    "name_length": (16, 4),
    "layout_length": (20, 4),
    "dtype": (24, 2),
    "rank": (26, 1),
    "reserved": (27, 1),
    "dim_0": (64, 8),
    "dim_1": (72, 8),
    "dim_7": (120, 8),
}
NUMBERS = [0, 1, 2, 3, 8, 9, 17, 18, 63, 64, 65, 128, 255, 256, 2**16 - 1, 2**31, 2**32 - 1, 2**32, 2**57, 2**57 - 1]
NUMBERS += [2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 1]

SEED_DIRECTORIES = [
    kiln_arrow.encode(tensors)
    for tensors in (
        {},
        [(None, np.uint8([1]))],
        {"a": np.arange(3, dtype="i8"), "b": np.float32(1.5), "c": np.array([True, False, True])},
        [("x", np.zeros((0, 2), "f4")), (None, np.ones(70, bool)), ("y", np.zeros((2, 3), "c16"))],
        [("ab", np.uint16([1])), ("cd", np.uint16([2])), ("ef", Opaque("float64", (9, 9), "coo", b"12345"))],
        [("n" * 64, np.bool_(True)), ("m" * 64, np.bool_(False))],
        [(None, Opaque("bool", (2**63,), "l", b"\x02")), (None, np.bool_(True)), (None, np.int8(-1))],
    )
]

TYPE_TEXTS = [
    "struct{id:i64,batch:tensors,}",
    "struct{a:bool,b:option{u16,},c:list{str,},}",
    "dict{option{bytes,},}",
    "list{struct{x:f32,y:f64,},}",
    "dict{bool,}",
    "str",
    "list{bool,}",
    "option{tensors,}",
    "list{dict{i8,},}",
]
VALUES = [
    {"id": 7, "batch": {"a": np.arange(2)}},
    {"a": True, "b": 5, "c": ["x", "", "äöü"]},
    {"k": None, "l": b"\0\1", "m": None},
    [{"x": 1.5, "y": -0.0}],
    {"a": True, "b": False, "c": True},
    "text",
    [True, False, True],
    {"t": np.bool_(True)},
    [{"a": 1, "b": 2}, {}],
]
TOKENS = [
    "struct{",
    "struct{}",
    "list{",
    "dict{",
    "option{",
    "}",
    ",",
    ":",
    "a",
    "b",
    "i8",
    "str",
    "tensors",
    " ",
    "ä",
    "x1",
]


def mutated(data, rng):
    """Foreign bytes made of `data`, whose first byte is the kind, as `check` reads it."""
    kind = data[0] % len(PROPERTIES) if data else rng.randrange(len(PROPERTIES))
    return bytes([kind]) + _MUTATORS[kind](data[1:], rng)


def check(data):
    """Holds `data` to the properties of its kind; returns the kind and the rule, or "accepted"."""
    kind = data[0] % len(PROPERTIES) if data else 0
    return PROPERTIES[kind](data[1:])


def seeds():
    """Valid inputs of every kind."""
    yield from (b"\0" + data for data in SEED_DIRECTORIES)
    yield from (b"\1" + text.encode() for text in TYPE_TEXTS)
    for index, (text, value) in enumerate(zip(TYPE_TEXTS, VALUES, strict=True)):
        yield bytes([2, index]) + kiln_arrow.freeze(text, value)
        yield bytes([3, index]) + kiln_arrow.frame(text, value)
    yield from (bytes([4, seed]) for seed in range(8))


# --- Mutations --------------------------------------------------------------------------------------------------------


def _number(rng, size, old):
    value = rng.choice([*NUMBERS, old + 1, old - 1, old + 64, old - 64, rng.getrandbits(64)])
    return (value % (1 << 8 * size)).to_bytes(size, "little")


def _patched(data, at, new):
    out = bytearray(data)
    out[at : at + len(new)] = new
    return bytes(out[: max(len(data), 0)])


def _field(data, rng, base, fields):
    at, size = rng.choice(list(fields.values()))
    at += base
    if at + size > len(data):
        return data
    return _patched(data, at, _number(rng, size, int.from_bytes(data[at : at + size], "little")))


def _zeros(data, rng, start, stop):
    """Sets one of the zero bytes between two places."""
    places = [at for at in range(start, min(stop, len(data))) if data[at] == 0]
    return _patched(data, rng.choice(places), bytes([rng.randrange(1, 256)])) if places else data


def mutate_directory(data, rng):
    if len(data) < 64 or rng.random() < 0.2:
        data = rng.choice(SEED_DIRECTORIES)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        count = min(int.from_bytes(data[8:16], "little"), max(len(data) - 64, 0) // 128)
        heap = 64 + 128 * count
        payloads = heap + min(int.from_bytes(data[16:24], "little"), len(data))
        descriptor = 64 + 128 * rng.randrange(count) if count else 0
        choice = rng.randrange(16)
        if choice == 0:
            data = _field(data, rng, 0, HEADER)
        elif choice == 1:
            data = _zeros(data, rng, 32, 64)
        elif choice in (2, 3, 4) and count:
            data = _field(data, rng, descriptor, DESCRIPTOR)
        elif choice == 5 and count:
            data = _zeros(data, rng, descriptor + 27, descriptor + 64)
        elif choice == 6 and min(payloads, len(data)) > heap:  # one byte of the heap
            data = _patched(data, rng.randrange(heap, min(payloads, len(data))), bytes([rng.choice([0, 97, 128, 255])]))
        elif choice == 7 and count > 1:
            data = _name_again(data, rng, heap, count)
        elif choice in (8, 9):
            data = _zeros(data, rng, heap, len(data))
        elif choice == 10:
            data = data[: rng.randrange(len(data) + 1)]
        elif choice == 11:
            data += bytes(rng.choice([1, 63, 64]))
        elif choice in (12, 14, 15) and len(data) > -payloads % 64 + payloads:  # a payload's first bytes, or a gap's
            line = rng.randrange(-(-payloads // 64), len(data) // 64 + 1)
            at = min(64 * line + rng.choice([0, 0, 1, 2, 63]), len(data) - 1)
            data = _patched(data, at, bytes([rng.randrange(256)]))
        elif choice == 13 and count > 1:  # two descriptors change places
            other = 64 + 128 * rng.randrange(count)
            one, two = data[descriptor : descriptor + 128], data[other : other + 128]
            data = _patched(_patched(data, descriptor, two), other, one)
    return data


def _name_again(data, rng, heap, count):
    lengths = [int.from_bytes(data[64 + 128 * i + 16 : 64 + 128 * i + 20], "little") for i in range(count)]
    one, two = rng.sample(range(count), 2)
    if lengths[one] != lengths[two]:
        return data
    source, target = heap + sum(lengths[:one]), heap + sum(lengths[:two])
    name = data[source : source + lengths[one]]
    return _patched(data, target, name) if target + len(name) <= len(data) else data


def _text_tokens(text):
    out = []
    for char in text:
        if out and (char == "{" or (out[-1][-1].isalnum() and char.isalnum())):
            out[-1] += char
        else:
            out.append(char)
    return out


def mutate_type_text(data, rng):
    tokens = _text_tokens(data.decode("utf-8", "replace"))
    if not tokens or len(tokens) > 600 or rng.random() < 0.2:
        tokens = _text_tokens(rng.choice(TYPE_TEXTS))
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(tokens) + 1)
        choice = rng.randrange(6)
        if choice == 0:
            tokens[at:at] = [rng.choice(TOKENS)]
        elif choice == 1:
            del tokens[at : at + 1]
        elif choice == 2:
            tokens[at : at + 1] = [rng.choice(TOKENS)]
        elif choice == 3:
            again = tokens[at : at + rng.randrange(1, 6)]
            tokens[at:at] = again
        elif choice == 4:
            words = [rng.choice(["list{", "dict{", "option{"])] * rng.choice([1, 2, 63, 64, 65])
            tokens = words + tokens + [",", "}"] * len(words)
        else:  # a field once more
            fields = [i for i, token in enumerate(tokens) if token == ":" and i]
            if fields:
                field = rng.choice(fields)
                tokens[field - 1 : field - 1] = [tokens[field - 1], ":", "i8", ","]
    return "".join(tokens).encode()


def _mutate_value(start):
    def mutate(data, rng):
        if not data or rng.random() < 0.2:
            index = rng.randrange(len(VALUES))
            function = kiln_arrow.frame if start else kiln_arrow.freeze
            data = bytes([index]) + function(TYPE_TEXTS[index], VALUES[index])
        index, value = data[:1], data[1:]
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(len(value) + 1)
            choice = rng.randrange(7)
            if choice == 0:
                value = value[:at]
            elif choice == 1:
                value += bytes(rng.choice([1, 8]))
            elif choice == 2 and at < len(value):
                value = _patched(value, at, bytes([rng.choice([0, 1, 2, 97, 99, 128, 255, value[at] ^ 1])]))
            elif choice == 3 and at + 8 <= len(value):
                value = _patched(value, at, _number(rng, 8, int.from_bytes(value[at : at + 8], "little")))
            elif choice == 4 and start and len(value) >= 16:
                value = _patched(value, rng.randrange(16), bytes([rng.randrange(256)]))
            elif choice == 5:
                value = value[:start] + mutate_directory(value[start:], rng) if rng.random() < 0.3 else value
            else:
                index = bytes([rng.randrange(256)]) if rng.random() < 0.2 else index
        return index + value

    return mutate


def mutate_program(data, rng):
    return rng.randbytes(8)


_MUTATORS = [mutate_directory, mutate_type_text, _mutate_value(0), _mutate_value(16), mutate_program]


# --- Properties -------------------------------------------------------------------------------------------------------


def _refusal(error, length):
    """The facts of a refusal, themselves held to what every error promises."""
    assert error.rule in kiln_arrow.RULES
    assert (
        (error.code == "EOF") == (error.rule == "eof") == isinstance(error, EOFError) == isinstance(error, KilnEOFError)
    )
    assert (error.code == "SCHEMA") == (error.rule == "schema_hash") == isinstance(error, KilnSchemaError)
    assert (error.rule == "dtype") == isinstance(error, KilnDtypeError) == isinstance(error, TypeError)
    assert str(error)
    if length is not None:
        assert 0 <= error.offset <= length
        assert error.code != "EOF" or error.offset == length
    return error.code, error.rule, error.offset, error.tensor, error.name, error.path


def _outcome(function, *arguments, length):
    try:
        return function(*arguments)
    except KilnError as error:
        return _refusal(error, length)


def check_directory(data):
    """A directory is refused, the same way by every road, or the one encoding of what it decodes to."""
    outcome = _outcome(kiln_arrow.decode, data, length=len(data))
    refused = isinstance(outcome, tuple)
    assert _outcome(kiln_arrow.validate, memoryview(data), length=len(data)) == (outcome if refused else None)
    if refused:
        return outcome[1]
    assert kiln_arrow.encode(outcome) == data
    assert kiln_arrow.encode(kiln_arrow.decode(bytearray(data), copy=True).tensors) == data
    for _, tensor in outcome.tensors:
        assert isinstance(tensor, Opaque) or not tensor.flags.writeable
    cut = _outcome(kiln_arrow.decode, data[:-1], length=len(data) - 1)
    assert cut[0] == "EOF"
    return "accepted"


def check_type_text(data):
    """A type text is refused or canonical."""
    text = data.decode("utf-8", "replace")
    outcome = _outcome(kiln_arrow.parse_type, text, length=len(text))
    if isinstance(outcome, tuple):
        assert outcome[0] == "TYPE"
        return outcome[1]
    assert kiln_arrow.format_type(outcome) == text
    assert 0 <= kiln_arrow.schema_hash(text) < 2**64
    return "accepted"


def _check_value(read, write):
    def check_value(data):
        text = TYPE_TEXTS[data[0] % len(TYPE_TEXTS)] if data else "str"
        value = data[1:]
        outcome = _Value(_outcome(read, text, value, length=len(value)))
        if outcome.refused:
            return outcome.value[1]
        assert write(text, outcome.value) == value
        assert _outcome(read, text, value[:-1], length=len(value) - 1)[0] == "EOF"
        return "accepted"

    return check_value


class _Value:
    def __init__(self, value):
        self.value = value
        self.refused = isinstance(value, tuple)  # no value thaws to a tuple


class _Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array here")


class FakeTorchTensor:
    """Stands for a torch tensor on a device, where torch is not installed."""

    device = SimpleNamespace(type="cuda")


def _tensor(rng):
    match rng.randrange(16):
        case 0:
            return np.ma.masked_array([1, 2])
        case 1:
            return np.array([None])
        case 2:
            return np.zeros((1,) * rng.choice([8, 9]))
        case 3:
            return np.uint8([0, 1, rng.randrange(4)]).view(bool)
        case 4:
            return Opaque("i4", (rng.choice([-1, 2, 2**64]),), rng.choice(["", "l", "\ud800", 5]), b"xyz")
        case 5:
            return _Broken()
        case 6:
            return FakeTorchTensor()
        case 7:
            return [1, 2]
        case 8:
            return np.arange(6, dtype=rng.choice(["<i4", ">f8", ">c8"])).reshape(2, 3).T
        case 9:
            return np.zeros(rng.choice([0, 3]), rng.choice(["M8[s]", "U3", "g", "f4"]))
        case 10:
            return np.broadcast_to(np.uint8(1), (rng.choice([0, 4]), 3))
        case _:
            return np.ones(rng.randrange(4), row.numpy) if (row := rng.choice(kiln_arrow.DTYPES)) else None


def _tensors(rng):
    names = [None, "", "a", "b", "c", "d", "e", "f", 5, "\ud800"]
    pairs = [(rng.choice(names), _tensor(rng)) for _ in range(rng.randrange(4))]
    match rng.randrange(8):
        case 0:
            return dict(pairs)
        case 1:
            return rng.choice([5, "ab", [(1, 2, 3)], [None], ["ab"]])
        case _:
            return pairs


def _value(rng, depth):
    scalars = [None, True, 1, -1, 300, 2**64, 1.5, 1e300, "x", "\ud800", b"y", np.int16(4), np.float32(2), {"x"}]
    match rng.randrange(6 if depth else 3):
        case 3:
            return [_value(rng, depth - 1) for _ in range(rng.randrange(3))]
        case 4:
            return {rng.choice(["a", "b", "x", 7]): _value(rng, depth - 1) for _ in range(rng.randrange(3))}
        case 5:
            return _tensors(rng)
        case _:
            return rng.choice(scalars)


def check_program(data):
    """An encoder refuses what it is given and writes nothing, or writes what decodes."""
    rng = random.Random(data)
    if rng.random() < 0.3:
        text = rng.choice(["i8", "f32", "struct{a:u8,b:option{str,},}", "list{i64,}", "dict{f64,}", "tensors", "bytes"])
        frozen = _outcome(kiln_arrow.freeze, text, _value(rng, 2), length=None)
        if isinstance(frozen, tuple):
            return frozen[1]
        assert kiln_arrow.freeze(text, kiln_arrow.thaw(text, frozen)) == frozen
        return "accepted"
    tensors = _tensors(rng)
    encoded = _outcome(kiln_arrow.encode, tensors, length=None)
    target = rng.choice([bytes(4096), bytearray(64), bytearray(b"\xaa" * 4096)])
    before = bytes(target)
    written = _outcome(kiln_arrow.encode_into, tensors, target, length=None)
    if isinstance(written, tuple):
        assert bytes(target) == before
        assert written[1] == "buffer" or written == encoded
        return written[1]
    assert target[:written] == encoded
    assert bytes(target[written:]) == before[written:]
    kiln_arrow.validate(encoded)
    return "accepted"


PROPERTIES = [
    check_directory,
    check_type_text,
    _check_value(kiln_arrow.thaw, kiln_arrow.freeze),
    _check_value(kiln_arrow.unframe, kiln_arrow.frame),
    check_program,
]
