"""nki.isa: search, gather and what runs on along a row."""
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _masks
from trnsim.nki._dtypes import code
from trnsim.nki._emit import ALU, alu_name, put, tile
from trnsim.nki._isa import modes
from trnsim.nki._language.moves import copy
from trnsim.nki._language.tensors import random_seed
from trnsim.nki._state import error


def max8(*, src, mask=None, dtype=None):
    src = tile(src)
    out = e.result([src.shape[0], 8], code(dtype, src.code))
    kept, to = _masks.searched("max8", src, mask, out)
    put("max8", e.VECTOR, to, kept)
    return out


def nc_find_index8(*, data, vals, mask=None, dtype=None):
    data, vals = tile(data), tile(vals)
    out = e.result([data.shape[0], 8], code(dtype, _dtypes.UINT32))
    kept, to, values = _masks.searched("nc_find_index8", data, mask, out, vals)
    put("find_index8", e.VECTOR, to, kept, values)
    return out


def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None):
    data, vals = tile(data), tile(vals)
    out = e.result(data.shape, code(dtype, data.code))
    mask = e.mask_of(mask)
    kept, values, found = _masks.kept(data, mask, vals, None if dst_idx is None else tile(dst_idx))
    put("match_replace8", e.VECTOR, _masks.kept(out, mask)[0], kept, values, dst2=found, imm=e.number(imm))
    return out


def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None):
    src, index = e.in_sbuf(tile(src_buffer)), tile(index)
    each, n = int(num_elem_per_idx), int(num_valid_indices or 16 * index.cols)
    if each not in (1, 2, 4, 8, 16, 32):
        raise error(f"a gather of {each} elements for an index", "give 1, 2, 4, 8, 16 or 32")
    out = e.result([src.shape[0], n] + ([each] if each > 1 else []), src.code)
    kept, to, places = _masks.kept(src, mask, out, index)
    if kept.cols != src.cols:
        raise error("the mask of a gather leaves out elements that indices may select", "mask partitions only")
    put("local_gather", e.GPSIMD, to, kept, places, imm=e.number(each))
    return out


def nc_n_gather(data, indices, *, mask=None, dtype=None):
    data, indices = e.in_sbuf(tile(data)), e.in_sbuf(tile(indices))
    out = e.result(indices.shape, data.code)
    kept, to, rows = _masks.kept(indices, mask, out, data)
    to = _masks.cut(out, _masks.left(indices, mask)) if kept.cols != indices.cols else to
    put("n_gather", e.GPSIMD, _joined(to), _joined(rows), _joined(kept))
    return out if dtype is None or code(dtype) == data.code else copy(out, dtype=dtype)


def _joined(data):
    """Its elements as one axis."""
    return e.inner(data, 1) if data.ndim > 2 else data


def tensor_scalar_cumulative(*, src, op0, op1, imm0, imm1=None, reduce_cmd=modes.reduce_cmd.reset_reduce, dtype=None,
                             mask=None):
    """Each element: (src op0 imm0) op1 what came before it."""
    data = tile(src)
    out = e.result(data.shape, code(dtype, data.code))
    registers = modes.REGISTERS[reduce_cmd.name if imm1 is None else "load_reduce"]
    put("tensor_scalar_cumulative", e.VECTOR, out, data, e.per_partition(imm0, data), e.per_partition(imm1, data),
        alu0=ALU[alu_name(op0)], alu1=ALU[alu_name(op1)], mask=mask, registers=registers)
    return out


def set_rng_seed(*, src_seeds=None, seed=None):
    random_seed(src_seeds if src_seeds is not None else seed)


def sequence_bounds(*, segment_ids, dtype=None):
    data = tile(segment_ids)
    out = e.result([data.shape[0], 2, data.cols], code(dtype, data.code))
    put("sequence_bounds", e.GPSIMD, out, data)
    return out


def builtin_custom_op(*args, **kwargs):
    raise error("library calls on GpSimdE are not modelled: nothing is published about them",
                "write it with other instructions")
