"""nki.language of the newer dialect: number formats, whose text is their name, and sizes."""
from trnsim.nki import _dtypes
from trnsim.nki._state import state

float32, tfloat32, float16, bfloat16, float8_e4m3, float8_e5m2, bool_ = map(
    _dtypes.DType, ("float32", "tfloat32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2", "bool_"))
int8, int16, int32, uint8, uint16, uint32 = map(_dtypes.DType, ("int8", "int16", "int32", "uint8", "uint16", "uint32"))


class _TileSize:
    """Sizes of tiles in elements, or bytes of a partition of the machine; its compiler keeps 16 KiB of each of SBUF."""
    pmax = 128
    psum_fmax = psum_bank_fmax = 512
    psum_bank_fmax_bytes, psum_num_banks, psum_min_align = 2048, 8, 4
    gemm_stationary_fmax, gemm_moving_fmax, bn_stats_fmax = 128, 512, 512
    sbuf_min_align = 1
    sbuf_fmax_bytes = total_available_sbuf_size = property(lambda self: state.machine().sbuf_bytes)
    sbuf_fmax = property(lambda self: self.sbuf_fmax_bytes // 4)
    sbuf_size_bytes = property(lambda self: self.pmax * self.sbuf_fmax_bytes)


tile_size = _TileSize()
float8_e4m3fn, float8_e4m3fn_x4, float8_e5m2_x4, float8_e8m0fnu, float4_e2m1fn_x4 = (
    _dtypes.LaterFormat(name) for name in ("float8_e4m3fn", "float8_e4m3fn_x4", "float8_e5m2_x4", "float8_e8m0fnu",
                                           "float4_e2m1fn_x4"))
