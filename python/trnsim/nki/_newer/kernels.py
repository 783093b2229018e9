"""nki.jit and nki.simulate of the newer dialect."""
import contextlib

from trnsim.nki import _jit
from trnsim.nki._state import error

Kernel = _jit.Kernel


def jit(func=None, *, mode=None, platform_target=None, **options):
    """Decorates a kernel. `mode` is ignored, as the documentation says; `platform_target` is of SDK 2.27 and 2.28."""
    if options:
        raise error(f"nki.jit takes no {next(iter(options))}", "decorate the kernel with nki.jit alone")
    if func is None:
        return lambda f: jit(f, platform_target=platform_target)
    with contextlib.suppress(AttributeError):  # of a function that takes no members
        getattr(func, "func", func)._nki_newer = True
    return _jit.jit(func, platform_target=platform_target)


def simulate(kernel):
    """The kernel as a function of NumPy arrays, computed by simulated instructions."""
    return kernel if isinstance(kernel, Kernel) else jit(kernel)
