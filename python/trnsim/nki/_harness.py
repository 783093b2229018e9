"""neuronxcc.starfish.support: how harnesses of published kernels compare arrays, and their types of numbers."""
import numpy as np

from trnsim.nki import _dtypes, _torch
from trnsim.nki._dtypes import bfloat16, float8_e4m3, float8_e5m2  # noqa: F401
from trnsim.nki._language.moves import static_cast  # noqa: F401


def as_native_type(array):
    """The array as one of NumPy's own types: those of fewer bits are float32."""
    array = np.asarray(_torch.to_numpy(array) if _torch.is_tensor(array) else array)
    own = _dtypes.ours(array.dtype)
    return array.view(own).astype(np.float32) if own in (bfloat16, float8_e4m3, float8_e5m2) else array


_ALSO = {"equal_nan": False, "equal_inf": False, "verbose": 0}


def isclose(a, b, *, rtol=1e-5, atol=1e-8, mode="max", **also):
    """Which elements differ by at most atol, and rtol times the greatest element of b (mode "py": that element's);
    `also`: equal_nan, equal_inf and verbose."""
    if set(also) - set(_ALSO):
        raise TypeError(f"isclose() got an unexpected keyword argument '{(set(also) - set(_ALSO)).pop()}'")
    a, b, also = as_native_type(a), as_native_type(b), _ALSO | also
    if a.shape != b.shape or mode not in ("max", "py"):
        raise AssertionError(f"shapes {a.shape} and {b.shape}, mode {mode!r}")
    with np.errstate(invalid="ignore"):
        apart, size = np.abs(a.astype(float) - b.astype(float)), np.abs(b.astype(float))
        if mode == "max":
            size = np.max(size, initial=0.0, where=~np.isnan(size))
        close = (apart <= atol + rtol * size) & np.isfinite(a) & np.isfinite(b)
    if also["equal_inf"]:
        close |= a == b
    if also["equal_nan"]:
        close |= np.isnan(a) & np.isnan(b)
    if also["verbose"] and not close.all():
        print(f"{np.sum(~close)} of {close.size} elements differ, by {np.max(apart[~close])} at most")
    return close


def allclose(a, b, **settings):
    """Whether all elements are close, as isclose has it."""
    return bool(np.all(isclose(a, b, **settings)))
