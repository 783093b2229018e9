"""nki.isa of the newer dialect: instructions that write to `dst`."""
from trnsim.nki._isa.modes import (  # noqa: F401
    get_nc_version, gpsimd_engine, scalar_engine, tensor_engine, unknown_engine, vector_engine)
from trnsim.nki._newer.arithmetic import (  # noqa: F401
    activation, activation_reduce, affine_select, bn_aggr, bn_stats, dropout, iota, local_gather, max8, nc_find_index8,
    nc_match_replace8, nc_n_gather, rand_get_state, rand_set_state, range_select, reciprocal, rng, scalar_tensor_tensor,
    select_reduce,
    sequence_bounds, set_rng_seed, tensor_copy_predicated, tensor_partition_reduce, tensor_reduce, tensor_scalar,
    tensor_scalar_cumulative, tensor_scalar_reduce, tensor_tensor, tensor_tensor_scan)
from trnsim.nki._newer.emit import NkiInstruction, dependency  # noqa: F401
from trnsim.nki._newer.lacking import activate2, exponential, nc_matmul_mx, quantize_mx, rand2  # noqa: F401
from trnsim.nki._newer.meetings import core_barrier, sendrecv  # noqa: F401
from trnsim.nki._newer.modes import (  # noqa: F401
    NkiValidationError, dge_mode, dma_engine, engine, matmul_perf_mode, nc_version, oob_mode, reduce_cmd)
from trnsim.nki._newer.moves import (  # noqa: F401
    dma_compute, dma_copy, dma_transpose, memset, nc_matmul, nc_stream_shuffle, nc_transpose, tensor_copy)
from trnsim.nki._newer.search import nonzero_with_count  # noqa: F401
from trnsim.nki._newer.registers import (  # noqa: F401
    VirtualRegister, register_alloc, register_load, register_move, register_store)
from trnsim.nki._newer.topk import topk  # noqa: F401
from trnsim.nki import _strict as _s
from trnsim.nki._newer import _table as _t
from trnsim.nki._newer import earlier as _earlier
from trnsim.nki._state import missing

_missing = missing("nisa", "neuronxcc.nki")


def get_nc_sub_version():
    """The revision of the chip: the first."""
    return 0


_s.guard(globals(), "nisa", _s.rows(_t.TEXT), True)
_earlier.accept(globals())


def __getattr__(name):
    return tensor_copy if name in _earlier.REMOVED else _missing(name)
