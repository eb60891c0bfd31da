"""What each flag is about, and what goes wrong in an implementation that fails its cases."""

from __future__ import annotations

_FLAGS = {
    "Arrow0Collision": (
        "Records that arrow0 cannot tell from others.",
        "Equal hashes hide a null, or which rows it is in.",
    ),
    "BagSize": (
        "A leaf of the bag's tree holds up to 1,024 distinct rows; more are divided by the next bit of their digests.",
        "Tables with many distinct rows get another hash.",
    ),
    "BatchBorders": ("Where a record batch ends is not hashed.", "One table has as many hashes as ways to be written."),
    "BitPacking": (
        "Bools and validity are packed, the lowest bit first, over the slots that count and no others.",
        "Bits are shifted, or padding is hashed.",
    ),
    "BrokenStructure": (
        "Offsets, indices, type codes or run ends that point outside of what they point into.",
        "Memory that belongs to nobody is read, and a hash is made of it.",
    ),
    "ChunkBorder": (
        "Rows are cut into chunks of 16,384, whose digests are joined by a tree.",
        "Tables of more than one chunk get another hash, or ranges of chunks cannot be joined.",
    ),
    "ChunkValidity": (
        "A chunk has validity bits for the nodes that have a null in this chunk only.",
        "The first null of a later chunk changes the digests of earlier ones.",
    ),
    "Counts": (
        "A row that occurs several times is one entry with its count.",
        "Duplicates vanish, or the order of rows is hashed.",
    ),
    "DecimalWidth": (
        "A decimal has 16 bytes up to precision 38 and 32 above, whatever width its array has.",
        "The same numbers, stored in another width, get another hash.",
    ),
    "Depth": (
        "128 levels of types and 128 encodings around one type are hashed, more are refused.",
        "A limit that is off by one refuses records that others hash.",
    ),
    "Dictionary": (
        "A dictionary is an encoding: of a value, a null, a list, a struct, another dictionary.",
        "An encoded column gets another hash than the same values.",
    ),
    "Extension": ("An extension is its storage, at any depth.", "A registered extension changes the hash."),
    "FloatBits": ("Floats are bits: both zeros, NaNs with their payloads.", "Different values get one hash."),
    "GarbageUnderNulls": (
        "What lies under nulls, in padding, outside of lists and in unselected children does not exist.",
        "The hash depends on memory that holds no values.",
    ),
    "Interval": (
        "Three interval types, of 4, 8 and 16 bytes.",
        "Two of the types have no hash, or are taken for others.",
    ),
    "Layout": (
        "Layouts of one type hash alike: widths of offsets, views, fixed sizes, sparse and dense.",
        "The writer's choice of a layout changes the hash.",
    ),
    "Lengths": (
        "A length has 4 bytes below 2^32 - 1, else ff ff ff ff and 8 bytes.",
        "Very long lists or values get another hash, or that of others.",
    ),
    "ListSlots": (
        "The items of lists that are not null are the slots of the item type, in order.",
        "Items that no list holds are hashed, or items of null lists.",
    ),
    "MapEntry": (
        "A map is its entries in order; a null key hashes as any null, and a null entry is refused.",
        "Keys or their order are lost.",
    ),
    "NameBytes": ("Names are their UTF-8 bytes: empty, repeated, not normalised.", "Names are mistaken for others."),
    "NoRows": ("Types and names are hashed where there are no rows.", "Empty tables of different types get one hash."),
    "NotHashed": (
        "Nullability, metadata, names of items and entries, type codes, sizes of fixed-size types.",
        "What is not part of the records changes their hash.",
    ),
    "NullLevel": (
        "A null of a list, of a struct or of what is in it are three different things.",
        "Records with nulls on different levels get one hash.",
    ),
    "NullType": ("The null type has no streams.", "The number of streams is wrong, and so every digest after it."),
    "Order": (
        "Rows in another order differ to tree0 and not to bag0; columns in another order differ to both.",
        "Reordered rows or columns pass for the same, or the same for others.",
    ),
    "RunEnds": ("Run ends are an encoding, also of nulls and inside lists.", "Runs are hashed in place of the values."),
    "Schema": (
        "What is wrong with a schema is told without any rows.",
        "A type without bytes gets a hash all the same.",
    ),
    "SliceOffset": (
        "Rows that do not begin at row 0: with a `slice`, its first row and row count are those to hash.",
        "Other rows are hashed than those of the table.",
    ),
    "StructSlots": (
        "The fields of structs that are not null are the slots of their types.",
        "What lies under a null struct is hashed.",
    ),
    "TypeBytes": ("Parameters that are part of a type.", "Different types get one hash."),
    "UnionSlots": (
        "A union has no validity; a byte a slot says which child, in the order of the children and not by type code.",
        "Unselected values are hashed, or a slice of a union loses its place.",
    ),
    "ValueBlind": (
        "Values outside their type's domain are hashed as the bits that they are.",
        "Records that differ get one hash, or readable ones get none.",
    ),
}

FLAGS = {name: {"description": description, "effect": effect} for name, (description, effect) in _FLAGS.items()}
