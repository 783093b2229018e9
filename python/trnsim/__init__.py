"""trnsim: a simulator and performance model of AWS Trainium."""
import os as _os

_share = _os.path.abspath(_os.path.join(_os.path.dirname(__file__), "../../../../share/trnsim"))
if _os.path.isdir(_share):  # installed: the machines' files are below the same prefix
    _os.environ.setdefault("TRNSIM_HOME", _share)

from trnsim._errors import Error, raised  # noqa: E402
from trnsim import _core  # noqa: E402

_core._set_error(raised)
__version__ = _core.version

from trnsim._api import (  # noqa: E402, A004
    ablate, choose, consolidate, cost, generate, list, open, parameters, project, run, search, sweep, tokenize,
    train, validate, verify)
from trnsim._graph import Graph, run_graph  # noqa: E402
from trnsim._results import Answer, Generation, Memory, Projection, Run, Table  # noqa: E402

__all__ = ["Answer", "Error", "Generation", "Graph", "Memory", "Projection", "Run", "Table", "ablate", "choose",
           "consolidate", "cost", "generate", "list", "open", "parameters", "project", "run", "run_graph", "search",
           "sweep", "tokenize", "train", "validate", "verify"]
