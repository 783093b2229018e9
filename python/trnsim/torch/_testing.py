"""torch_neuronx.testing: comparisons whose relative tolerance is of the largest number that is expected, as that of the
compiler's own tests is."""
import typing

import torch

# PyTorch's tolerances of two tensors of a type: relative, absolute.
TOLERANCES = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5),
              torch.float64: (1e-7, 1e-7)}


class Summary(typing.NamedTuple):
    allclose: bool
    num_mismatches: int
    max_rel_error: float
    max_abs_error: float
    max_rel_error_index: tuple
    max_abs_error_index: tuple


def neuron_allclose(actual, expected, rtol=None, atol=None):
    """Tolerances that are not given are PyTorch's, of the type that has the fewer bits."""
    if actual.shape != expected.shape:
        raise AssertionError(f"Tensors have different shapes. actual = {actual.shape}, expected = {expected.shape}")
    known = [TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
    relative, absolute = max(known)
    relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    actual, expected = (t.detach().cpu().double() for t in (actual, expected))
    if not actual.numel():
        return Summary(True, 0, 0.0, 0.0, (), ())
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    error = torch.where(same, torch.zeros_like(actual), (actual - expected).abs().nan_to_num(nan=float("inf")))
    largest = max([0.0, *expected[expected.isfinite()].abs().tolist()])
    worst = int(error.argmax())
    place = []
    for size in reversed(error.shape):
        worst, at = divmod(worst, size)
        place.insert(0, at)
    most, bad = error.max().item(), int((error > absolute + relative * largest).sum())
    share = most / largest if largest else most and float("inf")
    return Summary(bad == 0, bad, share, most, tuple(place), tuple(place))


def custom_allclose(expected, actual, atol=None, rtol=None):
    """(whether they are close, the largest error)."""
    found = neuron_allclose(actual, expected, rtol, atol)
    return found.allclose, found.max_abs_error


def assert_close(actual, expected, *, rtol=None, atol=None, check_device=True, check_dtype=True):
    """Compares tensors, or lists, tuples and dictionaries of them. Errors: AssertionError."""
    if isinstance(expected, dict):
        if actual.keys() != expected.keys():
            raise AssertionError(f"keys {sorted(actual)} and {sorted(expected)}")
        actual, expected = [actual[key] for key in expected], list(expected.values())
    if isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"{len(actual)} and {len(expected)} tensors")
        for one, other in zip(actual, expected):
            assert_close(one, other, rtol=rtol, atol=atol, check_device=check_device, check_dtype=check_dtype)
        return
    actual, expected = torch.as_tensor(actual), torch.as_tensor(expected)
    for checked, name in ((check_device, "device"), (check_dtype, "dtype")):
        one, other = getattr(actual, name), getattr(expected, name)
        if checked and one != other:
            raise AssertionError(f"Tensors have different {name}s. actual = {one}, expected = {other}")
    found = neuron_allclose(actual, expected, rtol, atol)
    if not found.allclose:
        raise AssertionError(f"Tensor-likes are not close! {found}")


def tables():
    """{module below torch_neuronx: its names}."""
    known = dict(neuron_allclose=neuron_allclose, custom_allclose=custom_allclose, assert_close=assert_close)
    return {"testing": known, "testing.validation": known}
