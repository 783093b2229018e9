"""Result types: projections, tables, runs. Numbers equal those of the command line's JSON to the last digit."""
import json
from html import escape

from trnsim import _core


# Names that figures had earlier, with the divisor of the value.
_FORMER = {"seconds": ("train_runtime", 1), "samples_per_second": ("train_samples_per_second", 1),
           "mfu": ("device_mfu_percent", 100), "job_mfu": ("job_mfu_percent", 100),
           "model_flops": ("model_flops_per_step", 1), "mfu_percent": ("device_mfu_percent", 1)}


def _short(value):
    """A cell for people."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, float):
        return escape(str(value))
    return f"{value:.6g}"


def _html_table(names, rows, most=60):
    head = "".join(f"<th>{escape(str(n))}</th>" for n in names)
    body = "".join("<tr>" + "".join(f"<td>{_short(v)}</td>" for v in row) + "</tr>" for row in rows[:most])
    more = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_bars(title, items, unit="%"):
    """Horizontal bars, `items`: (name, per cent, text); as wide as the largest."""
    most = max((share for _, share, _ in items), default=0) or 1
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td style='width:18em'><div style='background:#4c78a8;height:0.9em;"
        f"width:{100 * share / most:.1f}%'></div></td><td>{escape(text)} {unit}</td></tr>"
        for name, share, text in items)
    return f"<p><b>{escape(title)}</b></p><table><tbody>{rows}</tbody></table>"


class Table:
    """Rows with named columns. `table["seconds"]` is a column as a NumPy array (float64 or int64 for numbers,
    with NaN for missing values; otherwise object), `table[3]` is a row as a dict, and `table.columns` has all
    columns, as `pandas.DataFrame(table.columns)` expects them. Iterating gives the rows."""

    def __init__(self, rows, names=None):
        self.rows = list(rows)
        self.names = list(names) if names is not None else list(dict.fromkeys(k for row in self.rows for k in row))

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, key):
        if not isinstance(key, str):
            return Table(self.rows[key], self.names) if isinstance(key, slice) else self.rows[key]
        if key not in self.names and key in _FORMER:
            key = _FORMER[key][0]
        if key not in self.names:
            raise KeyError(f"{key}: there are {', '.join(self.names)}")
        import numpy

        values = [row.get(key) for row in self.rows]
        kinds = {type(v) for v in values}
        if kinds == {bool}:
            return numpy.array(values, dtype=bool)
        if kinds == {int}:
            return numpy.array(values, dtype=numpy.int64)
        if kinds and kinds <= {int, float, type(None)} and kinds != {type(None)}:
            return numpy.array([numpy.nan if v is None else v for v in values], dtype=numpy.float64)
        return numpy.array(values, dtype=object)

    @property
    def columns(self):
        """{name: NumPy array}, in the table's order."""
        return {name: self[name] for name in self.names}

    def __repr__(self):
        return f"Table of {len(self)} rows: {', '.join(self.names)}"

    def _repr_html_(self):
        return _html_table(self.names, [[row.get(n) for n in self.names] for row in self.rows])


class Answer:
    """A projection in sentences: `time`, `dollars`, `memory`, `bound_by`, `sure` (the range around the time),
    `interrupted` (empty unless requested), and `changes`: those that would help most, as dicts with `settings`,
    `text`, `speed_up_percent`, `train_runtime` in s and `dollars`, or None if not requested. str() gives all of
    it."""

    def __init__(self, data):
        self.time, self.dollars = data["time"], data["dollars"]
        self.memory, self.bound_by, self.changes = data["memory"], data["bound_by"], data["changes"]
        self.sure, self.interrupted = data.get("sure", ""), data.get("interrupted", "")

    def __str__(self):
        lines = [f"time     {self.time}", f"dollars  {self.dollars}", f"memory   {self.memory}",
                 f"bound by {self.bound_by}"]
        lines += [f"{name:8} {text}" for name, text in (("range", self.sure), ("cut off", self.interrupted)) if text]
        return "\n".join(lines + [f"try      {c['text']}" for c in self.changes or []])

    __repr__ = __str__


class Memory(dict):
    """HBM bytes of the fullest core, by kind; also `total` and `capacity` (bytes)."""

    def __init__(self, data):
        super().__init__(data["by_kind"])
        self.total, self.capacity = data["hbm_bytes"], data["hbm_capacity_bytes"]

    def _repr_html_(self):
        rows = [*self.items(), ("total", self.total), ("capacity", self.capacity)]
        return _html_table(["HBM of a core", "bytes"], rows)


