"""trnsim: a simulator and performance model of AWS Trainium."""
from trnsim._errors import Error
from trnsim import _core

_core._set_error(Error)
__version__ = _core.version
