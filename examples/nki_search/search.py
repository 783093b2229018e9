"""A search over kernels in thirty lines: propose, rank, keep the best, propose its neighbours.

python3 search.py [ROUNDS]. An agent can replace `neighbours` and write new scripts. trnsim.nki.rank accepts scripts,
folders and kernels; for each it gives the time, what binds it, whether it is right, or why it is refused."""
import pathlib
import sys

import trnsim.nki

KERNEL = str(pathlib.Path(__file__).parent / "matmul_tuned.py")


def neighbours(setting):
    for name in setting:
        for value in (setting[name] * 2, setting[name] // 2):
            if 1 <= value <= 8:
                yield dict(setting, **{name: value})


def search(rounds):
    best, seen, front = None, {}, [{"TILES_IN_BLOCK_M": 1, "TILES_IN_BLOCK_N": 1}]
    for turn in range(rounds):
        for setting in front:
            values = {name: [value] for name, value in setting.items()}
            seen[tuple(setting.values())] = trnsim.nki.tune(KERNEL, values, numbers=False)[0]
        good = [row for row in seen.values() if not row.get("error")]
        best = min(good, key=lambda row: row["seconds"])
        print(f"{turn}: {best['seconds'] * 1e6:.2f} us, waits for {best['bound']}, {best['parameters']}")
        front = [s for s in neighbours(best["parameters"]) if tuple(s.values()) not in seen]
        if not front:
            break
    return best


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
