#!/usr/bin/env python3
"""Files of a stranger, mutated by their structure: mutate.py TRNSIM COUNT [SEED]. `./dev mutate` calls it.

JSON and safetensors by keys and values, SQLite by its schema and its cells, tables by cells, TOML by words, programs by
lines and words. A verb that reads the file has to answer, or to refuse it with one clear error, within ten seconds of a
processor: a signal, an internal error or more time is a finding, whose file is kept. Prints a line for each format;
exits with 1 if there are any."""
import collections
import copy
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
STRANGE = [None, True, False, 0, -1, 1, 2 ** 31, 2 ** 63, -2 ** 63, 1e308, -0.5, 1e-300, "", "x", "\0", "\u2581" * 50,
           "../../etc/passwd", [], {}, [[]], [1, "a", None], {"a": {"b": []}}, "nan", 10 ** 40]
SECONDS = 10  # of the host's processor; a host that is busy with others takes longer


# ---- by structure

def places(value, path=()):
    """Every place of a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items)[:200]:
        yield from places(inner, (*path, key))


def mutated_json(value, draw):
    value = copy.deepcopy(value)
    for _ in range(draw.randint(1, 3)):
        *outer, last = draw.choice([p for p in places(value) if p] or [("",)])
        inside = value
        for key in outer:
            inside = inside[key]
        kind = draw.random()
        if kind < 0.2:
            del inside[last]
        elif kind < 0.3 and isinstance(inside, dict):
            inside[draw.choice(["", "x", str(last) + " ", str(last).upper()])] = inside.pop(last)
        elif kind < 0.4 and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[last]))
        elif kind < 0.5 and isinstance(inside[last], int):
            inside[last] = draw.choice([inside[last] + 1, inside[last] - 1, inside[last] * 1000, -inside[last]])
        else:
            inside[last] = copy.deepcopy(draw.choice(STRANGE))
    return value


def json_file(path, draw):
    path.write_text(json.dumps(mutated_json(json.loads(path.read_text()), draw)))


def safetensors_file(path, draw):
    bytes_ = path.read_bytes()
    size = struct.unpack("<Q", bytes_[:8])[0]
    header = mutated_json(json.loads(bytes_[8:8 + size]), draw)
    text, data = json.dumps(header).encode(), bytes_[8 + size:]
    if draw.random() < 0.2:
        data = data[:draw.randint(0, len(data))]
    length = len(text) if draw.random() < 0.9 else draw.choice([0, 7, 2 ** 40, 2 ** 64 - 1])
    path.write_bytes(struct.pack("<Q", length) + text + data)


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"


def schema_change(db, table, columns, draw):
    """One change of the schema of a table."""
    first = columns[0]
    fields = ", ".join(f"n AS \"{c}\"" for c in columns)
    everything = ", ".join(f'"{c}"' for c in columns)
    return draw.choice([
        f'ALTER TABLE "{table}" RENAME TO old_{table}; CREATE VIEW "{table}" AS SELECT * FROM old_{table}',
        f'DROP TABLE "{table}"; CREATE VIEW "{table}" AS SELECT {fields} FROM ({ENDLESS})',
        f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" RENAME COLUMN "{first}" TO other',
        f'ALTER TABLE "{table}" ADD COLUMN more TEXT DEFAULT (hex(zeroblob(100000)))',
        f'ALTER TABLE "{table}" ADD COLUMN made TEXT AS (hex(zeroblob(100000)))',
        f'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM "{table}"; END',
        f'CREATE TABLE copy AS SELECT {everything} FROM "{table}"; DROP TABLE "{table}"; '
        f'ALTER TABLE copy RENAME TO "{table}"',
        f'CREATE INDEX i ON "{table}"(hex("{first}"))', f'DELETE FROM "{table}"',
        f'INSERT OR REPLACE INTO "{table}" SELECT * FROM "{table}" LIMIT 3'])


def cell_change(table, columns, draw):
    column = draw.choice(columns)
    value = draw.choice(["NULL", "-1", "9223372036854775807", "1e308", "''", "'x'", "x'00ff'", "hex(zeroblob(100000))",
                         f"\"{column}\" + 1", f"-\"{column}\"", "'nan'", "'\x1b[31m'"])
    return f'UPDATE "{table}" SET "{column}" = {value}' + (" WHERE rowid % 3 = 0" if draw.random() < 0.3 else "")


def sqlite_file(path, draw):
    if draw.random() < 0.2:  # bytes of pages
        data = bytearray(path.read_bytes())
        for _ in range(draw.randint(1, 20)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        return
    db = sqlite3.connect(path)
    for _ in range(draw.randint(1, 2)):
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = draw.choice(tables)
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        try:
            if draw.random() < 0.4:
                db.executescript(schema_change(db, table, columns, draw))
            else:
                db.execute(cell_change(table, columns, draw))
        except sqlite3.Error:
            pass  # not of this table
    db.commit()
    db.close()


def text_file(path, draw):
    words = path.read_text().split(" ")
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(words))
        words[at] = draw.choice([str(draw.choice(STRANGE)), words[at] * 2, "", words[draw.randrange(len(words))],
                                 "[[", "=", "\"", "\n\n", "1e999", "#"])
    path.write_text(" ".join(words).replace("\ud800", ""))


def table_file(path, draw):
    rows = [line.split(",") for line in path.read_text().splitlines()]
    for _ in range(draw.randint(1, 4)):
        row = draw.choice(rows)
        row[draw.randrange(len(row))] = str(draw.choice(STRANGE))
        if draw.random() < 0.2:
            row.append("more")
    path.write_text("\n".join(",".join(row) for row in rows))


def program_file(path, draw):
    """Lines and words of a program: dropped, doubled, exchanged, replaced by others of the file or by strange ones."""
    lines = path.read_text().splitlines()
    for _ in range(draw.randint(1, 3)):
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        kind = draw.random()
        if kind < 0.1:
            lines[at] = ""
        elif kind < 0.2:
            lines.insert(at, lines[other])
        elif kind < 0.3:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            words = re.split(r"(\W+)", lines[at])
            pool = re.findall(r"\w+|\W", lines[other]) + ["-1", "0", str(2 ** 63), "f32", "pred", "%x", "{", ""]
            words[draw.randrange(len(words))] = draw.choice(pool)
            lines[at] = "".join(words)
    path.write_text("\n".join(lines) + "\n")


def proto_file(path, draw):
    """Bytes of messages: changed, and runs of them dropped, doubled or moved."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 4)):
        at, size = draw.randrange(len(data)), draw.randint(1, 40)
        kind = draw.random()
        if kind < 0.5:
            data[at] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
        elif kind < 0.7:
            del data[at:at + size]
        else:
            place = draw.randrange(len(data))
            data[place:place] = data[at:at + size]
        data = data or bytearray(b"\0")
    path.write_bytes(data)


