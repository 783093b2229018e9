"""torch_neuronx.experimental: where traced models are, and the profiler of the machine's software. xla_impl.ops."""
import contextlib
import functools
import os
import re
import sys

import torch

from trnsim.torch._data_parallel import visible
from trnsim.torch._engine import engine
from trnsim.torch._newer import only
from trnsim.torch._traced import traced

TYPES = ("operator", "trace", "system")
TARGETS = ("neuron_profile", "neuron_profile_perfetto", "tensorboard")
OPTIONS = ("port", "ms_duration", "neuron_tensorboard_plugin_dir", "profile_type", "auto_start", "delete_working",
           "traced_only", "target", "output_dir")


@functools.lru_cache(None)
def tell(text):
    """Once."""
    print(f"warning: {text}", file=sys.stderr)


def placed(start, count):
    """Errors: ValueError for cores that the process does not have."""
    there = visible()
    if count == 0 or count < -1 or count > there:
        raise ValueError(f"Invalid NeuronCore count nc_count={count}. NeuronCores available: {there}; -1 is as many as "
                         "the model needs")
    if start < -1 or start + max(count, 1) > there:
        raise ValueError(f"Invalid NeuronCore start_nc={start} for {max(count, 1)} cores. NeuronCores available: "
                         f"{there}; -1 is the one that is used least")
    if count > 1:
        tell(f"a model on {count} cores: its calls are timed one after the other here, as those of one thread are; "
             "torch_neuronx.DataParallel() times cores that work at the same time")


def set_neuron_cores(trace, start_nc=-1, nc_count=-1):
    """Each core computes and takes the same, so a call does not depend on the place."""
    traced(trace, "set_neuron_cores()")
    placed(start_nc, nc_count)


def set_multicore(trace):
    set_neuron_cores(trace, 0, visible())


@contextlib.contextmanager
def neuron_cores_context(start_nc=-1, nc_count=-1):
    placed(start_nc, nc_count)
    yield


def multicore_context():
    return neuron_cores_context(0, visible())


class profile:
    """The block as the profiler's. The machine's files of a profile cannot be made here: the profile is in the files of
    this run, and where it is told."""

    def __init__(self, **options):
        only(options, OPTIONS, "profile")
        kind, target = options.get("profile_type", TYPES[0]), options.get("target", TARGETS[0])
        for name, value, known in (("profile_type", kind, TYPES), ("target", target, TARGETS)):
            if value not in known:
                raise ValueError(f"profile(): {name}={value!r}: give {' or '.join(known)}")
        self.place = options.get("output_dir") or options.get("neuron_tensorboard_plugin_dir", "logs/plugins/neuron")

    def start(self):
        self.began = len(engine().log)

    def stop(self):
        running = engine()
        where = os.path.relpath(running.backend.folder) if running.backend.folder else "the run's folder"
        names = ", ".join(dict.fromkeys(running.log[self.began:])) or "no graph"
        tell(f"profile(): nothing is written to {self.place}: of the machine's profiler there are no files here. "
             f"{names} ran in the block; without --numeric, report.html, run.sqlite and stats.txt in {where} have the "
             "main graph's operators and engines")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


@contextlib.contextmanager
def disable_nrt_load():
    """Models that are loaded in the block are put on their cores later: of that nothing shows."""
    yield


class RmsNorm:
    """torch_neuronx.xla_impl.ops.RmsNorm, which the compiler has as one operation: computed in fp32, in x's type."""

    @staticmethod
    def apply(x, weight, eps, dim):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(dim, keepdim=True) + eps)
        sizes = [1] * x.dim()
        sizes[dim] = -1
        return (wide * weight.float().view(sizes)).to(x.dtype)


def get_platform_target():
    """The simulated machine's chip: trn1, trn2 or inf2. NEURON_PLATFORM_TARGET_OVERRIDE is first."""
    found = re.match(r"trn\d|inf\d", os.path.basename(engine().backend.instance_type))
    chosen = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") or (found and found[0])
    if chosen is None:
        raise RuntimeError(f"get_platform_target(): {engine().backend.instance_type} does not say its chip: set "
                           "NEURON_PLATFORM_TARGET_OVERRIDE")
    return chosen


def tables():
    """{module below torch_neuronx: its names}."""
    places = dict(set_neuron_cores=set_neuron_cores, set_multicore=set_multicore, multicore_context=multicore_context,
                  neuron_cores_context=neuron_cores_context)
    return {"contexts": dict(disable_nrt_load=disable_nrt_load), "experimental": places,
            "experimental.placement": places, "experimental.profiler": dict(profile=profile),
            "utils": dict(get_platform_target=get_platform_target), "xla_impl": {},
            "xla_impl.ops": dict(RmsNorm=RmsNorm)}
