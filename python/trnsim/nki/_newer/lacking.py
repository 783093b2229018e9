"""nki.isa of the newer dialect: what these chips lack. Each is refused with its reason."""
from trnsim.nki._newer.modes import oob_mode as _oob  # noqa: F401
from trnsim.nki._newer.modes import reduce_cmd as commands
from trnsim.nki._state import error

_V4 = "NeuronCore-v4 has it, v2 and v3 do not"
REASONS = {"activate2": _V4, "exponential": _V4, "nc_matmul_mx": _V4, "quantize_mx": _V4, "rand2": _V4}


def _refuse(name):
    raise error(f"nisa.{name}: {REASONS[name]}", "use other instructions (trnsim nki --list)")


def activate2(dst, op, data, imm0, imm1, op0, op1, relu_param=0.0, reverse0=False, reverse1=False, reduce_op=None,
              reduce_res=None, reduce_cmd=commands.idle, name=None):
    _refuse("activate2")


def exponential(dst, src, max_value=0.0, reduce_res=None, reduce_cmd=commands.idle, reduce_init=0.0, name=None):
    _refuse("exponential")


def nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale, tile_position=None, tile_size=None,
                 accumulate=None, name=None):
    _refuse("nc_matmul_mx")


def quantize_mx(dst, src, dst_scale, name=None):
    _refuse("quantize_mx")


def rand2(dst, min, max, name=None):
    _refuse("rand2")