# ---- formats: the folder of a right file, the file to mutate, how, and the verb that reads it

def golden(name, *files):
    def make(folder):
        for file in files or [p.name for p in (GOLDEN / name).iterdir() if p.is_file()]:
            shutil.copy(GOLDEN / name / file, folder)
    return make


def copied(path, name):
    return lambda folder: shutil.copy(path, folder / name)


class Formats:
    def __init__(self, trnsim, root):
        self.record = root / "record"
        run = [trnsim, "run", "vit_mnist", "--mode", "timed", "--suggestions", "0", "--output_dir", str(self.record)]
        subprocess.run(run, check=True, capture_output=True)
        jobs, machines = ROOT / "workloads/jobs", ROOT / "hw/params"
        estimate = ["estimate", "{folder}", "--suggestions", "0", "--instance_type", "trn1.2xlarge"]
        self.all = {
            "config.json of BERT": (golden("bert_tiny", "config.json"), "config.json", json_file, estimate),
            "config.json of Llama": (golden("llama_tiny", "config.json"), "config.json", json_file, estimate),
            "config.json of Mixtral": (golden("mixtral_tiny", "config.json"), "config.json", json_file, estimate),
            "adapter_config.json": (golden("llama_lora"), "adapter_config.json", json_file, ["verify", "{folder}"]),
            "safetensors": (golden("gpt_tiny"), "model.safetensors", safetensors_file, ["verify", "{folder}"]),
            "expected.json": (golden("gpt_tiny"), "expected.json", json_file, ["verify", "{folder}"]),
            "run.sqlite": (self.record_only, "run.sqlite", sqlite_file, ["stats", "{folder}"]),
            "result.json": (self.record_only, "result.json", json_file, ["report", "{folder}"]),
            "machine file": (copied(machines / "trn1.2xlarge.toml", "m.toml"), "m.toml", text_file,
                             ["params", "{folder}/m.toml"]),
            "workload file": (copied(jobs / "vit_mnist.toml", "w.toml"), "w.toml", text_file,
                              ["run", "{folder}/w.toml", "--mode", "timed", "--suggestions", "0", "--output_dir",
                               "{folder}/out"]),
            "table of measurements": (copied(ROOT / "validation/tables/micro.csv", "t.csv"), "t.csv", table_file,
                                      ["validate", "{folder}/t.csv", "--only", "no_such_row"])}
        self.add_corpus("tokenizer_json", "tokenizer.json", json_file, ["tokenize", "--vocab", "{file}", "a b c"])
        self.add_corpus("hlo_text", "m.hlo", program_file, ["run", "{file}", "--output_dir", "{folder}/out"])
        self.add_corpus("hlo_proto", "m.hlo.pb", proto_file, ["run", "{file}", "--output_dir", "{folder}/out"])
        self.add_corpus("stablehlo", "m.mlir", program_file, ["verify", "{file}", "--reference"])
        self.add_corpus("stablehlo", "step.mlir", program_file, ["run", "{file}", "--output_dir", "{folder}/out"])

    def add_corpus(self, kind, name, mutate, words):
        """A format for each file of the fuzzers' corpus that is text of that kind."""
        words = [word.replace("{file}", "{folder}/" + name) for word in words]
        for path in sorted((ROOT / "tests/fuzz/corpus" / kind).iterdir()):
            try:
                if mutate is json_file:
                    json.loads(path.read_text())
                elif mutate is program_file:
                    path.read_text()
            except ValueError:
                continue  # a mistake on purpose
            self.all[f"{words[0]} {kind} {path.name}"] = (copied(path, name), name, mutate, words)

    def record_only(self, folder):
        for name in ("run.sqlite", "result.json"):
            shutil.copy(self.record / name, folder)


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def verdict(trnsim, words):
    try:
        ran = subprocess.run([trnsim, *words], capture_output=True, timeout=20 * SECONDS, check=False,
                             stdin=subprocess.DEVNULL, preexec_fn=bounded)
    except subprocess.TimeoutExpired:
        return "hangs"
    if ran.returncode == -signal.SIGXCPU:
        return f"takes more than {SECONDS} s"
    if ran.returncode < 0:
        return f"signal {-ran.returncode}"
    if b"internal error" in ran.stderr:
        return "internal error"
    return "" if ran.returncode in (0, 2, 3, 4) or (ran.returncode == 1 and b"check failed" in ran.stderr) else \
        f"ends with {ran.returncode}"


