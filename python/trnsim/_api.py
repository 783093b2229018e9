"""The functions of the library. Keyword arguments are the settings of the command line, with the same names
(`per_device_train_batch_size=32` is `--per_device_train_batch_size 32`); a few have a second, shorter name
(`batch`)."""
import json
import math
import os
import time

from trnsim import _core
from trnsim._errors import Error
from trnsim._results import Generation, Projection, Run, Table

_to_list = list  # `list` below is a function of this module
_WORK = ("epochs", "samples", "tokens", "flops", "hbm_bytes")  # of a job that is priced
_SHORT = {"batch": "per_device_train_batch_size", "steps": "max_steps", "length": "max_length"}


def _text(value):
    """A setting's value as the command line would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, os.PathLike) and isinstance(os.fspath(value), str):
        return os.fspath(value)
    try:
        return _text(value.item())  # a number of NumPy's
    except (AttributeError, ValueError):
        raise TypeError(f"a setting must be a string, a number or a path, not {type(value).__name__}") from None


def _setting(value):
    """Several values are one, with commas, as the command line has them."""
    several = isinstance(value, (_to_list, tuple)) and len(value) > 0
    return ",".join(_text(v) for v in value) if several else _text(value)


def _put(settings, name, value):
    if _SHORT.get(name, name) in settings:
        raise TypeError(f"{_SHORT.get(name, name)} is given twice, under two names")
    settings[_SHORT.get(name, name)] = value


def _arguments(settings, machine, **more):
    """`machine`: the name of an instance type, or {parameter: value} of the one that the job has, or both as
    a pair."""
    out = {"settings": {}, "set": [], "short": _to_list(_SHORT), **{k: v for k, v in more.items() if v is not None}}
    for name, value in settings.items():
        if value is None:
            continue
        if name == "set":
            out["set"] += [value] if isinstance(value, str) else _to_list(value)
        else:
            _put(out["settings"], name, _setting(value))
    for part in machine if isinstance(machine, tuple) else (machine,):
        if isinstance(part, dict):
            out["set"] += [f"{key}={_text(value)}" for key, value in part.items()]
        elif part is not None:
            _put(out["settings"], "instance_type", _text(part))
    return out


def _json(arguments):
    """JSON has no NaN and no infinity."""
    for name, value in arguments.items():
        for number in value if isinstance(value, (_to_list, tuple)) else (value,):
            if isinstance(number, float) and not math.isfinite(number):
                raise Error(f"`{name}`", f"{number} is not a number that a job can have", "give one, or leave it out")
    return json.dumps(arguments)


def _ask(question, **arguments):
    return json.loads(_core.ask(question, _json({k: v for k, v in arguments.items() if v is not None})))


def _call(question, arguments, progress=None, orderly=False):
    """In a child process; `progress` hears each event as a dict."""
    hear = None if progress is None else lambda line: progress(json.loads(line))
    return json.loads(_core.call(question, _json(arguments), hear, orderly))


def _counting(progress):
    """`progress(done, all)` from events."""
    if progress is None:
        return None
    return lambda event: progress(event["done"], event["all"]) if event["event"] == "progress" else None


def _list(value):
    if value is None:
        return []
    return [_text(value)] if isinstance(value, (str, os.PathLike)) else [_text(v) for v in value]


def project(job, *, machine=None, sequences=None, samples=None, note=None, **settings):
    """Projects time, dollars and memory of a training; nothing is trained.

    job: a workload ("bert_emotion", or a workload file), the name of a model ("llama2-7b"), or a Hugging Face
    folder. machine: an instance type ("trn1.32xlarge"), parameters to change ({"hbm.bandwidth": "2x"}), or both
    as (type, parameters). sequences, or samples: the number in the whole job, for a model or a folder; default:
    those of one step. note(text): called with notes for the user. All other arguments are settings: batch
    (sequences per core), max_length (tokens), tensor_parallel_size, zero_1, numerics, ... Returns a Projection.
    Raises trnsim.Error, with exit_code 3 if it does not fit in memory."""
    if samples is not None and sequences is not None:
        raise TypeError("sequences is given twice, under two names")
    sequences = samples if sequences is None else sequences
    hear = None if note is None else lambda event: note(event["text"])
    return Projection(_call("project", _arguments(settings, machine, job=_text(job), sequences=sequences), hear))


def run(job, *, machine=None, output_dir=None, progress=None, step=None, **settings):
    """Projects a workload and trains its small model (or yours: model_id=, dataset_path=) on simulated cores.

    output_dir: folder of the results; default: in runs/, with the job's name and the time. step(record): called
    after each step with `step`, `max_steps`, `epoch`, `loss`, `learning_rate`, `grad_norm`, `simulated_seconds`
    (s on the machine), `host_seconds` (s here). progress(event): called with every event: "note", "begin",
    "step", "evaluated". After Ctrl-C, or an exception in a callback, the training writes its checkpoint first.
    Returns a Run."""
    folder = _text(output_dir) if output_dir is not None else _new_folder(job)
    settings["output_dir"] = folder

    def hear(event):
        if progress is not None:
            progress(event)
        if step is not None and event["event"] == "step":
            step({k: v for k, v in event.items() if k != "event"})

    arguments = _arguments(settings, machine, job=_text(job), folder=folder)
    return Run(_call("run", arguments, hear, orderly=True)["folder"])


def train(job, *, machine=None, output_dir=None, progress=None, step=None, **settings):
    """Trains without a projection: run() with mode="numeric". Returns a Run with `metrics` and `steps`."""
    return run(job, machine=machine, output_dir=output_dir, progress=progress, step=step,
               **{"mode": "numeric", **settings})


def _new_folder(job):
    """A folder that does not exist yet."""
    name = os.path.splitext(os.path.basename(_text(job)))[0]
    first = os.path.join("runs", f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
    folder, number = first, 1
    while os.path.exists(folder):
        number += 1
        folder = f"{first}-{number}"
    return folder


def search(model, *, global_batch_size=256, micro_batch_sizes=None, machine=None, processes=0, progress=None,
           **settings):
    """Times every legal way to divide a decoder's training among the cores. Returns them with the fastest
    first, and the excluded ones last.

    global_batch_size: sequences of an optimizer step, over all cores. micro_batch_sizes: the sizes to try.
    processes: the number that run at the same time; 0: as many as this host has cores. progress(done, all). The
    returned Table has plan, settings (for project()), refused (why it is excluded), step_seconds (s),
    sequences_per_second (1/s; of a generation instance_tokens_per_second), device_mfu_percent,
    hbm_bytes (of the fullest core), dollars_per_million_tokens."""
    arguments = _arguments(settings, machine, job=_text(model), processes=processes,
                           global_batch_size=global_batch_size,
                           micro_batch_sizes=micro_batch_sizes and _to_list(micro_batch_sizes))
    return Table(_call("search", arguments, _counting(progress)))


def choose(job, *, samples=None, instance_types=None, instances=1, global_batch_size=None,
           micro_batch_sizes=(1, 2, 4, 8, 16), processes=0, progress=None, **settings):
    """Chooses instances, plan and batch for the training of a workload, or of a model with `samples` in the whole
    job. Returns the choices that no other one beats in both time and dollars, the cheapest first.

    instance_types: those to try; default: all with a price. instances: numbers of them. global_batch_size:
    sequences of an optimizer step; default: the workload's, 64 of a model. micro_batch_sizes: sequences of a
    micro-batch. processes: the number that run at the same time; 0: as many as this host has cores.
    progress(done, all). The returned Table has dollars, seconds (s), instances, instance_type, cores, plan,
    hbm_bytes (of the fullest core), binds, settings (for project())."""

    def numbers(value):
        return None if value is None else [value] if isinstance(value, int) else _to_list(value)

    arguments = _arguments(settings, None, job=_text(job), samples=samples, processes=processes,
                           instance_types=None if instance_types is None else _list(instance_types),
                           instances=numbers(instances), global_batch_size=numbers(global_batch_size),
                           micro_batch_sizes=numbers(micro_batch_sizes))
    return Table(_call("choose", arguments, _counting(progress)))


def sweep(job, axes, *, machine=None, design="cartesian", samples=None, seed=None, output_dir=None, processes=0,
          progress=None):
    """Computes many variants of a workload. axes: machine parameters and settings with their values, such as
    {"hbm.bandwidth": ["1x", "2x"], "per_device_train_batch_size": [8, 16]}; a range is "0.5x..2x:5".

    design: "cartesian", "list", "one_at_a_time" or "random" (then with samples and seed). output_dir: stores
    computed points for the next time. progress(done, all). Returns a Table with a row per point: its values;
    its metrics, which are the figures of `trnsim list figures`: train_runtime (s of the job), dollars,
    train_samples_per_second (1/s), device_mfu_percent, hbm_bytes, ..., busy.* (per cent); and error (why it has
    none)."""
    if not isinstance(axes, dict):
        raise TypeError(f"axes: a dict of a parameter's or setting's name to its values, not {type(axes).__name__}")
    all_axes = {}
    for key, values in axes.items():
        _put(all_axes, key, _list(values if isinstance(values, (_to_list, tuple, str)) else _to_list(values)))
    arguments = {"job": _text(job), "axes": all_axes, "machine": machine, "design": design, "samples": samples,
                 "seed": seed, "processes": processes, "output_dir": output_dir and _text(output_dir)}
    return Table(_call("sweep", {k: v for k, v in arguments.items() if v is not None}, _counting(progress)))


def generate(model, prompt=None, *, machine=None, text=None, **settings):
    """Generates text with a Llama or GPT, and gives the time to each token.

    model: a folder with weights and tokenizer (Hugging Face's or llama2.c's), or a name ("llama2-7b"), which
    gives only the time. prompt: one text, or several as a batch. text(sequence, new): called as each text
    grows. Settings: max_new_tokens, batch_size, temperature, top_k, top_p, seed, tensor_parallel_size,
    numerics, ... Returns a Generation."""
    hear = None if text is None else lambda event: text(event["sequence"], event["text"])
    return Generation(_call("generate", _arguments(settings, machine, model=_text(model), prompt=_list(prompt)), hear))


def validate(files, only=None, *, machine=None, progress=None, **settings):
    """Compares published measurements with the model's predictions. files: tables of the training or the micro
    schema; only: ids of rows. progress(done, all). Returns a Table: id, kind, unit, published, predicted,
    error_percent, ..."""
    arguments = _arguments(settings, machine, files=_list(files), only=_list(only))
    return Table(_call("validate", arguments, _counting(progress)))


def ablate(job, *, machine=None, progress=None, **settings):
    """Measures the gain of each compiler pass for a workload. Returns a Table: passes, text,
    device_step_seconds (s), hbm_bytes (of a core), hbm_traffic_bytes (of a step), instructions (of a step)."""
    return Table(_call("ablate", _arguments(settings, machine, job=_text(job)), _counting(progress)))


def cost(run=None, *, seconds=None, machine=None, instance_type=None, instances=None, efficiency=None, prices=None,
         **settings):
    """Simulates and prices a job on every instance type. The job is that of a run folder (or Run), a workload,
    or a model (with `samples`), given by name; or it is a time: `seconds` on `instance_type`.

    instances: numbers of instances to price. efficiency: share of the peaks that roofline estimates assume,
    0..1. epochs, samples, tokens, flops (FLOP), hbm_bytes (B): of the job. machine and all other arguments: the
    job's, as of project(). Returns a Table: instance_type, instances, cores, sequences_per_step, seconds (s),
    on_demand, reserved_1y, reserved_3y, spot, sagemaker, per_epoch, ... (US dollars), basis."""
    from trnsim._errors import Error

    if (run is None) == (seconds is None):
        raise Error("trnsim.cost", "has no job to price" if run is None else "has both a run folder and `seconds`",
                    "give a run folder, or `seconds` and `instance_type`")
    work = {name: settings.pop(name) for name in _WORK if name in settings}
    counts = [instances] if isinstance(instances, int) else None if instances is None else _to_list(instances)
    common = {"instances": counts, "efficiency": efficiency, "prices": prices, **work}
    if run is not None:
        if instance_type is not None:
            settings["instance_type"] = instance_type
        folder = os.path.abspath(run.folder) if isinstance(run, Run) else _text(run)  # a Run is no workload's name
        return Table(_ask("cost", folder=folder, **common, **_arguments(settings, machine)))
    if unknown := sorted([*settings, *([] if machine is None else ["machine"])]):
        raise TypeError(f"cost() got an unexpected keyword argument '{unknown[0]}' beside `seconds`")
    return Table(_ask("cost", seconds=seconds, instance_type=instance_type or "trn1.2xlarge", **common))


def open(folder):
    """Returns the Run stored in a folder by run() or the command line."""
    return Run(folder)


def list(what):
    """Returns a Table of a registry: "workloads", "models", "machines", "stacks", "numerics", "passes", "isa",
    "ops", "params"."""
    return Table(_ask("list", what=what))


def parameters(machine="trn1.2xlarge", prefix="", set=None):
    """Returns a Table of every parameter of a machine with its unit, text and source; `set`: {parameter: value}
    to change."""
    if not isinstance(set, (dict, type(None))):
        raise TypeError(f"set: a dict of a parameter's name to its value, not {type(set).__name__}")
    return Table(_ask("parameters", machine=_text(machine), prefix=prefix,
                      set=[f"{key}={_text(value)}" for key, value in (set or {}).items()]))


def tokenize(text, vocab, max_length=0):
    """Returns a dict with `text`, `tokens` and `ids` for a text, or a list of dicts for several; `vocab`: a
    tokenizer's file, or the folder of a model; `max_length`: tokens after which a text is cut, 0: never."""
    one = isinstance(text, str)
    out = _ask("tokenize", texts=[text] if one else [*text], vocab=_text(vocab), max_length=max_length)
    return out[0] if one else out


def verify(programs, reference=False):
    """Runs files of StableHLO programs that check themselves. Returns a Table: file, line, verdict (right,
    wrong, refused), checks that passed, code of neuronx-cc, reason, fix, seconds. With `reference`,
    programs that the compiler refuses are also computed."""
    return Table(_ask("verify", files=_list(programs), reference=bool(reference)))


def consolidate(folder, out, overwrite=False):
    """Merges a sharded checkpoint into one Hugging Face model in `out`; returns a dict with tensors,
    parameters, step, shards."""
    return _ask("consolidate", folder=_text(folder), out=_text(out), overwrite=overwrite)
