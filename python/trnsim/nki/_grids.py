"""Launch grids, and the cores that their programs run on."""
import math
import operator

import numpy as np

from trnsim.nki._state import error, nc, state

_LOGICAL = 2  # physical cores of a logical one, the most that run a kernel's programs side by side


def sizes(given, most):
    """The sizes of a launch grid. Each program has an instruction at least, so there are not more of them either."""
    each = given if isinstance(given, tuple) else (given,)
    try:
        grid = tuple(g if isinstance(g, nc) else operator.index(g) for g in each)
    except TypeError:
        raise error(f"a launch grid of {str(given)[:40]}", "give whole numbers of programs, such as kernel[4] or "
                    "kernel[2, 3]") from None
    if not grid or min(grid) < 1 or math.prod(grid) > most:
        raise error(f"a launch grid of {' x '.join(map(str, grid))[:80]} programs",
                    f"give from 1 to {most} programs in all")
    return grid


def cores(grid):
    """The cores of a logical one that a launch grid names: all programs of the newer dialect, axes of nl.nc."""
    named = math.prod(size for size in grid if state.newer or isinstance(size, nc))
    return named if named <= _LOGICAL and state.machine().generation >= 3 else 1


def on_core(grid, core):
    """Whether a program, by its places on the axes of the grid, runs on that core."""
    axes = [n for n, size in enumerate(grid) if state.newer or isinstance(size, nc)]
    named = [grid[n] for n in axes]
    return lambda program: np.ravel_multi_index([program[n] for n in axes], named) == core