def one(trnsim, root, format_, number, seed):
    """The finding of one mutation, with its file; or nothing."""
    name, (make, file, mutate, words) = format_
    draw, folder = random.Random(f"{seed} {name} {number}"), root / f"{name.replace(' ', '_')}_{number}"
    folder.mkdir()
    make(folder)
    mutate(folder / file, draw)
    found = verdict(trnsim, [word.format(folder=folder) for word in words])
    if not found:
        shutil.rmtree(folder)
        return None
    return f"{name}: {found}: trnsim {' '.join(word.format(folder=folder) for word in words)}"


def main():
    trnsim, count, seed = sys.argv[1], int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0])
    root = pathlib.Path(tempfile.mkdtemp(prefix="trnsim_mutated_"))
    formats = list(Formats(trnsim, root).all.items())
    found = collections.defaultdict(list)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [(formats[n % len(formats)], n) for n in range(count)]
        for (format_, _), bad in zip(tasks, pool.map(lambda t: one(trnsim, root, *t, seed), tasks)):
            found[format_[0]] += [bad] if bad else []
    for name, _ in formats:
        print(f"{name:32} {count // len(formats):7} mutations, {len(found[name])} bad")
        for bad in found[name][:5]:
            print(f"  {bad}")
    bad = sum(map(len, found.values()))
    print(f"{count} mutations, seed {seed}: {bad} bad")
    if bad:
        sys.exit(1)
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
