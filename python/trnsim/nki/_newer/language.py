"""nki.language of the newer dialect."""
from trnsim.nki._language.types import Buffer as MemoryRegion  # noqa: F401
from trnsim.nki._language.types import hbm, private_hbm, psum, sbuf, shared_hbm  # noqa: F401
from trnsim.nki._newer.types import (  # noqa: F401
    bfloat16, bool_, float4_e2m1fn_x4, float8_e4m3, float8_e4m3fn, float8_e4m3fn_x4, float8_e5m2, float8_e5m2_x4,
    float8_e8m0fnu, float16, float32, int8, int16, int32, tfloat32, tile_size, uint8, uint16, uint32)
from trnsim.nki._dtypes import DType  # noqa: F401
from trnsim.nki._newer.elementwise import OPERATIONS as _OPERATIONS
from trnsim.nki._newer.elementwise import (  # noqa: F401, A004
    abs_max, abs_min, all, average, broadcast_to, bypass, copy, dropout, expand_dims, gather_flattened,
    gelu_apprx_sigmoid_dx, matmul, prelu, rms_norm, softmax, transpose, var, where)
from trnsim.nki._newer.tensors import (  # noqa: F401
    NKIObject, affine_range, device_print, ds, dynamic_range, empty_like, fori_loop, full, is_hbm, is_on_chip, is_psum,
    is_sbuf, load, load_transpose2d, ndarray, no_reorder, num_programs, ones, program_id, program_ndim, rand,
    random_seed, sequential_range, shared_constant, shared_identity_matrix, static_range, store, while_loop, zeros,
    zeros_like)
from trnsim import _core as _c
from trnsim.nki import _strict as _s
from trnsim.nki._newer import _table as _t
from trnsim.nki._state import missing as _missing

globals().update(_OPERATIONS)  # add, exp, sum, ...
_s.guard(globals(), "nl", _s.rows(_t.TEXT))
NkiTensor = _c.View
__getattr__ = _missing("nl", "neuronxcc.nki")
