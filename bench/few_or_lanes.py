#!/usr/bin/env python3
# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0
"""Draws grids of few_or_lanes.cc: few_or_lanes.py OUT.svg GRID.csv [GRID.csv ...]

A panel for each dim of each grid: the time of lanes over that of few, by rows a kv head. Between
the dotted lines the two are within 5 %; filled marks are cells where the planner takes few.
"""

import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLORS = {"f32": "#4477aa", "f16": "#aa3377", "bf16": "#228833"}
LINES = {"64": ":", "512": "--", "4096": "-"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def title(path):
    with open(path, encoding="utf-8") as file:
        return file.readline().strip("# \n").split(";")[1].strip()


def draw(axes, cells, name):
    for kind, color in COLORS.items():
        for keys, line in LINES.items():
            chosen = [c for c in cells if c["type"] == kind and c["keys"] == keys]
            rows = [int(c["rows"]) for c in chosen]
            ratios = [float(c["lanes_ms"]) / float(c["few_ms"]) for c in chosen]
            axes.plot(rows, ratios, line, color=color, linewidth=1, label=f"{keys} keys, {kind}")
            for few in (True, False):
                marks = [(r, y) for r, y, c in zip(rows, ratios, chosen)
                         if (c["chosen"] == "few") == few]
                axes.plot([m[0] for m in marks], [m[1] for m in marks], "o", color=color,
                          markersize=3, fillstyle="full" if few else "none")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.axhline(1.05, color="#888888", linewidth=0.7, linestyle=":")
    axes.axhline(1 / 1.05, color="#888888", linewidth=0.7, linestyle=":")
    axes.set_title(name, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.set_xlabel("rows a kv head", fontsize=7)


def main():
    out, paths = sys.argv[1], sys.argv[2:]
    plt.rcParams["svg.hashsalt"] = "few_or_lanes"
    figure, axes = plt.subplots(len(paths), 2, figsize=(9, 3.2 * len(paths)), squeeze=False,
                                sharey=True)
    for row, path in zip(axes, paths):
        cells = read(path)
        for panel, dim in zip(row, ("64", "128")):
            draw(panel, [c for c in cells if c["dim"] == dim], f"{title(path)}, dim {dim}")
        row[0].set_ylabel("time of lanes / time of few", fontsize=7)
    axes[0][1].legend(fontsize=6, loc="upper right", frameon=False)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
