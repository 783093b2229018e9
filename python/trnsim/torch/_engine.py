"""The pending graph, where it is cut, the programs that were made of it, and what the end's report counts."""
import collections
import contextlib
import itertools
import os
import sys
import sysconfig
import time
import traceback

import torch

from trnsim import _core
from trnsim.torch import _values
from trnsim.torch._environment import settled
from trnsim.torch._values import HOOKS, LIVE, Node, Unsupported, element_of

OWN, PYTORCH = os.path.dirname(__file__) + os.sep, os.path.dirname(torch.__file__) + os.sep
PYTHON, PACKAGES = sysconfig.get_path("stdlib") + os.sep, ("site-packages", "dist-packages")
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
    """The innermost line that is neither ours nor PyTorch's nor the standard library's, below which packages may be."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        library = name.startswith(PYTHON) and not any(part in name for part in PACKAGES)
        if not library and not name.startswith((OWN, PYTORCH, "<")):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def script_trace(error):
    """The traceback of the script's own lines; of an error of its syntax the line alone, which it names itself."""
    frames = traceback.extract_tb(error.__traceback__)
    shown = [f for f in frames if not f.filename.startswith((OWN, "<"))]
    if not shown and not isinstance(error, SyntaxError):
        shown = frames
    head = ["Traceback (most recent call last):\n"] if shown else []
    return "".join(head + traceback.format_list(shown) + traceback.format_exception_only(type(error), error))


GRAPHS = _core._Graphs(_values)


class Graph:
    """The nodes below some values, in order; leaves are values that already exist. Equal keys are equal graphs."""
    count = itertools.count(1)

    def __init__(self, wanted):
        self.wanted = wanted
        self.nodes, self.leaves, self.key = GRAPHS.order(wanted, next(Graph.count))
        self.donated = {}  # a leaf's place: the result that takes its memory
        self.constants = None  # of a traced model: the places of its weights
        self.rows = 1  # so many cores, each with leaves of its own, run it for one process

    @property
    def outs(self):
        """Each result's node by its place, and the number of the node's result."""
        return [(v.node.place, v.index) for v in self.wanted]

    def donate(self, storages):
        """Leaves give their memory to results that take their places in tensors of the script."""
        self.donated, more = GRAPHS.donated(storages, self.leaves, self.wanted)
        self.key += b"donated" + more

    def hold_constant(self, weights):
        """`weights`: ids of the values that belong to a model that was traced; the host only launches its graph."""
        self.constants = tuple(i for i, leaf in enumerate(self.leaves) if id(leaf) in weights)
        self.key += b"constant" + str(self.constants).encode()

    def share(self, others):
        """`others`: the same graph as other cores have it, with their leaves. Errors: Refused, if it is another."""
        for number, other in enumerate(others, 1):
            if other.key != self.key:
                raise Refused(script_line(), f"the model of core {number} has other operators or other constants than "
                              "that of core 0: one program serves all cores, so take a core's number from "
                              "parallel layers, not from Python")
        self.rows = 1 + len(others)
        self.key += b"rows" + str(self.rows).encode() if others else b""

    @property
    def collective(self):
        return any(node.call.kind == "collective" for node in self.nodes)


class Differs(Exception):
    """The graphs that cores bring to be computed together are not the same."""


class Made:
    """A program that was made of a graph, and its runs."""

    def __init__(self, name, graph, cause, line):
        self.name, self.cause, self.line = name, cause, line
        self.calls = [node.call.id for node in graph.nodes]
        self.nodes, self.collective, self.program, self.runs = len(graph.nodes), graph.collective, None, 0
        self.launched, self.apart = graph.constants is not None, False
        self.numerics, self.cast = settled().numerics.removesuffix("+sr"), settled().cast
        self.leaves, self.updated = [leaf.meta.shape for leaf in graph.leaves], set(graph.donated)


class Samples:
    """A metric's: how many, their sum, and the last of them with the seconds since 1970."""
    __slots__ = ("count", "sum", "last")
    KEPT = 1024

    def __init__(self):
        self.count, self.sum, self.last = 0, 0.0, collections.deque(maxlen=self.KEPT)

    def add(self, value):
        self.count, self.sum = self.count + 1, self.sum + value
        self.last.append((time.time(), value))