class Projection:
    """Time, cost and memory of a job. `answer` gives them in sentences, `result` is the JSON of the command
    line.

    Every figure of `trnsim list figures` is an attribute: train_samples_per_second, tokens_per_second (1/s);
    train_runtime, step_seconds, device_step_seconds, host_step_seconds, compile_seconds (s); dollars and
    price_per_hour (US dollars; None if no price is published); model_flops_per_step; device_mfu_percent,
    job_mfu_percent; steps, samples, cores, instances, parameters; also plan, instance_type, numerics, stack,
    slowest_stage. Earlier names still work: seconds, samples_per_second, mfu and job_mfu (as fractions of 1),
    model_flops (of a step)."""

    def __init__(self, data):
        self.job, self.result, self._figures = data["job"], data["result"], data["figures"]

    def __getattr__(self, name):
        figures = self.__dict__.get("_figures", {})
        if name in figures:
            return figures[name]
        if name in _FORMER and _FORMER[name][0] in figures:
            return figures[_FORMER[name][0]] / _FORMER[name][1]
        raise AttributeError(f"a projection has no {name}; it has {', '.join(sorted(figures))}")

    def __dir__(self):
        return sorted({*super().__dir__(), *self._figures})

    @property
    def answer(self):
        return Answer(self.result["answer"])

    @property
    def memory(self):
        return Memory(self._figures["memory"])

    @property
    def parts(self):
        """Table of the parts of the job's seconds: `name`, `seconds`."""
        return Table(self._figures["parts"], ["name", "seconds"])

    @property
    def stages(self):
        """Table of the pipeline's stages (one without a pipeline): `stage`, `seconds` of the device in a
        step, `collectives_exposed_seconds`, `hbm_bytes`."""
        names = ["stage", "seconds", "collectives_exposed_seconds", "hbm_bytes"]
        return Table([{n: s[n] for n in names} for s in self._figures["stages"]], names)

    @property
    def engines(self):
        """Table of the slowest stage's engines: `engine`, `busy_percent`, `waiting_percent`, `idle_percent`,
        `instructions`."""
        return Table(self._figures["stages"][self.slowest_stage]["engines"])

    def __repr__(self):
        return f"Projection of {self.job}, {self.plan} on {self.instances} x {self.instance_type}\n{self.answer}"

    def _repr_html_(self):
        parts = [(p["name"], p["seconds"], f"{p['seconds']:.4g}") for p in self.parts if p["seconds"] > 0]
        engines = [(e["engine"], e["busy_percent"], f"{e['busy_percent']:.1f}") for e in self.engines]
        return (f"<p><b>{escape(str(self.job))}</b>: {escape(self.plan)}</p><pre>{escape(str(self.answer))}</pre>"
                + _html_bars("where the time goes", parts, "s") + _html_bars("engines, busy", engines))


class Run:
    """The folder of a run: `result` (docs/result_schema.md), `steps` (a Table of the training's recorded
    steps), and the record of the simulated step by op, layer, engine, ..."""

    def __init__(self, folder):
        import os

        self.folder = os.fspath(folder)
        data = json.loads(_core.ask("open", json.dumps({"folder": self.folder})))
        self.result, self.steps = data["result"], Table(data["steps"])

    @property
    def metrics(self):
        """The training's losses, scores and steps; None if nothing was trained."""
        return self.result.get("metrics")

    @property
    def answer(self):
        """The Answer of the projected job; None if nothing was projected."""
        return Answer(self.result["answer"]) if "answer" in self.result else None

    def records(self, by="op", stage=-1, limit=0):
        """Returns a Table of the time of a device step in groups: by "op", "part", "source", "layer", "engine",
        "opcode" (instruction), "phase", "block" or "collective". `stage`: of a pipeline, -1: the slowest;
        `limit`: the number of rows, 0: all. Times are in s, shares in per cent."""
        return self._ask({"instruction": "opcode"}.get(by, by), stage, limit)

    def summary(self, stage=-1):
        """Returns a Table of the record's figures, with their units."""
        return self._ask("", stage, 0)

    def _ask(self, by, stage, limit):
        arguments = {"folder": self.folder, "by": by, "stage": stage, "limit": limit}
        return Table(json.loads(_core.ask("records", json.dumps(arguments))))

    def __repr__(self):
        return f"Run in {self.folder}: {self.result.get('command', '')}\n{self.answer or ''}"

    def _repr_html_(self):
        out = f"<p><b>{escape(self.folder)}</b></p>"
        if self.answer:
            out += f"<pre>{escape(str(self.answer))}</pre>"
            engines = [(e["engine"], e["busy"], f"{e['busy']:.1f}") for e in self.result["engines"]]
            out += _html_bars("engines, busy", engines)
        metrics = {k: v for k, v in (self.metrics or {}).items() if isinstance(v, (int, float, str))}
        return out + (_html_table(["metric", "value"], list(metrics.items())) if metrics else "")


class Generation:
    """Text and its time: `texts` (str; empty without weights), `ids`, `time_to_first_token_seconds`,
    `time_per_output_token_p50_seconds`, `generate_runtime` (s), `tokens_per_second` and, of an instance full of copies,
    `instance_tokens_per_second` (1/s), `buckets` (Table),
    `memory` (bytes by kind), `result` (all of it, as the command line prints it)."""

    def __init__(self, data):
        self.result = data
        self.texts, self.ids = [t["text"] for t in data["texts"]], [t["ids"] for t in data["texts"]]
        self.buckets = Table(data["buckets"])
        memory = data["memory"]
        kinds = {k: v for k, v in memory.items()
                 if k not in ("hbm_bytes", "hbm_capacity_bytes", "compiler", "verdict")}
        self.memory = Memory({"hbm_bytes": memory["hbm_bytes"], "hbm_capacity_bytes": memory["hbm_capacity_bytes"],
                              "by_kind": kinds})
        self.time_to_first_token_seconds = data["time_to_first_token_seconds"]
        self.time_per_output_token_p50_seconds = data.get("time_per_output_token_p50_seconds", 0.0)
        self.generate_runtime, self.tokens_per_second = data["generate_runtime"], data["tokens_per_second"]
        self.instance_tokens_per_second = data["instance_tokens_per_second"]

    @property
    def total_seconds(self):
        """The name of `generate_runtime` until 0.3.0."""
        return self.generate_runtime

    def __repr__(self):
        return (f"Generation of {self.result['new_tokens']} tokens: first after "
                f"{self.time_to_first_token_seconds * 1e3:.3f} ms, {self.tokens_per_second:.1f} tokens/s")

    def _repr_html_(self):
        texts = "".join(f"<pre>{escape(t)}</pre>" for t in self.texts)
        return f"<p>{escape(repr(self))}</p>{texts}"
