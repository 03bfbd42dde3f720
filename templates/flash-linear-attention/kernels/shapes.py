"""The shapes to build for: reads one profile out of the file of profiles (deb822)."""
from types import SimpleNamespace

FIELDS = ("Profile", "Models", "Source", "Heads", "Head-Size", "Calls", "Batch",
          "Training-Batches")
LAYOUTS = ("grouped", "repeated")
TYPES = ("bf16", "fp16", "fp32")
CALLS = ("prefill", "fresh", "decode", "varlen", "backward", "norm")


def read_stanzas(path):
    """deb822 with comments, as one dictionary for each stanza."""
    stanzas, stanza, last = [], {}, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate([*file, "\n"], 1):
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if not line.strip():
                if stanza:
                    stanzas.append(stanza)
                stanza, last = {}, None
            elif line[0] in " \t" and last:
                stanza[last] += "\n" + line.strip()
            else:
                last, colon, value = line.partition(":")
                if not colon or last in stanza:
                    raise ValueError(f"'{path}' line {number}: no field, or one given twice")
                stanza[last] = value.strip()
    return stanzas


def pair(stanza, field):
    first, slash, second = stanza[field].partition("/")
    if not slash or not first.isdigit() or not second.isdigit():
        raise ValueError(f"profile '{stanza['Profile']}': {field}: '{stanza[field]}' is not N/N")
    return int(first), int(second)


def number(stanza, field, word):
    if not word.isdigit() or not 1 <= int(word) <= 1024:
        raise ValueError(f"profile '{stanza['Profile']}': {field}: '{word}' is no batch")
    return int(word)


def calls(stanza, heads):
    """A line of Calls -> heads as FLA sees them, the type, the set of calls."""
    for line in stanza["Calls"].splitlines():
        layout, kind, *names = line.split() + ["", ""]
        names = [name for name in names if name]
        if layout not in LAYOUTS or kind not in TYPES or not names or set(names) - set(CALLS):
            raise ValueError(f"profile '{stanza['Profile']}': Calls: '{line}' is not LAYOUT TYPE "
                             f"CALL..., of {' '.join(LAYOUTS + TYPES + CALLS)}")
        seen = heads if layout == "grouped" else (heads[1], heads[1])
        yield SimpleNamespace(heads=seen, kind=kind, calls=set(names))


def load(path, name):
    """The profile of this name; ValueError says what is wrong."""
    found = [stanza for stanza in read_stanzas(path) if stanza.get("Profile") == name]
    if len(found) != 1:
        raise ValueError(f"'{path}' has {len(found)} profiles '{name}'")
    stanza = found[0]
    strange = sorted(set(stanza) ^ set(FIELDS))
    if strange:
        raise ValueError(f"profile '{name}': field '{strange[0]}' is unknown or missing")
    heads = pair(stanza, "Heads")
    batches = {field: [number(stanza, field, word) for word in stanza[field].split()]
               for field in ("Batch", "Training-Batches")}
    return SimpleNamespace(name=name, sizes=pair(stanza, "Head-Size"), batch=max(batches["Batch"]),
                           training=batches["Training-Batches"], lines=list(calls(stanza, heads)))
