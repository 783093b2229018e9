"""nki.language: tensors, loops, element-wise operations, reductions. Lowered as the documentation of SDK 2.26 says."""
from trnsim.nki._language.composed import (  # noqa: F401
    all, all_reduce, device_print, dropout, gather_flattened, loop_reduce, matmul, max, mean, min, prod, rms_norm,
    softmax, static_assert, sum, transpose, var)
from trnsim.nki._language.elementwise import (  # noqa: F401
    abs, add, arctan, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil, cos, divide, equal, erf, erf_dx, exp,
    floor, fmod, gelu, gelu_apprx_sigmoid, gelu_apprx_tanh, gelu_dx, greater, greater_equal, invert, left_shift, less,
    less_equal, log, logical_and, logical_not, logical_or, logical_xor, maximum, minimum, mish, mod, multiply,
    negative, not_equal, power, reciprocal, relu, right_shift, rsqrt, sigmoid, sign, silu, silu_dx, sin, softplus,
    sqrt, square, subtract, tan, tanh, trunc, where)
from trnsim.nki._language.indices import (  # noqa: F401
    Grid, ParDim, affine_range, arange, ds, mgrid, nc, num_programs, par_dim, program_id, program_ndim,
    sequential_range, spmd_dim, static_range)
from trnsim.nki._language.moves import (  # noqa: F401
    atomic_rmw, broadcast_to, copy, expand_dims, load, load_transpose2d, static_cast, store)
from trnsim.nki._language.tensors import (  # noqa: F401
    empty_like, full, ndarray, ones, rand, random_seed, shared_constant, shared_identity_matrix, zeros, zeros_like)
from trnsim.nki._language.types import (  # noqa: F401
    Buffer, bfloat16, bool_, constants, finfo, float8_e4m3, float8_e5m2, float16, float32, fp32, hbm, int8, int16,
    int32, private_hbm, psum, sbuf, shared_hbm, tfloat32, tile_size, uint8, uint16, uint32)
from trnsim.nki import _strict as _s
from trnsim.nki import _table as _t
from trnsim.nki._state import missing

_s.guard(globals(), "nl", _s.rows(_t.TEXT))
__getattr__ = missing("nl", "nki")
