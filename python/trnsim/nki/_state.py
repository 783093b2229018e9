"""The kernel that is being traced, of each thread."""
import importlib
import math
import numbers
import operator
import re
import threading

from trnsim import _core
from trnsim._errors import Error

SBUF, PSUM, HBM = 1, 2, 3  # isa::Space


class _State(threading.local):
    trace = None       # _core.Trace
    grid = ()          # launch grid
    program = ()       # place in it
    tensors = []       # (view, name, dtype, shape, input) of each HBM register
    shared = []        # tensors in shared HBM, in the order of their creation, which all programs of a grid share
    next_shared = 0
    direct = False     # explicit allocation is ignored
    allocation = None  # whether the kernel places its own tensors, and the line that says so first
    constants = []     # (register, array)
    transposes = True  # transposed loads go over TensorE
    turns = None       # of programs that meet
    timed = False      # programs that meet are traced for their time: each has its instructions of a meeting
    cores = 1          # whose work and memories the machine's one core has
    doubts = []        # (place, text) of what a chip would do wrongly without a word
    loops = []         # the loops of the older dialect that are open: the index of a static one, or None
    placed = {}        # where tensors that loops declare lie, by where they are declared
    peeked = None      # a tensor in HBM through which numbers of the run are asked for
    recipes = {}       # calls that were made before
    heard = None       # the instructions of a call that is made for the first time
    ordered = False    # a block of nl.no_reorder is open
    keeps_order = False  # there was such a block
    descriptors = set()  # (dge_mode, engine) of the kernel's copies and transposes by DMA
    newer = False      # the kernel is of the newer dialect
    prints = None      # what nl.device_print keeps: (prefix, value); None: nothing is printed
    into = None        # where the next instruction writes: `dst` of the newer dialect
    lent = []          # (destination, the tile that the call writes instead) where only the run knows the place


    machine = None     # gives the machine of the command, for what is asked outside of a kernel


state = _State()


def current():
    if state.trace is None:
        raise Error(_core._line(), "a function of the kernel language was called outside of a kernel",
                    "call it in a function that nki.jit decorates")
    return state.trace


class Missing(Error, AttributeError):
    """A function that is asked for and not there: hasattr() still works."""


class Dim(int):
    """An axis of the launch grid that several dimensions make up: `parts` has (size, whether it counts cores) of each,
    the slowest first."""

    def __new__(cls, *sizes):
        parts = [part for size in sizes for part in getattr(size, "parts", ((operator.index(size), False),))]
        made = super().__new__(cls, math.prod(size for size, _ in parts))
        made.parts = tuple(parts)
        return made

    def __mul__(self, other):
        return Dim(self, other) if isinstance(other, numbers.Integral) else NotImplemented

    def __rmul__(self, other):
        return Dim(other, self) if isinstance(other, numbers.Integral) else NotImplemented


class nc(Dim):
    """So many cores in the launch grid."""

    def __new__(cls, size):
        made = int.__new__(cls, size)
        made.parts = ((int(made), True),)
        return made


_TABLES = {"neuronxcc.nki": "trnsim.nki._table", "nki": "trnsim.nki._newer._table"}


def missing(prefix, other):
    """The `__getattr__` of a module of kernel functions; `other`: how scripts import the other dialect."""
    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        table = importlib.import_module(_TABLES[other]).TEXT  # by name: it is needed for an error alone
        if re.search(rf"^{prefix}\.{re.escape(name)}\b", table, re.MULTILINE):
            raise Missing(_core._line(), f"{prefix}.{name} is not supported: it is of the other dialect, {other}",
                          f"import {other}, or write it as this dialect does (trnsim nki --check)")
        raise Missing(_core._line(), f"{prefix}.{name} is not supported",
                      "trnsim nki --list names what is, and why not")
    return get


def error(what, fix):
    return Error(_core._line(), what, fix)
