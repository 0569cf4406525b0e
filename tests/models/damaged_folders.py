"""Folders of a saved classifier, damaged in one of many ways that are drawn by a number."""

import json
import pickle
import random
import shutil
import struct

VALUES = [None, True, -1, 0, 1, 3.5, 1e30, 10**10, "", "abc", "0", [], [1, "a"], {}, {"a": {}}, "\ud800"]


def damaged(source, target, number):
    """A copy of `source` with one fault, and what was done."""
    draw = random.Random(number)
    shutil.copytree(source, target)
    faults = [lost, cut, flipped, filled, retyped, retyped, retyped, dropped, dropped, weights, foreign]
    return draw.choice(faults)(target, draw)


def _file(folder, draw, *, ending=""):
    return draw.choice(sorted(file for file in folder.iterdir() if file.name.endswith(ending)))


def lost(folder, draw):
    file = _file(folder, draw)
    file.unlink()
    return f"{file.name} is lost"


def cut(folder, draw):
    file = _file(folder, draw)
    whole = file.read_bytes()
    file.write_bytes(whole[: draw.randrange(len(whole))])
    return f"{file.name} is cut"


def flipped(folder, draw):
    file = _file(folder, draw)
    whole = bytearray(file.read_bytes())
    for _ in range(draw.choice([1, 5, 50])):
        whole[draw.randrange(min(len(whole), 4000))] = draw.randrange(256)
    file.write_bytes(bytes(whole))
    return f"bytes of {file.name} are flipped"


def filled(folder, draw):
    file = _file(folder, draw)
    file.write_bytes(draw.choice([b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b"hello " * 100]))
    return f"{file.name} is something else"


def retyped(folder, draw):
    file, content, table, key = _entry(folder, draw)
    value = draw.choice(VALUES)
    table[key] = value
    file.write_text(json.dumps(content))
    return f"{file.name}: {key} = {value!r}"


def dropped(folder, draw):
    file, content, table, key = _entry(folder, draw)
    del table[key]
    file.write_text(json.dumps(content))
    return f"{file.name}: no {key}"


def _entry(folder, draw):
    """A file of settings, and one entry of one of its tables, at any depth."""
    file = _file(folder, draw, ending=".json")
    content = json.loads(file.read_text())
    tables, waiting = [], [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and one:
            tables.append(one)
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    table = draw.choice(tables)
    return file, content, table, draw.choice(sorted(table))


def weights(folder, draw):
    """Another header over the same bytes: names, shapes and types that are not the network's."""
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    name = draw.choice(sorted(set(header) - {"__metadata__"}))
    change = draw.choice(["name", "lost", "shape", "type"])
    if change == "name":
        header[f"{name}.old"] = header.pop(name)
    elif change == "lost":
        del header[name]
    elif change == "shape":
        header[name]["shape"] = [*header[name]["shape"], 1][::-1]
    else:
        header[name]["dtype"] = draw.choice(["I32", "F8_E4M3", "BF16", "no", 7])
    told = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(told)) + told + whole[8 + length :])
    return f"weights: {change} of {name}"


def foreign(folder, draw):
    kind = draw.choice(["pickle", "code", "quantised", "noise"])
    config = json.loads((folder / "config.json").read_text())
    if kind == "pickle":
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": [1.0]}))
    elif kind == "code":
        config |= {"model_type": "mine", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
        (folder / "code.py").write_text("raise SystemExit('this was run')\n")
    elif kind == "quantised":
        config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    else:
        (folder / "model.safetensors").write_bytes(draw.randbytes(5000))
    (folder / "config.json").write_text(json.dumps(config))
    return f"foreign: {kind}"
