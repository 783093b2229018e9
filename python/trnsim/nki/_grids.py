"""Launch grids, and the cores that their programs run on."""
import math
import operator

import numpy as np

from trnsim.nki._state import Dim, error, state

_LOGICAL = 2  # physical cores of a logical one, the most that run a kernel's programs side by side


def sizes(given, most):
    """The sizes of a launch grid. Each program has an instruction at least, so there are not more of them either."""
    each = given if isinstance(given, tuple) else (given,)
    try:
        grid = tuple(g if isinstance(g, Dim) else operator.index(g) for g in each)
    except TypeError:
        raise error(f"a launch grid of {str(given)[:40]}", "give whole numbers of programs, such as kernel[4] or "
                    "kernel[2, 3]") from None
    if not grid or min(grid) < 1 or math.prod(grid) > most:
        raise error(f"a launch grid of {' x '.join(map(str, grid))[:80]} programs",
                    f"give from 1 to {most} programs in all")
    return grid


def _parts(size):
    """(size, whether it counts cores) of the dimensions that make up an axis; all of the newer dialect count them."""
    return ((int(size), True),) if state.newer else getattr(size, "parts", ((int(size), False),))


def cores(grid):
    """The cores of a logical one that a launch grid names: all programs of the newer dialect, axes of nl.nc."""
    named = math.prod(size for axis in grid for size, counts in _parts(axis) if counts)
    return named if named <= _LOGICAL and state.machine().generation >= 3 else 1


def on_core(grid, core):
    """Whether a program, by its places on the axes of the grid, runs on that core."""
    parts = [part for axis in grid for part in _parts(axis)]
    sizes, counts = [size for size, _ in parts], [counts for _, counts in parts]

    def runs(program):
        places = np.unravel_index(np.ravel_multi_index(program, grid), sizes)
        return np.ravel_multi_index([p for p, c in zip(places, counts) if c],
                                    [s for s, c in zip(sizes, counts) if c]) == core
    return runs
