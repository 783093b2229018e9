#!/usr/bin/env python3
"""Lines that tests reach: coverage.py BUILD FOLDER... `./dev coverage` calls it, after a build with --coverage has run
its tests. Prints for each folder of the sources its lines and the share that was run, then every function that never
was, as FILE:LINE NAME."""
import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]


def notes_of(data):
    """What gcov says of one object: {"file": relative, "lines", "functions"} of our own files."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", "--demangled-names", str(data)], cwd=folder, capture_output=True,
                       check=False)
        for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
            yield from json.loads(gzip.decompress(path.read_bytes()))["files"]


class Counts:
    def __init__(self, folders):
        self.folders = folders
        self.lines = collections.defaultdict(dict)      # file: {line: times}
        self.functions = collections.defaultdict(dict)  # file: {(line, name): times}

    def add(self, note):
        path = os.path.realpath(os.path.join(ROOT, note["file"]))
        if not path.startswith(str(ROOT) + "/"):
            return
        file = os.path.relpath(path, ROOT)
        if file.split("/")[0] not in self.folders:
            return
        for line in note["lines"]:
            number = line["line_number"]
            self.lines[file][number] = self.lines[file].get(number, 0) + line["count"]
        for function in note["functions"]:
            # Instances of a template are one function of the source.
            key = (function["start_line"], function["demangled_name"].split("<")[0].split("(")[0])
            self.functions[file][key] = self.functions[file].get(key, 0) + function["execution_count"]

    def rows(self):
        for folder in self.folders:
            counts = [n for file, lines in self.lines.items() if file.split("/")[0] == folder for n in lines.values()]
            if counts:
                yield folder, len(counts), 100 * sum(n > 0 for n in counts) / len(counts)

    def never(self):
        by_line = {(file, line): times for file, all in self.functions.items() for (line, _), times in all.items()}
        for file, all in self.functions.items():
            for (line, name), times in all.items():
                by_line[file, line] = max(by_line[file, line], times)
        return sorted((file, line, name) for file, all in self.functions.items() for line, name in all
                      if by_line[file, line] == 0)


def main():
    build, counts = pathlib.Path(sys.argv[1]), Counts(sys.argv[2:])
    data = sorted(build.rglob("*.gcda"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for notes in pool.map(lambda d: list(notes_of(d)), data):
            for note in notes:
                counts.add(note)
    rows = list(counts.rows())
    for folder, lines, share in rows:
        print(f"{folder:12} {lines:7} lines {share:6.1f} %")
    all_lines = sum(lines for _, lines, _ in rows)
    print(f"{'all':12} {all_lines:7} lines {sum(n * s for _, n, s in rows) / max(1, all_lines):6.1f} %")
    never = counts.never()
    print(f"\n{len(never)} functions never run:")
    for file, line, name in never:
        print(f"  {file}:{line} {name}")


if __name__ == "__main__":
    main()
