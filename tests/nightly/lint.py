#!/usr/bin/env python3
"""clang-tidy over many files, some now and some later: lint.py COMMANDS MINUTES FILE... `./dev lint` calls it.

COMMANDS: the folder of compile_commands.json. A file that had no complaint is not looked at again while it, the headers
that it includes, .clang-tidy and clang-tidy are the same. After MINUTES it ends: the rest is counted, and the next call
goes on with it. Prints the complaints; exits with 1 if there are any."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]


def digest(paths, more):
    out = hashlib.sha256(more.encode())
    for path in paths:
        try:
            out.update(str(path).encode() + b"\0" + pathlib.Path(path).read_bytes())
        except OSError:
            return None
    return out.hexdigest()


class Linter:
    def __init__(self, commands):
        self.commands, self.kept = commands, commands / "lint.json"
        self.version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
        self.version += (ROOT / ".clang-tidy").read_text()
        self.known = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        entries = json.loads((commands / "compile_commands.json").read_text())
        self.words = {os.path.realpath(e["file"]): e for e in entries}

    def headers(self, file):
        """Our own headers that a file includes, as the preprocessor lists them."""
        entry = self.words[file]
        command = entry["command"].split(" -o ")[0] + f" -MM {file}"
        ran = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True, text=True, check=False)
        names = ran.stdout.replace("\\\n", " ").split(":", 1)[-1].split()
        return sorted({os.path.realpath(os.path.join(entry["directory"], n)) for n in names if str(ROOT) in n})

    def is_clean(self, file):
        known = self.known.get(file)
        return bool(known) and digest(known["files"], self.version) == known["digest"]

    def look(self, file, seconds):
        """Complaints, or nothing. Errors: subprocess.TimeoutExpired."""
        if file not in self.words:
            return ""
        ran = subprocess.run(["clang-tidy", "--quiet", "-p", str(self.commands), file], capture_output=True, text=True,
                             check=False, timeout=seconds)
        if ran.returncode == 0:
            files = [file, *self.headers(file)]
            self.known[file] = {"files": files, "digest": digest(files, self.version)}
        return "" if ran.returncode == 0 else ran.stdout or ran.stderr

    def keep(self):
        fresh = self.kept.with_suffix(".new")
        fresh.write_text(json.dumps(self.known))
        fresh.replace(self.kept)


def main():
    commands, minutes = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    linter, end = Linter(commands), time.monotonic() + 60 * minutes
    files = [os.path.realpath(f) for f in sys.argv[3:]]
    todo = [f for f in files if not linter.is_clean(f)]
    left, bad = [], 0

    def one(file):
        try:
            if time.monotonic() < end:
                return linter.look(file, end - time.monotonic())
        except subprocess.TimeoutExpired:
            pass
        left.append(file)
        return ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, text in enumerate(pool.map(one, todo), 1):
            bad += bool(text)
            if text:
                print(text, flush=True)
            if number % 20 == 0:
                linter.keep()
    linter.keep()
    print(f"{len(files)} files: {len(files) - len(todo)} as before, {len(todo) - len(left)} looked at, {bad} with "
          f"complaints, {len(left)} left for the next call", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
