#!/usr/bin/env python3
"""clang-tidy over many files, some now and some later: lint.py COMMANDS MINUTES FILE... `./dev lint` calls it.

COMMANDS: the folder of a build whose compiler takes several files at a time, as clang-tidy does then: most of its time
goes into the headers. Clang analyses the paths through functions of the main file alone, and of the files that one named
UnifiedSource... includes; the tests' have other names, because their paths took as long as all else. A file that had no
complaint is not looked at again while it, the headers that it was looked at with, .clang-tidy and clang-tidy are the
same. After MINUTES it ends: the rest is counted, and the next call goes on with it. Prints the complaints; exits with 1
if there are any."""
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = re.search(r"HeaderFilterRegex: '(.*)'", (ROOT / ".clang-tidy").read_text())[1]
SHOWN = rf"{HEADERS}|^{re.escape(str(ROOT))}/.*\.cpp$"


def digest(paths, more):
    out = hashlib.sha256(more.encode())
    for path in paths:
        try:
            out.update(str(path).encode() + b"\0" + pathlib.Path(path).read_bytes())
        except OSError:
            return None
    return out.hexdigest()


def included(file):
    """The sources of a file that joins several, or the file."""
    names = re.findall(r'^#include "(/.*\.cpp)"$', pathlib.Path(file).read_text(), re.MULTILINE)
    return [os.path.realpath(name) for name in names] or [os.path.realpath(file)]


def flags_of(command):
    """Without the compiler, its input and outputs."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if word.endswith("++")) + 1:]
    out = []
    while words:
        word = words.pop(0)
        if word in ("-o", "-MT", "-MF", "-c"):
            words.pop(0)
        elif word != "-MD":
            out.append(word)
    return out


class Linter:
    def __init__(self, commands):
        self.commands, self.kept = commands, commands / "lint.json"
        self.version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
        self.version += (ROOT / ".clang-tidy").read_text() + pathlib.Path(__file__).read_text()
        self.known = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        entries = json.loads((commands / "compile_commands.json").read_text())
        self.units = [(entry, included(entry["file"])) for entry in entries]

    def is_clean(self, file):
        known = self.known.get(file)
        return bool(known) and digest([file, *known["headers"]], self.version) == known["digest"]

    def groups(self, todo):
        """Those that the compiler takes at once."""
        for number, (entry, files) in enumerate(self.units):
            if wanted := [file for file in files if file in todo]:
                yield number, entry, wanted

    def main_of(self, number, files):
        if len(files) == 1:
            return files[0]
        tests = files[0].startswith(str(ROOT / "tests"))
        main = self.commands / "joined" / f"{'Tests' if tests else 'UnifiedSource'}{number}.cpp"
        main.parent.mkdir(exist_ok=True)
        main.write_text("".join(f'#include "{file}"\n' for file in files))
        return str(main)

    def headers(self, main, flags, folder):
        """Our own headers that it includes, as the preprocessor lists them."""
        ran = subprocess.run(["c++", *flags, "-MM", main], cwd=folder, capture_output=True, text=True, check=False)
        names = ran.stdout.replace("\\\n", " ").split(":", 1)[-1].split()
        paths = {os.path.realpath(os.path.join(folder, name)) for name in names}
        return sorted(path for path in paths if path.startswith(f"{ROOT}/") and not path.endswith(".cpp"))

    def look(self, number, entry, files, seconds):
        """Complaints, or nothing, and how many files have some. Errors: subprocess.TimeoutExpired."""
        main, flags = self.main_of(number, files), flags_of(entry["command"])
        command = ["clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--header-filter={SHOWN}",
                   "--checks=-bugprone-suspicious-include", main, "--", *flags]
        ran = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False,
                             timeout=seconds)
        failed = ran.returncode != 0
        at = set(re.findall(r"^(/[^:]*):\d+:\d+: (?:error|warning):", ran.stdout, re.MULTILINE)) if failed else set()
        bad = [file for file in files if file in at] if at <= set(files) and at else files if failed else []
        headers = self.headers(main, flags, entry["directory"]) if len(bad) < len(files) else []
        for file in files:
            if file not in bad:
                self.known[file] = {"headers": headers, "digest": digest([file, *headers], self.version)}
        return (ran.stdout or ran.stderr) if failed else "", len(bad)

    def keep(self):
        fresh = self.kept.with_suffix(".new")
        fresh.write_text(json.dumps(self.known))
        fresh.replace(self.kept)


def main():
    commands, minutes = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    linter, end = Linter(commands), time.monotonic() + 60 * minutes
    files = [os.path.realpath(f) for f in sys.argv[3:]]
    todo = {file for file in files if not linter.is_clean(file)}
    groups, left, bad = list(linter.groups(todo)), 0, 0

    def one(group):
        try:
            if time.monotonic() < end:
                return linter.look(*group, end - time.monotonic())
        except subprocess.TimeoutExpired:
            pass
        return None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for group, answer in zip(groups, pool.map(one, groups)):
            text, count = answer or ("", 0)
            left += 0 if answer else len(group[-1])
            bad += count
            if text:
                print(text, flush=True)
            linter.keep()
    looked = sum(len(group[-1]) for group in groups) - left
    print(f"{len(files)} files: {len(files) - len(todo)} as before, {looked} looked at, {bad} with complaints, {left} "
          "left for the next call", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
