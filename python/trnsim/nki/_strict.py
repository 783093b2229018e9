"""Calls are those of the documentation: each function of the table has its parameters, of the documented kinds."""
import functools
import inspect
import numbers
import re

import numpy as np

from trnsim import _core
from trnsim.nki import _places, _recipes
from trnsim.nki._counted import counted, truth
from trnsim.nki._isa import modes
from trnsim.nki._state import HBM, Error, error, state
from trnsim.nki._unmeant import UNMEANT, told

_View, _Mask, _Index = _core.View, _core.Mask, (_core.Affine, _core.TileIndex)
_COUNTED = (*_Index, _Mask)
_NUMBER = (numbers.Number, np.generic)
# Kinds of parameters by their names: what a value may be, and how an error says it.
_TILE = ((_View,), "a tile")
_EITHER = ((_View, *_NUMBER), "a tile or a number")
_FLAG = ((bool, np.bool_, numbers.Integral), "True or False")
_WHOLE = ((numbers.Integral, np.integer), "a whole number")
_KINDS = {name: _TILE for name in (
    "data", "data0", "data1", "data2", "src", "dst", "stationary", "moving", "on_true_tile", "predicate", "src_buffer",
    "index", "indices", "vals", "segment_ids", "bound0", "bound1", "reduce_res", "on_true", "dst_idx", "condition")}
_KINDS |= {name: _EITHER for name in (
    "x", "y", "operand0", "operand1", "bias", "scale", "initial", "prob", "rate", "imm0", "imm1", "on_false", "value",
    "seed", "fill_value", "w")}
_KINDS |= {name: _FLAG for name in (
    "reverse0", "reverse1", "negate", "keepdims", "transpose_x", "reverse_pred", "is_transpose", "is_moving_onezero",
    "is_stationary_onezero", "reduce_res_negate", "accumulate", "unique_indices")}
_KINDS |= {"mask": ((_Mask, bool, np.bool_), "a comparison of indices"),
           "axis": ((numbers.Integral, tuple, list), "a number, or a tuple of numbers"),
           "num_elem_per_idx": _WHOLE, "num_valid_indices": _WHOLE,
           "engine": ((modes.engine,), "one of nisa.engine"), "reduce_cmd": ((modes.reduce_cmd,), "a nisa.reduce_cmd"),
           "dge_mode": ((modes.dge_mode,), "a nisa.dge_mode"), "oob_mode": ((modes.oob_mode,), "a nisa.oob_mode"),
           "name": ((str,), "a text")}
_COMMANDS = tuple(_KINDS[name] for name in ("engine", "reduce_cmd", "dge_mode", "oob_mode"))
_OPERATIONS = {"op", "op0", "op1", "reduce_op", "comp_op0", "comp_op1", "cmp_op", "dst_rmw_op"}
_OF_NONE = ("operand0",)  # an operation of one operand has none beside data
_LEFT_OPEN = ("engine", "dge_mode")  # None leaves the choice to the compiler, as their `unknown` does
# Where a parameter is of another kind than its name has elsewhere.
_OTHERWISE = {"nl.expand_dims": {"axis"}, "nl.program_id": {"axis"}, "nisa.tensor_copy_predicated": {"src"},
              "nl.empty_like": {"x"}, "nl.zeros_like": {"x"}, "nisa.dma_transpose": {"axis"},
              "nisa.register_move": {"src", "dst"}, "nisa.register_load": {"dst"}, "nisa.register_store": {"src"},
              "nisa.set_rng_seed": {"src"}, "nl.full": {"name"}, "nl.atomic_rmw": set(), "nisa.select_reduce": set(),
              "nisa.range_select": {"bound0", "bound1"}}


class Row:
    """A documented name: its parameters as text, or None where it is no function; engines; the first generation."""

    def __init__(self, line):
        what, *more = (part.strip() for part in line.split(" |"))
        name, sign, rest = what.partition("(")
        self.name, self.parameters = name, rest[:-1] if sign else None
        self.engines = next((m for m in more if m and not (m[0] == "v" and m[1:].isdigit())), "")
        self.first = next((int(m[1:]) for m in more if m[:1] == "v" and m[1:].isdigit()), 2)

    def signature(self):
        """The documented parameters, as inspect has them; defaults as text."""
        scope = _Names()
        return inspect.signature(eval(f"lambda {self.parameters}: None", scope))  # noqa: S307  (our own table)


class _Names(dict):
    """Every name of a default stands for its own text."""

    def __init__(self):
        super().__init__(__builtins__={})

    def __missing__(self, name):
        return _Text(name)


class _Text(str):
    def __getattr__(self, name):
        return _Text(f"{self}.{name}")


def rows(text):
    """The rows of a table, by name."""
    joined = text.strip().replace("\n  ", " ")
    return {row.name: row for row in map(Row, joined.split("\n"))}


def guard(names, prefix, table, newer=False):
    """Wraps the functions of a module that the table documents; `newer`: of the newer dialect, which call others."""
    for name, row in table.items():
        short = name.partition(".")[2]
        function = names.get(short)
        if name.startswith(prefix + ".") and row.parameters and inspect.isfunction(function):
            names[short] = _guarded(name, function, newer)


