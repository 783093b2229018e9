"""Exceptions that Python raises where an argument is of no kind that a function expects, as errors of the call."""
import os
import traceback

import numpy as np

from trnsim.nki._state import Error, error

UNMEANT = (AttributeError, ValueError, TypeError, LookupError, OverflowError, AssertionError, RuntimeError)
_OWN, _NUMPY = os.path.dirname(__file__), os.path.dirname(np.__file__)


def told(name, problem):
    """The exception as an error of the call, if it is from our lines; one of a function that was passed is its own."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__)]
    last = next((file for file in reversed(files) if not file.startswith(_NUMPY)), "")
    said = str(problem).startswith(f"{name}() ")  # in Python's words, as of any function
    if isinstance(problem, (Error, RecursionError)) or said or not last.startswith(_OWN):
        return problem
    text = str(problem).splitlines()[0][:200]
    why = "" if "incompatible function arguments" in text else f": {text}"  # of our own module, which no script calls
    return error(f"{name}: its arguments do not match{why}", "give those of the documentation")
