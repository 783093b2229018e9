"""torch_neuronx.DataParallel: copies of a traced model on several cores, each of which takes a part of the inputs."""
import json
import os
import re
import warnings

import torch

from trnsim import _core
from trnsim.torch._engine import Refused, engine, script_line
from trnsim.torch._environment import cores
from trnsim.torch._recorded import mapped, tensors_of
from trnsim.torch._traced import Batches, TracedModel, without_states


def cores_of(machine):
    rows = json.loads(_core.call("parameters", json.dumps({"machine": machine, "prefix": "chip"}), None, False))
    chip = {row["key"]: row["value"] for row in rows}
    return int(chip["chip.cores"]) * int(chip["chip.count"]) // int(chip["chip.logical"])


def visible():
    """How many cores the process has."""
    running = engine()
    if running.cores or any(map(os.environ.get, ("NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES"))):
        return running.cores or cores()
    return cores_of(running.backend.instance_type)


def chosen(device_ids):
    """How many cores: those that are named, as 1 or "nc:1", else all that the process has."""
    machine = engine().backend.instance_type
    there = cores_of(machine)
    if device_ids is None:
        numbers = list(range(visible()))
    else:
        numbers = [int(re.fullmatch(r"(?:nc:)?(\d+)", str(place))[1]) for place in device_ids]
    if not numbers or len(set(numbers)) < len(numbers) or max(numbers) >= there:
        raise Refused(script_line(), f"DataParallel on the cores {numbers}: {machine} has {there}; name another "
                                     "machine by --instance_type, or fewer cores by device_ids")
    return len(numbers)


class DataParallel(torch.nn.Module):
    """As torch_neuronx's: `model` is one that trace() made; inputs are divided along `dim`, results are joined there.
    With dynamic batching each core takes any number of samples, in parts of the traced size; else the inputs have the
    traced size times the cores. The cores work at the same time: a call takes as long as the largest part."""

    def __init__(self, model, device_ids=None, dim=0, set_dynamic_batching=True):
        super().__init__()
        if not isinstance(model, TracedModel):
            raise TypeError("DataParallel() takes a model that torch_neuronx.trace() made")
        without_states(model, "DataParallel()")
        self.module, self.dim, self.count = model, dim, chosen(device_ids)
        self.num_workers = 2 * self.count  # threads of the host, which are not timed one by one
        self.dynamic = set_dynamic_batching and dim == 0
        if set_dynamic_batching and dim != 0:
            warnings.warn("DataParallel: dynamic batching is for dim=0 alone, and is off")
        running = engine()
        running.copies = max(running.copies, self.count)

    def disable_dynamic_batching(self):
        self.dynamic = False

    def parts(self, inputs):
        """Each core's inputs."""
        sizes = {t.shape[self.dim] for t in inputs}
        traced = {shape[self.dim] for shape, _ in self.module._shapes}
        whole = {size * self.count for size in traced}
        if len(sizes) > 1 or not (self.dynamic or sizes == whole):
            raise Refused(script_line(), f"DataParallel: inputs of {sorted(sizes)} along dimension {self.dim} for "
                                         f"{self.count} cores and a model that was traced for {sorted(traced)}")
        return list(zip(*(t.chunk(self.count, self.dim) for t in inputs)))

    def forward(self, *inputs):
        model, running = Batches(self.module) if self.dynamic else self.module, engine()
        first, *others = self.parts(inputs)
        outs = [model(*first)]
        with running.beside():
            outs += [model(*part) for part in others]
        joined = iter([torch.cat(found, self.dim) for found in zip(*map(tensors_of, outs))])
        return mapped(lambda _: next(joined), outs[0])
