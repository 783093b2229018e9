"""What a chip would do without a word and wrongly: warnings with the kernel's line."""
import sys

from trnsim import _core
from trnsim.nki._state import HBM, state

_said = set()


def said(doubts, aloud):
    """The doubts, (place, text); `aloud`: each is also printed, once."""
    for doubt in doubts:
        if aloud and doubt not in _said:
            _said.add(doubt)
            print(f"warning: {doubt[0]}: {doubt[1]}", file=sys.stderr)
    return doubts


def unwritten(results, written, func, part=False):
    """Results of the kernel that no instruction writes. `results`: all of them, or `part` of them; `written`: the
    tensors in HBM that one writes."""
    if isinstance(results, dict):
        results = list(results.values())
    if isinstance(results, (list, tuple)):
        return [doubt for r in results for doubt in unwritten(r, written, func, True)]
    if results is None and not part and written and not written & {reg for reg, _, _ in state.arrays}:
        place = f"{func.__code__.co_filename}:{func.__code__.co_firstlineno}"
        return [(place, f"{func.__name__} returns nothing and writes to no argument: what it stores is lost")]
    given = {reg for reg, _, _ in state.arrays} | {reg for reg, _ in state.constants} | written
    if isinstance(results, _core.View) and results.space == HBM and results.size and results.reg not in given:
        place = f"{func.__code__.co_filename}:{func.__code__.co_firstlineno}"
        return [(place, f"{func.__name__} returns a tensor that nothing is written to")]
    return []
