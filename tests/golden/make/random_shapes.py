#!/usr/bin/env python3
"""Trainings that nobody chose: random_shapes.py TRNSIM COUNT [SEED [FIRST]]. `./dev golden --random` calls it.

draws.py draws them; PyTorch trains each in fp64, `trnsim verify` repeats it in the format that was drawn. One that
disagrees beyond the bounds of fp32 is trained by PyTorch in fp32 too, 24 times, from weights that differ by a rounding:
when one of these is as far from fp64, it is the rounding of any fp32, and counted apart. Others are shrunk to the
smallest that still disagrees, kept, and their command printed. Exits with 1 if any is. FIRST: the number of the first
draw, to go on with a seed."""
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import common
import draw_plans
import draws

FORMAT, TRAININGS = "--numerics", 24


def command_of(trnsim, folder, flags):
    words = []
    for flag, value in flags.items():
        words.append(flag if value == "true" else f"{flag}={value}")
    return [trnsim, "verify", str(folder), "--format", "json", *words]


def checks_of(text):
    try:
        return {line["what"].removesuffix(" of step 0"): line for line in json.loads(text)["checks"]}
    except (ValueError, KeyError):
        return {}


def excused(case, folder, checks):
    """Whether PyTorch's own rounding, in bf16 for a format of fewer bits, is as far wherever a bound is passed: the
    farthest of so many trainings. One more of the same kind is farther than all of them once in 25 times."""
    draws.write(case, folder, TRAININGS)
    own = json.loads((folder / "rounding.json").read_text())
    return all(line["passes"] or line["error"] <= own[what] for what, line in checks.items())


def outcome(trnsim, case, folder, written=False):
    """"agrees", "rounding", "refused: why" or "DISAGREES: why"; the errors; the command."""
    if not written:
        shutil.rmtree(folder, ignore_errors=True)
        draws.write(case, folder)
    command = command_of(trnsim, folder, case["flags"])
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    checks = checks_of(ran.stdout)
    errors = ", ".join(f"{what} {line['error']:.1e}" for what, line in checks.items())
    why = next((line for line in ran.stderr.splitlines() if not line.startswith("warning")), "")
    if ran.returncode == 0 and checks:
        return "agrees", errors, command
    if ran.returncode == 3 and "--set" in case["flags"]:  # too small a memory
        return f"refused: usage error: --set: {why}", errors, command
    if ran.returncode == 2 and why.startswith("usage error"):
        return f"refused: {why}", errors, command
    if ran.returncode == 1 and checks and excused(case, folder, checks):
        return "rounding", errors, command
    return f"DISAGREES: {why}", errors, command


def on_one_core(case):
    out = copy.deepcopy(case)
    out["flags"] = {flag: value for flag, value in case["flags"].items() if flag == FORMAT}
    return out


def smaller(case):
    """Cases that are simpler in one thing."""
    for flag in case["flags"]:
        if flag not in ("--nproc_per_node", "--instance_type"):
            yield {**copy.deepcopy(case), "flags": draw_plans.without(case["flags"], flag)}
    yield on_one_core(case)
    for key, value in common.PLAIN.items():
        if key not in ("fp32", "bf16", "eps") and key in case["recipe"] and case["recipe"][key] != value:
            out = copy.deepcopy(case)
            out["recipe"][key] = value
            yield out
    for part in ("sizes", "changes"):
        for key, value in case[part].items():
            if isinstance(value, int) and not isinstance(value, bool) and value > 3:
                out = copy.deepcopy(case)
                out[part][key] = value // 2
                if "VOCAB" in out["sizes"] and key in ("VOCAB", "vocab_size"):
                    out["sizes"]["VOCAB"] = out["changes"]["vocab_size"] = value // 2
                yield out


def shrunk(trnsim, case, folder, tries=60):
    """The simplest case found that still disagrees."""
    again = True
    while again and tries > 0:
        again = False
        for one in smaller(case):
            tries -= 1
            try:
                bad = outcome(trnsim, one, folder)[0].startswith("DISAGREES: check failed")
            except (RuntimeError, ValueError, IndexError, ZeroDivisionError, AssertionError, TypeError):
                bad = False  # no model of PyTorch's either
            if bad:
                case, again = one, True
                break
            if tries <= 0:
                break
    return case


def shown(case):
    """In one line."""
    changes = {key: value for key, value in case["changes"].items() if not isinstance(value, dict)}
    recipe = {key: value for key, value in case["recipe"].items()
              if value != common.PLAIN[key] and key not in ("fp32", "bf16")}
    return f"{changes} {case['sizes']} {recipe} {case['adapter'] or ''}"


def accepted(trnsim, case, folder):
    """The case without the flags that its model refuses, one after the other; their names; its outcome."""
    refused, written = [], False
    while True:
        result, errors, command = outcome(trnsim, case, folder, written)
        written = True
        if not result.startswith("refused"):
            return case, refused, (result, errors, command)
        named = re.match(r"refused: usage error: (--\w+)", result)
        if named and named[1] in case["flags"] and named[1] not in ("--nproc_per_node", "--instance_type"):
            refused.append(result.removeprefix("refused: usage error: "))
            case = {**case, "flags": draw_plans.without(case["flags"], named[1])}
        elif case["flags"] != on_one_core(case)["flags"]:
            refused.append(result.removeprefix("refused: usage error: "))
            case = on_one_core(case)
        else:
            return case, refused, ("DISAGREES: refused on one core too: " + result, errors, command)


def tried(trnsim, number, case, folder):
    """The outcome, without what the model refuses; a line is printed."""
    words = " ".join(command_of("", "", case["flags"])[5:])
    case, refused, (result, errors, command) = accepted(trnsim, case, folder)
    print(f"{number} {case['family']} {words}: {case['recipe']['optimizer']}{' LoRA' if case['adapter'] else ''}: "
          f"{errors}: {result}{', without ' + ', '.join(refused) if refused else ''}", flush=True)
    if result.startswith("DISAGREES"):
        print(f"  {shown(case)}\n  {' '.join(command)}", flush=True)
    if result.startswith("DISAGREES: check failed"):
        case = shrunk(trnsim, case, folder)
        result, errors, command = outcome(trnsim, case, folder)
        print(f"  shrunk to {shown(case)}: {errors}: {result}\n  {' '.join(command)}", flush=True)
    return result, bool(refused)


def main():
    trnsim, count = sys.argv[1], int(sys.argv[2])
    given = [int(n) for n in sys.argv[3:5]]
    seed, start = given + [1, 0][len(given):]
    results, kept, refused = [], [], 0
    root = pathlib.Path(tempfile.mkdtemp(prefix="trnsim_random_"))
    for number in range(start, start + count):
        case = draws.a_case(seed, number)
        folder = root / f"{number}_{case['family']}"
        result, changed = tried(trnsim, number, case, folder)
        results.append(result)
        refused += changed
        if results[-1].startswith("DISAGREES"):
            kept.append(folder)
        else:
            shutil.rmtree(folder)
    agree, rounding = (sum(r.startswith(word) for r in results) for word in ("agrees", "rounding"))
    print(f"{count} random trainings, seed {seed}: {agree} agree, {rounding} as far as PyTorch's own, {len(kept)} "
          f"disagree; of {refused} plans a part was refused, and left out")
    if kept:
        print("kept: " + ", ".join(map(str, kept)))
        sys.exit(1)
    root.rmdir()


if __name__ == "__main__":
    main()
