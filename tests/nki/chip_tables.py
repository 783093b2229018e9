"""Matmuls that the chip timed in many settings (Trn2): ranks of the tiles per shape, bytes that the chip counted, times,
and which settings its compiler refused.

python3 -m trnsim.nki tests/nki/chip_tables.py [tiled] [blocked] [legality] [PART OF AN ID]; TRNSIM_NKI_TABLES names the
folder with matmul_tiled_trn2.csv, matmul_blocked_trn2.csv and legality_trn2.csv. Ends with 1 when a bound is missed.
"""
import csv
import os
import re
import runpy
import sys

import numpy as np

import trnsim
from trnsim.nki import _jit
from trnsim.nki import language as nl

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "..", "validation", "kernels")
NAMES = ("TILES_IN_BLOCK_M", "TILES_IN_BLOCK_N", "TILES_IN_BLOCK_K")
_jit.settings.machine = "trn2.3xlarge"


def table(name):
    with open(os.path.join(os.environ["TRNSIM_NKI_TABLES"], name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sizes(text):
    """{"K": 512, ...} of K512 M512 N512."""
    return {axis: int(number) for axis, number in re.findall(r"([KMN])(\d+)", text)}


def operands(size, dtype):
    return [np.zeros((size["K"], size[axis]), dtype) for axis in "MN"]


def ranks(values):
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)


def tiled(only):
    """Rank correlation per shape, and whether the best setting comes first. A setting is a kernel of a row."""
    kernels = runpy.run_path(os.path.join(KERNELS, "tiled_matmul.py"), run_name="kernel")
    shapes = {}
    for row in table("matmul_tiled_trn2.csv"):
        if only and not any(o in row["id"] for o in only):
            continue
        name = "_".join(row["id"].split("_")[1:4])
        t = kernels[name].compile(*operands(sizes(row["shape"]), nl.bfloat16)).time()
        shapes.setdefault(row["shape"], []).append((float(row["value"]), t["benchmark"] * 1e6, name))
    errors, good, first = [], 0, 0
    for shape, rows in shapes.items():
        want, got = (np.array([r[i] for r in rows]) for i in (0, 1))
        rank = np.corrcoef(ranks(want), ranks(got))[0, 1]
        regret = want[got.argmin()] / want.min() - 1
        errors += list(np.abs(got / want - 1))
        good, first = good + (rank >= 0.9), first + (regret <= 0.03)
        print(f"{shape}: rank {rank:.3f}, best chosen {rows[got.argmin()][2]}, regret {100 * regret:.1f} %, mean error "
              f"{100 * np.abs(got / want - 1).mean():.1f} %", flush=True)
        if only:
            for r in rows:
                print(f"   {r[2]:20} {r[0]:9.1f} {r[1]:9.1f} {100 * (r[1] / r[0] - 1):+6.1f} %")
    print(f"tiled: rank 0.9 in {good} of {len(shapes)}, best first in {first}, mean error {100 * np.mean(errors):.1f} %")


def blocked(only):
    """Bytes and times of settings that fit, and of those that spill."""
    kernel = runpy.run_path(os.path.join(KERNELS, "blocked_matmul.py"), run_name="kernel")["blocked"]
    rows = []
    for row in table("matmul_blocked_trn2.csv"):
        if "compiler" in row["id"] or (only and not any(o in row["id"] for o in only)):
            continue
        setting = [int(n) for n in row["id"].split("_")[-3:]]
        size = sizes(row["shape"])
        bytes_, transfers = (int(n) for n in re.search(r"(\d+) bytes moved in (\d+)", row["notes"]).groups())
        t = kernel.compile(*operands(size, np.float32), **dict(zip(NAMES, setting))).time()
        rows.append((row["shape"], setting, float(row["value"]), t["seconds"] * 1e6, bytes_,
                     t["hbm_read_bytes"] + t["hbm_write_bytes"], transfers, t["dma_transfers"], least(size, setting)))
        shape, setting, want, got, b0, b1, x0, x1, low = rows[-1]
        print(f"{shape} {setting} {want:8.1f} {got:8.1f} {100 * (got / want - 1):+6.1f} %  bytes {b1 / b0:.3f}"
              f"{' spills' if b0 > low else ''}  transfers {x1} of {x0}", flush=True)
    for fits in (True, False):
        some = [r for r in rows if (r[4] <= r[8]) == fits]
        same = sum(r[4] == r[5] for r in some)
        print(f"blocked, {'fits' if fits else 'spills'}: bytes equal in {same} of {len(some)}, mean error "
              f"{100 * np.mean([abs(r[3] / r[2] - 1) for r in some] or [0]):.1f} %")
    for shape in dict.fromkeys(r[0] for r in rows):
        some = [r for r in rows if r[0] == shape]
        want, got = (np.array([r[i] for r in some]) for i in (2, 3))
        print(f"blocked, {shape}: rank {np.corrcoef(ranks(want), ranks(got))[0, 1]:.3f}, "
              f"regret {100 * (want[got.argmin()] / want.min() - 1):.1f} %")


def least(size, setting):
    """Bytes of the loop nest."""
    blocks = {axis: size[axis] // width // n for axis, width, n in zip("MNK", (128, 512, 128), setting)}
    return 4 * (size["K"] * size["N"] + size["K"] * size["M"] * blocks["N"] + size["M"] * size["N"])


def legality(only):
    """What the chip's compiler refused."""
    kernel = runpy.run_path(os.path.join(KERNELS, "blocked_matmul.py"), run_name="kernel")["blocked"]
    for row in table("legality_trn2.csv"):
        size = sizes(row["shape"]) or {"K": 4096, "M": 512, "N": 12288}
        setting = [int(row[n]) for n in ("block_m", "block_n", "block_k")]
        dtype = np.float32 if row["dtype"] == "fp32" else nl.bfloat16
        try:
            kernel.compile(*operands(size, dtype), **dict(zip(NAMES, setting)))
            verdict = "accepted"
        except trnsim.Error as error:
            verdict = f"refused: {error.what}"
        print(f"{row['shape']} {setting} {row['dtype']}: {row['verdict']} there, {verdict} here")


def main(arguments):
    parts = {"tiled": tiled, "blocked": blocked, "legality": legality}
    if not os.path.isfile(os.path.join(os.environ.get("TRNSIM_NKI_TABLES", ""), "matmul_tiled_trn2.csv")):
        print("skipped: TRNSIM_NKI_TABLES names no folder with the tables")
        return
    only = [a for a in arguments if a not in parts]
    for name, part in parts.items():
        if name in arguments or not set(arguments) & set(parts):
            part(only)


main(sys.argv[1:])
