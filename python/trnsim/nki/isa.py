"""nki.isa: the instructions of a NeuronCore-v2."""
from trnsim.nki._isa.gather import (  # noqa: F401
    builtin_custom_op, local_gather, max8, nc_find_index8, nc_match_replace8, nc_n_gather, sequence_bounds,
    set_rng_seed, tensor_scalar_cumulative)
from trnsim.nki._isa.matrix import nc_matmul, nc_transpose  # noqa: F401
from trnsim.nki._isa.modes import (  # noqa: F401
    constants, dge_mode, engine, get_nc_version, gpsimd_engine, nc_version, oob_mode, reduce_cmd, scalar_engine,
    sync_engine, tensor_engine, unknown_engine, vector_engine)
from trnsim.nki._isa.moves import (  # noqa: F401
    affine_select, dma_copy, dma_transpose, iota, memset, nc_stream_shuffle, range_select, select_reduce, tensor_copy,
    tensor_copy_dynamic_dst, tensor_copy_dynamic_src, tensor_copy_predicated)
from trnsim.nki._isa.vector import (  # noqa: F401
    activation, activation_reduce, bn_aggr, bn_stats, dropout, reciprocal, scalar_tensor_tensor,
    tensor_partition_reduce, tensor_reduce, tensor_scalar, tensor_scalar_reduce, tensor_tensor, tensor_tensor_scan)
from trnsim.nki import _strict as _s
from trnsim.nki import _table as _t
from trnsim.nki._state import missing

_s.guard(globals(), "nisa", _s.rows(_t.TEXT))
__getattr__ = missing("nisa", "nki")
