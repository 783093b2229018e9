"""Tests that others wrote, run unchanged where their sources are; an end that differs from the list fails.

python3 -m trnsim.nki tests/nki/acceptance.py [--list] [NAME ...]; TRNSIM_NKI_SOURCES names the folder. The list beside
this file, acceptance.txt, has for each test the expected end and why: right, or a documented rule of the chip. --list
prints the ends as they are, in the list's form.
"""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import strangers  # noqa: E402

LIST = os.path.join(HERE, "acceptance.txt")


def expected():
    """(suite, test) -> (end, why)."""
    out = {}
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                suite, test, end, why = (part.strip() for part in line.split("|"))
                out[suite, test] = end, why
    return out


def main(arguments):
    folder = os.environ.get("TRNSIM_NKI_SOURCES", "")
    if not os.path.isdir(os.path.join(folder, "docs", "tests_2.26")):
        print("skipped: TRNSIM_NKI_SOURCES names no folder with the public tests")
        sys.exit(0)  # its own word: a script that calls no kernel is an error otherwise
    listing, only = "--list" in arguments, [a for a in arguments if not a.startswith("--")]
    known, failed, count = expected(), [], 0
    for suite, test, run in strangers.tests(folder):
        name = f"{suite} {test}"
        if only and not any(o in name for o in only):
            continue
        begin = time.perf_counter()
        end, word = run()
        count += 1
        want = known.get((suite, test), ("not in the list", ""))[0]
        if listing:
            print(f"{suite} | {test} | {end} | {word}", flush=True)
        elif end != want:
            failed.append(f"{name}: {end}, not {want}: {word}")
            print(failed[-1], flush=True)
        elif only:
            print(f"{name}: {end} {word} ({time.perf_counter() - begin:.1f} s)", flush=True)
    print(f"{count} tests of others")
    if failed:
        sys.exit("\n".join(failed))


main(sys.argv[1:])
