"""Computes programs by the instructions of simulated cores: each graph's StableHLO is compiled by the compiled module's
lowering, the same that is timed. Where it refuses a graph, the frontend's reference interpreter computes it, and
the report says so."""
import os

import numpy
import torch

from trnsim.torch import _rules  # noqa: registers the rules
from trnsim.torch._engine import host_scalar
from trnsim.torch._environment import settled
from trnsim.torch._lower import program_text
from trnsim.torch._values import DTYPES, element_of


MOST_SCALARS = 256  # numbers that are on the device, beside those of one graph


def buffer_of(core, tensor):
    element = element_of(tensor.dtype)
    tensor = tensor.detach().to(DTYPES[element]).contiguous()
    if tensor.dtype is torch.bfloat16:
        data = tensor.view(torch.int16).numpy()
    else:
        data = tensor.numpy()
    return core.Buffer(element, list(tensor.shape), data)


def tensor_of(buffer, own=True):
    """`own`: it has memory of its own; else it is only read."""
    dtype = DTYPES[buffer.element]
    if not buffer.size:
        return torch.empty(buffer.dims, dtype=dtype)
    data = buffer
    if own or buffer.splat:
        data = numpy.empty(buffer.size, numpy.uint8)
        buffer.copy_to(data)
    return torch.frombuffer(data, dtype=dtype).reshape(buffer.dims)


class Zeros:
    """In the place of values that are not computed."""

    def __init__(self, element, dims):
        self.element, self.dims = element, dims


class Nothing:
    """A program whose results have no elements."""

    def __init__(self, results):
        self.results = results


class Simulated:
    """`folder`: where each program's text is written. `ranks`: cores that compute graphs with collectives."""
    computes = True

    def __init__(self, folder, instance_type, ranks=1):
        from trnsim import _core
        self.core, self.folder, self.instance_type, self.ranks = _core, folder, instance_type, ranks
        self.cores, self.refused, self.scalars = None, {}, {}

    def forked(self, keeps):
        """A process of its own has threads of its own. `keeps`: the texts of its programs are kept, not another's."""
        self.cores, self.refused = None, {}
        self.folder = self.folder if keeps else None

    def exchange(self, tag, payload):
        return [payload]

    def upload(self, tensor):
        return buffer_of(self.core, tensor)

    def download(self, buffer, meta, own=True):
        return tensor_of(buffer, own).to(meta.dtype)

    def compile(self, graph, name):
        text = self.text(graph, name)
        self.keep(text, name)
        metas = [graph.nodes[place].call.outs[index] for place, index in graph.outs]
        if not any(meta.numel for meta in metas) and not graph.collective:
            return Nothing([self.core.Buffer(element_of(m.dtype), list(m.shape), b"") for m in metas])
        rows = graph.rows if graph.collective else 1
        program = self.core.Program(text, name + ".mlir", self.instance_type, rows, settled().numerics)
        if program.refused:
            self.refused[name] = program.refused
        return program

    def text(self, graph, name):
        return program_text(graph, name, max(self.ranks, graph.rows) if graph.collective else 1)

    def path(self, name):
        return os.path.join(self.folder, name + ".mlir")

    def keep(self, text, name):
        if self.folder is None:
            return
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def values(self, leaves):
        return [self.scalar(v) if v.buffer is None else v.buffer for v in leaves]

    def scalar(self, value):
        """A number of the script; optimizers give the same one to every parameter."""
        key = (value.host, value.meta.dtype)
        found = self.scalars.get(key)
        if found is None:
            if len(self.scalars) > MOST_SCALARS:
                self.scalars.clear()
            found = self.scalars[key] = buffer_of(self.core, host_scalar(value))
        return found

    def run(self, program, leaves):
        if isinstance(program, Nothing):
            return program.results
        return program.run(self.cores_of(), [self.values(leaves)])[0]

    def run_rows(self, program, rows, together):
        """The results of each core of a process that runs several. `together`: they talk to one another."""
        if together and not isinstance(program, Nothing):
            return program.run(self.cores_of(), [self.values(leaves) for leaves in rows])
        return [self.run(program, leaves) for leaves in rows]

    def cores_of(self):
        """The cores of this process, with the seed that its environment names."""
        if self.cores is None:
            self.cores = self.core.Cores(settled().seed)
        return self.cores


class Timed(Simulated):
    """Leaves out what programs compute: only their time is asked for."""
    computes = False

    def compile(self, graph, name):
        self.keep(self.text(graph, name), name)
        return [graph.nodes[place].call.outs[index] for place, index in graph.outs]

    def run(self, program, leaves):
        return [Zeros(element_of(meta.dtype), list(meta.shape)) for meta in program]

    def run_rows(self, program, rows, together):
        return [self.run(program, leaves) for leaves in rows]

    def download(self, buffer, meta, own=True):
        if not isinstance(buffer, Zeros):
            return super().download(buffer, meta, own)
        from trnsim.torch._engine import Refused, engine, script_line
        by = engine().reader
        raise Refused(script_line(), f"{by} is left to the host, which reads its operands, but --timed computes no "
                      "values: leave out --timed, or compute the same by other operators" if by else
                      "this value is read, but --timed computes none: leave out --timed")
