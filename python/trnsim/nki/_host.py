"""Names of torch_xla, torch_neuronx and jax_neuronx, as far as scripts around kernels use them: their PyTorch or JAX
runs on the host."""
import functools
import os
import sys
import types

import numpy as np

from trnsim.nki._state import error, state


def _device(*_, **__):
    import torch
    return torch.device("cpu")


def _nothing(*_, **__):
    return None


def _always(value):
    return lambda *_, **__: value


def _jitted(*args, **named):
    from trnsim.nki import _jit
    return _jit.jit(*args, **named)


def _kernel(kernel):
    return kernel


def _operator(*args, **named):
    from trnsim.nki import _custom_op
    return _custom_op.nki_op(*args, **named)


def _platform():
    return f"trn{state.machine().generation - 1}"


def _logical():
    return os.environ.get("NEURON_LOGICAL_NC_CONFIG", "1" if state.machine().generation < 3 else "2")


def _nki_call(kernel, *args, out_shape, grid=()):
    """A kernel whose last parameters are its results, of the shapes and types in `out_shape`."""
    from trnsim.nki import _jit
    bound = kernel if isinstance(kernel, functools.partial) else functools.partial(kernel)
    own = bound.func if isinstance(bound.func, _jit.Kernel) else _jit.jit(bound.func)
    several = isinstance(out_shape, (list, tuple))
    out = [np.zeros(like.shape, like.dtype) for like in (out_shape if several else [out_shape])]
    (own[grid] if grid else own)(*bound.args, *args, *out, **bound.keywords)
    return type(out_shape)(out) if several else out[0]


_MODEL = {"xla_device": _device, "mark_step": _nothing, "wait_device_ops": _nothing, "rendezvous": _nothing,
          "get_ordinal": _always(0), "get_local_ordinal": _always(0), "xrt_world_size": _always(1),
          "is_master_ordinal": _always(True), "master_print": print, "set_rng_state": _nothing}
_RUNTIME = {"device_type": _always("NEURON"), "world_size": _always(1), "global_ordinal": _always(0),
            "local_ordinal": _always(0), "set_device_type": _nothing}
_OPERATORS = {"wrap_nki": _kernel, "nki_op": _operator}
_MODULES = {"torch_xla": {"device": _device, "sync": _nothing, "step": _nothing, "__version__": "2.8.0+trnsim"},
            "torch_xla.core": {}, "torch_xla.core.xla_model": _MODEL, "torch_xla.runtime": _RUNTIME,
            "torch_neuronx": {"nki_jit": _jitted, "synchronize": _nothing, **_OPERATORS},
            "torch_neuronx.nki_hop": _OPERATORS,
            "torch_neuronx.utils": {"get_platform_target": _platform, "get_logical_neuron_cores": _logical},
            "libtorch_neuronx_lite": {}, "libtorch_neuronx_lite._compiler": {"nki_op": _operator},
            "libtorch_neuronx_lite.nki": {}, "libtorch_neuronx_lite.nki.nki_hop": _OPERATORS,
            "torch_neuronx.xla_impl": {},
            "torch_neuronx.xla_impl.ops": {"nki_jit": _jitted}, "jax_neuronx": {"nki_call": _nki_call}}


def known(name):
    return name in _MODULES and "trnsim.torch" not in sys.modules  # which has a torch_xla of its own


def module(name):
    out = types.ModuleType(name)
    out.__path__ = []
    for key, value in _MODULES[name].items():
        setattr(out, key, value)

    def missing(key):
        if key.startswith("__") or f"{name}.{key}" in _MODULES:
            raise AttributeError(key)
        host = "JAX" if name.startswith("jax") else "PyTorch"
        raise error(f"{name}.{key}: {host} runs on the host here, the kernels alone are simulated",
                    "no verb runs both a kernel and operators on the device: leave the kernel with its inputs on the "
                    "host in a file for `trnsim nki`, and train in another by `trnsim torch`")
    out.__getattr__ = missing
    return out
