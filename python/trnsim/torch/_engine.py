"""The pending graph, where it is cut, the programs that were made of it, and what the end's report counts."""
import collections
import sys
import time
import traceback

import torch

from trnsim.torch._values import Unsupported, contiguous, element_of

OWN = __file__.rsplit("/", 1)[0]
_engine = None


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
        if not name.startswith(OWN) and "/torch/" not in name and not name.startswith("<"):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Graph:
    """What has to be computed for some values, in order; leaves are values that are there already."""

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
        self.everything = True  # reads cut the whole graph, where no torch_xla is there to mark steps

    def recorded(self, node):
        self.traced += 1

    def explained(self, error, func):
        """One error, with the operator and the script's line."""
        line = next((f"{f.filename}:{f.lineno}" for f in reversed(traceback.extract_stack())
                     if not f.filename.startswith(OWN) and "/torch/" not in f.filename), "")
        text = str(error).splitlines()[0]
        return NotImplementedError(f"{line}: {func}: {text}" if str(func) not in text else f"{line}: {text}")

    def upload(self, tensor):
        element_of(tensor.dtype)
        return self.backend.upload(tensor)

    def download(self, tensor):
        if not hasattr(tensor, "_base_storage"):
            return tensor
        from trnsim.torch._views import current
        value = current(tensor)
        if value.pending:
            self.cuts["read"] += 1
            self.compute(self.live([value]) if self.everything else [value], "a value is read")
        out = self.backend.download(value.buffer, value.meta)
        return out

    def live(self, first=()):
        """Values that tensors of the script have and that are pending, `first` ahead."""
        from trnsim.torch._tensor import LIVE
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
                raise NotImplementedError(f"{error.args[0]}") from None
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