def _guarded(name, function, newer):
    signature, seen = inspect.signature(function), set()
    skipped = _OTHERWISE.get(name, set())
    required = [p.name for p in signature.parameters.values()
                if p.default is p.empty and _KINDS.get(p.name) in (_TILE, _EITHER) and p.name not in _OF_NONE]
    kept, sums = name in _recipes.KEPT, name == "nisa.nc_matmul" and "dst" in signature.parameters
    operands = _operands(name, signature) if not newer and name.startswith("nl.") else ()
    order = tuple(signature.parameters)

    @functools.wraps(function)
    def call(*args, **named):
        key, trace = None, state.trace
        if operands and any(a.__class__ in _COUNTED for a in (*args, *named.values())):
            args, named = _with_tiles(operands, order, args, named)
        if kept and trace is not None and state.heard is None:
            result = _core.replay(state.recipes, function, args, named, sums, trace)
            if result is not NotImplemented:
                return result
            key = _core.recipe_key(function, args, named, sums, trace)
        kinds = (*map(type, args), *named, *map(type, named.values()))
        if kinds not in seen:
            _check(name, _bound(name, signature, args, named), skipped, required)
            seen.add(kinds)
        try:
            if key is not None and key not in state.recipes:
                return _recipes.called(function, args, named, key)
            result = function(*args, **named)
            if newer and state.lent:
                _places.give_back()
            return result
        except Error as problem:
            raise _of_call(name, problem, _bound(name, signature, args, named)) from None
        except UNMEANT as problem:
            raise told(name, problem) from None
    return call


def _operands(name, signature):
    """The parameters of a function of the language that take numbers of tiles; none: it takes places."""
    if name in ("nl.load", "nl.load_transpose2d"):
        return ()
    operands = tuple(name for name in signature.parameters if name in (
        "condition", "x", "y", "w", "value", "src", "data", "indices"))
    return operands if "condition" not in operands or "x" in operands else ()


def _with_tiles(operands, order, args, named):
    """The arguments, an operand that is an index as the tile of its values, beside a tile in the tile's partitions, and
    a condition of indices as one of 1 and 0: published kernels compare tiles with nl.arange, add it, and choose by
    comparisons."""
    parts = next((a.partitions for a in (*args, *named.values()) if a.__class__ is _View and a.space != HBM), None)

    def tile(name, value):
        if name not in operands or value.__class__ not in _COUNTED:
            return value
        if value.__class__ is _Mask:
            return truth(value, parts) if parts and name == "condition" else value
        return counted(value, parts)
    return tuple(map(tile, (*order, *[""] * len(args)), args)), {key: tile(key, value) for key, value in named.items()}


def _of_call(name, problem, given):
    """The error of an instruction that the call is made of as one of the call: the instruction is in no script, and its
    operands have the names that the call gives them."""
    op, colon, rest = problem.what.partition(": ")
    if colon and op in _core.opcodes:
        names, letters = dict(given), ("a", "b", "c", "dst2")
        for letter, operand in zip(letters, getattr(problem, "operands", ())):
            said = rf"\b{letter}(?= is | has |'s |, |$)"
            own = next((p for p, v in names.items() if p != "dst" and _same_place(v, operand)), None)
            own = own or _of_shape(names, re.search(rf"\b{letter} is \[(\d+), (\d+)\]", rest))
            if own and re.search(said, rest):
                del names[own]
                rest = re.sub(said, own, rest)
                problem.fix = re.sub(rf"(?<=split ){letter}\b", own, problem.fix)
        for alu, own in (("alu0", "op" if "op" in given else "op0"), ("alu1", "op1")):
            rest = rest.replace(f"{alu} of {op}", own)
        problem.what = f"{name if op != name.partition('.')[2] else op}: {rest}"
    return problem


def _of_shape(names, found):
    """The only argument of the shape that an error names: the engine may take it as another operand than the call."""
    own = [p for p, v in names.items() if found and p != "dst" and isinstance(v, _View) and v.space != HBM
           and (v.partitions, v.cols) == tuple(map(int, found.groups()))]
    return own[0] if len(own) == 1 else None


def _same_place(given, operand):
    return all(isinstance(v, _View) for v in (given, operand)) and given.space == operand.space and (
        given.place == operand.place) and given.size == operand.size


def _bound(name, signature, args, named):
    """The arguments by their names. Errors: as Python's, with the function's name."""
    try:
        return signature.bind(*args, **named).arguments
    except TypeError as problem:
        asked = "'dst'" in str(problem) or "too many positional" in str(problem) and name.startswith("nisa.")
        newer = asked and "dst" not in signature.parameters
        raise TypeError(f"{name}() {problem}{_NEWER if newer else ''}") from None


_NEWER = "; a destination (dst) is of the newer dialect, which scripts import as nki: here the result is returned"


def _check(name, arguments, skipped, required):
    for parameter, value in arguments.items():
        if value is None and _KINDS.get(parameter) in _COMMANDS and parameter not in _LEFT_OPEN:
            raise error(f"{name}: {parameter} is None, not {_KINDS[parameter][1]}", "leave it out")
        if parameter in skipped or (value is None and parameter not in required):
            continue
        if parameter in _OPERATIONS:
            if not isinstance(value, str) and not callable(value):
                raise error(f"{name}: {parameter} is {_said(value)}, no operation", "give nl.add, np.add or the like")
            continue
        kinds, words = _KINDS.get(parameter, ((), ""))
        if kinds and not isinstance(value, kinds):
            fix = "make a tile of its values: nisa.iota(index, dtype)" if isinstance(value, _Index) else f"give {words}"
            raise error(f"{name}: {parameter} is {_said(value)}, not {words}", fix)


def _said(value):
    if isinstance(value, (*_Index, _Mask)):
        return "a comparison of indices" if isinstance(value, _Mask) else "an index"
    return type(value).__name__ if not isinstance(value, (str, int, float, bool, type(None))) else repr(value)
