"""nki.jit and nki.simulate of the newer dialect."""
from trnsim.nki import _jit
from trnsim.nki._state import error

Kernel = _jit.Kernel


def jit(func=None, *, mode=None, platform_target=None, **options):
    """Decorates a kernel. `mode` is ignored, as the documentation says."""
    if platform_target is not None:
        raise error("nki.jit takes no platform_target", "choose the machine with --instance_type")
    if options:
        raise error(f"nki.jit takes no {next(iter(options))}", "decorate the kernel with nki.jit alone")
    return Kernel(func) if func is not None else Kernel


def simulate(kernel):
    """The kernel as a function of NumPy arrays, computed by simulated instructions."""
    return kernel if isinstance(kernel, Kernel) else Kernel(kernel)