class Engine:
    def __init__(self, backend):
        self.backend, self.programs = backend, {}  # of Made, by their graphs' keys, in the order of their making
        self.counters, self.cuts = collections.Counter(), collections.Counter()
        self.samples = collections.defaultdict(Samples)  # by torch_xla's names of metrics; seconds are ns there
        self.log, self.reads = [], []  # names of programs as they ran; how many had run before each read
        self.moved = collections.Counter()  # bytes between host and device, by how many programs had run, and the way
        self.untraced, self.marks, self.compile_seconds, self.run_seconds = 0, 0, 0.0, 0.0
        self.rank, self.ranks, self.cores = 0, 1, 0
        self.everything = True  # reads cut the whole graph, where no torch_xla is there to mark steps
        self.knows_torch_xla = False
        self.gathered = None  # the report's figures, of core 0 of several
        self.collectives = []  # their results since the last whole graph: other cores wait for these, read or not
        self.apart, self.in_pieces = set(), False  # keys of graphs that differ from other cores'; one is being computed
        self.compiles_ahead = False  # a traced model's operators are recorded, which no host traces
        self.frozen = ()  # ids of the inputs of a model that is traced
        self.reader = None  # the operator that the host computes just now
        self.copies, self.is_beside = 1, False  # of a traced model on several cores; other cores run it meanwhile

    @property
    def traced(self):
        """Operators recorded: the number of the next node, without those of decompositions and of this question."""
        self.untraced += 1
        return next(Node.count) + 1 - self.untraced

    @contextlib.contextmanager
    def left_to_host(self, name):
        """Around the reads of an operator that the host computes."""
        self.counters[name] += 1
        before, self.reader = self.reader, name
        try:
            yield
        finally:
            self.reader = before

    @contextlib.contextmanager
    def ahead(self):
        self.compiles_ahead = True
        try:
            yield
        finally:
            self.compiles_ahead = False

    @contextlib.contextmanager
    def freezing(self, inputs):
        """A value of these that is read in here is the same in all later calls, and so are branches on it."""
        self.frozen = set(map(id, inputs))
        try:
            yield
        finally:
            self.frozen = ()

    @contextlib.contextmanager
    def beside(self):
        """Other cores compute what runs in here, while the first one computes what has just run: it takes no time."""
        self.is_beside = True
        try:
            yield
        finally:
            self.is_beside = False

    def explained(self, error, func):
        """One error, with the operator and the script's line."""
        if isinstance(error, Refused):
            return error
        text = str(error).splitlines()[0]
        if text.startswith("Could not run"):
            text = f"there is no rule for it here, and in PyTorch {torch.__version__} no kernel of the CPU, which " \
                   "would compute it in the device's place: compute the same by other operators"
        return Refused(script_line(), text if str(func) in text else f"{func}: {text}")

    def upload(self, tensor):
        settled()
        element_of(tensor.dtype)
        if tensor.layout is not torch.strided:
            raise Unsupported(f"tensors of the layout {tensor.layout} cannot be on the device: use dense ones, "
                              "and layers with sparse=False")
        begin = time.perf_counter()
        buffer = self.backend.upload(tensor)
        self.transferred("TransferToServerTime", "OutboundData", begin, tensor)
        return buffer

    def transferred(self, time_name, data_name, begin, tensor):
        self.samples[time_name].add(1e9 * (time.perf_counter() - begin))
        size = tensor.numel() * tensor.element_size()
        self.samples[data_name].add(size)
        self.moved[len(self.log), data_name] += size

    def download(self, tensor):
        if not hasattr(tensor, "_base_storage"):
            return tensor
        value = HOOKS["current"](tensor)
        if self.frozen and any(id(v) in self.frozen for v in (Graph([value]).leaves if value.pending else [value])):
            print(f"warning: {script_line()}: trace(): the model reads a value of its inputs, which stays what it is "
                  "now, as do branches on it", file=sys.stderr)
            self.frozen = ()
        if value.pending:
            self.cuts["read"] += 1
            self.reads.append(len(self.log))
            self.compute(GRAPHS.pending(LIVE.left() if self.everything else [], [value]), "a value is read")
            if self.everything:
                HOOKS["forget_numbers"]()
        if value.buffer is None and value.host is None:
            raise Unsupported("a decomposition reads a value")
        begin = time.perf_counter()
        there = self.backend.download(value.buffer, value.meta)
        self.transferred("TransferFromServerTime", "InboundData", begin, there)
        return there

    def held(self):
        """Metas of the values that are on the device."""
        values = {id(s.value): s.value for s in LIVE if not s.value.pending}
        return [value.meta for value in values.values()]

    def mark_step(self, cause="mark_step"):
        self.marks += 1
        values = GRAPHS.pending(LIVE.left(), [])
        if values:
            self.cuts[cause] += 1
            self.compute(values, cause)
        HOOKS["forget_numbers"]()

    def stepped(self):
        """Behind optimizer.step(): it ends a step where the script cannot, as it knows of no torch_xla."""
        if self.backend.instance_type.startswith("inf"):
            raise Refused(script_line(), f"{self.backend.instance_type} is for inference only: train on trn1 or trn2")
        if self.everything and not self.knows_torch_xla:
            self.mark_step("optimizer.step")

    def compute(self, values, cause, weights=None, others=()):
        """`weights`: of a traced model, as Graph.hold_constant() has them. `others`: values of the same graph on other
        cores, which this process runs, too."""
        values = GRAPHS.pending([], values)
        graph, beside = Graph(values), [Graph(GRAPHS.pending([], other)) for other in others]
        graph.share(beside)
        unread = self.unread(graph) if cause != "a value is read" or self.everything else []
        if unread:
            values += unread
            graph = Graph(values)
        storages = LIVE.left()
        if len(values) > 1:
            graph.donate(storages)
        if weights is not None:
            graph.hold_constant(weights)
            graph.key += settled().cast.encode()
        if self.apart and graph.key in self.apart:
            return self.compute_apart(graph, values, cause)
        made = self.programs.get(graph.key)
        if made is None:
            made = self.make(graph, cause)
        begin = time.perf_counter()
        try:
            results, *more = self.run(made, [graph, *beside])
        except Differs:
            del self.programs[graph.key]
            self.apart.add(graph.key)
            return self.compute_apart(graph, values, cause)
        took = time.perf_counter() - begin
        self.run_seconds += took
        self.samples["ExecuteTime"].add(1e9 * took)
        if not self.is_beside:
            made.runs += 1
            self.log.append(made.name)
        GRAPHS.settle(storages, values, results)
        for other, found in zip(beside, more):
            GRAPHS.settle(storages, other.wanted, found)

    def run(self, made, graphs):
        """The results on each core."""
        if len(graphs) == 1:
            return [self.backend.run(made.program, graphs[0].leaves)]
        return self.backend.run_rows(made.program, [graph.leaves for graph in graphs], made.collective)

    def meet(self):
        """Before cores wait for one another: another one may have read a collective's result that nothing reads here,
        and waits for this core's part of it."""
        if any(value.pending for value in self.collectives):
            self.cuts["cores meet"] += 1
            self.compute(GRAPHS.pending(LIVE.left() if self.everything else [], self.collectives), "cores meet")

    def unread(self, graph):
        """Results of collectives that nothing in a whole graph reads."""
        if not self.collectives:
            return []
        inside = set(map(id, graph.nodes))
        unread = [value for value in self.collectives if value.pending and id(value.node) not in inside]
        self.collectives = []
        return unread

    def compute_apart(self, graph, values, cause):
        """Each collective as a graph of its own, in the order in which the script asked for them: these are the same on
        all cores, where operators around them differ by the core's number."""
        self.cuts["collectives of graphs that differ by core"] += 1
        self.in_pieces = True
        try:
            self.compute_pieces(graph, values, cause)
        finally:
            self.in_pieces = False

    def compute_pieces(self, graph, values, cause):
        known = values + [value for node in graph.nodes for value in node.inputs]
        for node in sorted((n for n in graph.nodes if n.call.kind == "collective"), key=lambda n: n.sequence):
            pending = [value for value in node.inputs if value.pending]
            if pending:
                self.compute(pending, cause)
            same = [value for value in known if value.node is node]
            self.compute(same[:1], cause)
            for value in same[1:]:
                value.buffer, value.node = same[0].buffer, None
        left = [value for value in values if value.pending]
        if left:
            self.compute(left, cause)

    def make(self, graph, cause):
        begin = time.perf_counter()
        made = Made(f"graph{len(self.programs)}", graph, cause, script_line())
        try:
            made.program = self.backend.compile(graph, made.name)
        except Unsupported as error:
            raise Refused(script_line(), str(error)) from None
        made.apart = self.in_pieces
        self.programs[graph.key] = made
        took = time.perf_counter() - begin
        self.compile_seconds += took
        self.samples["CompileTime"].add(1e9 * took)
        return made


def host_scalar(value):
    """A number of the script as a tensor."""
    return torch.tensor(value.host, dtype=value.meta.dtype)
