"""What each flag says about the implementation that fails its cases."""

from __future__ import annotations

NOTES = {
    "AndedValidity": (
        "A null struct makes its leaves null in that row, whatever they hold. Hashing the child's own validity, or "
        "ORing the two, gives another digest."
    ),
    "BatchBorders": "The digest does not see where a record batch ends.",
    "BrokenStructure": (
        "Offsets, indices, run ends or lengths that point outside their buffers. Reading on would hash bytes "
        "that belong to nobody."
    ),
    "Collision": (
        "Different records that arrow0 cannot tell apart, since a null adds a byte that other values begin with, and "
        "nothing marks a row. The equality is part of the specification."
    ),
    "DictionaryEncoding": (
        "A dictionary column hashes as the values it stands for; a null index and a null entry are the same null."
    ),
    "ExtensionType": "An extension type hashes as its storage.",
    "FloatBits": "Floats are hashed as their bits: both zeros, every NaN.",
    "GarbageUnderNulls": (
        "Bytes under nulls, padding bits of bitmaps, and items no list refers to are set to 0xEE or ones. A "
        "digest that depends on them read what is not there."
    ),
    "IntegerWidth": "An integer's sign and width are part of the type encoding; its bytes are little-endian.",
    "IpcStream": "A stream closes with its end-of-stream marker, and nothing follows it.",
    "ListLayout": (
        "Every list layout hashes as a length and its items; list sizes and item names are not part of the type."
    ),
    "NameBytes": "Column names are hashed as they are: length, UTF-8 bytes, nesting level.",
    "NoRows": "The schema and the leaves' types are hashed even if there is not one row.",
    "NotHashed": "Nullability flags, metadata and item names are not part of the hash.",
    "Order": "Row order and column order count.",
    "Published": "One of the 54 published known answers of arrow0-sha3-256.",
    "ReferenceDeparts": (
        "The compiled reference gives another digest (`reference_digest` where one was published with the "
        "known answers); the specification is followed here."
    ),
    "ReferenceRefuses": "The compiled reference cannot read this type; the specification covers it.",
    "ReservedType": (
        "A type with a reserved id has no arrow0 encoding. It is refused before anything is hashed, also "
        "where there are no rows."
    ),
    "RunEndEncoding": "A run-end encoded column hashes as the values it stands for.",
    "SliceOffset": (
        "Rows that do not begin at row 0 of their buffers. Where a case has a `slice` (first row, row count), "
        "cut these rows from the stream's table without copying, then hash."
    ),
    "StructNesting": "A struct is no leaf: its name and level are hashed, its children are the leaves.",
    "TimeUnit": "Unit and time zone text are part of the type; the value is the integer.",
    "TypeParameters": "Parameters that enter the type encoding: widths, precision, scale.",
    "ValueBlind": (
        "Values outside their type's domain (text that is not UTF-8, a date64 inside a day) are hashed as the "
        "bits they are."
    ),
    "VariableBinary": "Every binary layout hashes alike, and so does every text layout, as a length and the bytes.",
    "ZeroWidth": "Values without bytes: only their lengths, or not even these, are hashed.",
}
