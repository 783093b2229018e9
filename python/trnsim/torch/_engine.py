"""The pending graph, where it is cut, the programs that were made of it, and what the end's report counts."""
import collections
import os
import sys
import time

import torch

from trnsim.torch._values import HOOKS, LIVE, Unsupported, contiguous, element_of

OWN, PYTORCH = os.path.dirname(__file__) + os.sep, os.path.dirname(torch.__file__) + os.sep
_engine = None


class Refused(NotImplementedError):
    """Something that the device does not do, and the line of the script that asks for it."""

    def __init__(self, line, what):
        super().__init__(f"{line}: {what}")


def engine():
    return _engine


def start(backend):
    global _engine
    _engine = Engine(backend)
    return _engine


def script_line():
    """The innermost line that is neither ours nor PyTorch's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((OWN, PYTORCH, "<")):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Graph:
    """The nodes below some values, in order; leaves are values that are there already."""

    def __init__(self, wanted):
        self.nodes, self.leaves, places = [], [], {}
        self.order(wanted)
        position = {id(node): i for i, node in enumerate(self.nodes)}
        key, refs = [], []
        for node in self.nodes:
            inputs = []
            for value in node.inputs:
                if value.pending:
                    inputs.append((position[id(value.node)], value.index))
                else:
                    if id(value) not in places:
                        places[id(value)] = len(self.leaves)
                        self.leaves.append(value)
                    inputs.append(places[id(value)])
            refs.append(inputs)
            key.append((node.call.id, tuple(inputs)))
        self.inputs = refs
        self.outs = [(position[id(v.node)], v.index) for v in wanted]
        self.key = (tuple(key), tuple(self.outs))

    def order(self, wanted):
        """Nodes below the wanted values, each behind those that it reads."""
        done, stack = set(), [v.node for v in reversed(wanted)]
        while stack:
            node = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            below = [v.node for v in node.inputs if v.pending and id(v.node) not in done]
            if below:
                stack.extend(below)
                continue
            done.add(id(node))
            self.nodes.append(node)
            stack.pop()

    @property
    def collective(self):
        return any(node.call.kind == "collective" for node in self.nodes)


class Engine:
    def __init__(self, backend):
        self.backend, self.programs = backend, {}
        self.counters = collections.Counter()
        self.cuts = collections.Counter()
        self.history = []  # of programs: (key, cause, line, nodes)
        self.runs, self.traced, self.marks, self.compile_seconds, self.run_seconds = 0, 0, 0, 0.0, 0.0
        self.rank, self.ranks, self.cores = 0, 1, 2
        self.everything = True  # reads cut the whole graph, where no torch_xla is there to mark steps

    def recorded(self, node):
        self.traced += 1

    def explained(self, error, func):
        """One error, with the operator and the script's line."""
        if isinstance(error, Refused):
            return error
        text = str(error).splitlines()[0]
        return Refused(script_line(), text if str(func) in text else f"{func}: {text}")

    def upload(self, tensor):
        element_of(tensor.dtype)
        return self.backend.upload(tensor)

    def download(self, tensor):
        if not hasattr(tensor, "_base_storage"):
            return tensor
        value = HOOKS["current"](tensor)
        if value.pending:
            self.cuts["read"] += 1
            self.compute(self.live([value]) if self.everything else [value], "a value is read")
        out = self.backend.download(value.buffer, value.meta)
        return out

    def live(self, first=()):
        """Values that tensors of the script have and that are pending, `first` ahead."""
        values = {id(v): v for v in first}
        for storage in list(LIVE):
            if storage.value.pending:
                values[id(storage.value)] = storage.value
        return list(values.values())

    def mark_step(self):
        self.marks += 1
        values = self.live()
        if values:
            self.cuts["mark_step"] += 1
            self.compute(values, "mark_step")

    def compute(self, values, cause):
        values = sorted(values, key=lambda v: (v.node.sequence, v.index))
        graph = Graph(values)
        program = self.programs.get(graph.key)
        if program is None:
            begin = time.perf_counter()
            try:
                program = self.programs[graph.key] = self.backend.compile(graph, f"graph{len(self.programs)}")
            except Unsupported as error:
                raise Refused(script_line(), str(error)) from None
            self.compile_seconds += time.perf_counter() - begin
            self.history.append((graph.key, cause, script_line(), len(graph.nodes)))
        begin = time.perf_counter()
        results = self.backend.run(program, graph.leaves)
        self.run_seconds += time.perf_counter() - begin
        self.runs += 1
        for value, buffer in zip(values, results):
            value.buffer, value.node = buffer, None
            value.meta = contiguous(value.meta.shape, value.meta.dtype) if value.meta is None else value.meta


def host_scalar(value):
    """A number of the script as a tensor."""
    return torch.tensor(value.host, dtype=value.meta.dtype)
