"""Calls as SDK 2.27 and 2.28 (NKI 0.2.0) write them, where 0.3.0 changed them and no call can mean both.
Source: AWS Neuron docs, NKI migration guides, "Migrating from NKI 0.2.0 to NKI 0.3.0"."""
import functools

from trnsim.nki import _emit as e
from trnsim.nki._newer import modes


def _dma_copy(call, args, named):
    """dst_rmw_op makes it a dma_compute; modes may be numbers."""
    named = dict(named)
    op = named.pop("dst_rmw_op", None)
    unique = named.pop("unique_indices", True)
    for key, kind in (("dge_mode", modes.dge_mode), ("oob_mode", modes.oob_mode)):
        if isinstance(named.get(key), int):
            named[key] = _member(kind, named[key])
    if op is None:
        return call(*args, **named)
    dst, src = (*args, named.get("dst"), named.get("src"))[:2] if len(args) != 1 else (args[0], named.get("src"))
    from trnsim.nki._newer import moves
    skips = named.get("oob_mode", modes.oob_mode.error)
    return moves.dma_compute(dst, [src, dst], op, unique_indices=unique, oob_mode=skips)


def _member(kind, number):
    return next((m for m in kind if m.value == number), number)


def _dma_compute(call, args, named):
    """(dst, srcs, scales, reduce_op): the scales came first."""
    if len(args) == 4 and (args[2] is None or isinstance(args[2], (list, tuple))):
        args = (args[0], args[1], args[3], args[2])
    elif len(args) == 3 and isinstance(args[2], (list, tuple)):
        args, named = args[:2], named | {"scales": args[2]}
    return call(*args, **named)


def _affine_select(call, args, named):
    """(dst, pattern, offset, channel_multiplier, on_true, on_false): the offset came third."""
    if len(args) >= 5 and e.is_tile(args[4]):
        args, named = (*args[:2], *args[3:]), named | {"offset": args[2]}
    elif len(args) == 4 and "on_true_tile" in named and not e.is_tile(args[3]):
        args, named = (*args[:2], args[3]), named | {"offset": args[2]}
    return call(*args, **named)


def _register_move(call, args, named):
    """The number had the name imm."""
    named = dict(named)
    if "imm" in named:
        named["src"] = named.pop("imm")
    return call(*args, **named)


def _tensor_copy(call, args, named):
    """The `dtype` that the tutorials of 2.27 give: values are converted to the type of `dst` all the same."""
    dtype = named.get("dtype")
    if dtype is not None:
        e.code(dtype)  # a type that there is
    return call(*args, **{key: value for key, value in named.items() if key != "dtype"})


def _sendrecv(call, args, named):
    named = dict(named)
    if "use_gpsimd_dma" in named:
        choice = modes.dma_engine.gpsimd_dma if named.pop("use_gpsimd_dma") else modes.dma_engine.dma
        named["dma_engine"] = choice
    return call(*args, **named)


_FORMS = {"dma_copy": _dma_copy, "dma_compute": _dma_compute, "affine_select": _affine_select,
          "register_move": _register_move, "tensor_copy": _tensor_copy, "sendrecv": _sendrecv}


def accept(names):
    """Wraps the functions of a module that had other parameters."""
    for name, form in _FORMS.items():
        names[name] = _accepting(names[name], form)


def _accepting(call, form):
    @functools.wraps(call)
    def either(*args, **named):
        return form(call, args, named)
    return either


# Of NKI 0.2.0 and 0.3.0: what tensor_copy does with a pattern that has a scalar_offset.
REMOVED = ("tensor_copy_dynamic_src", "tensor_copy_dynamic_dst")
