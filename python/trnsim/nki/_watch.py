"""How long a trace may take."""
import os
import signal
import threading

from trnsim._errors import Error

_PACKAGE, _LIBRARY = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.__file__)


class Watch:
    """Ends a trace that never ends, at the line where it is."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.on = threading.current_thread() is threading.main_thread()
        if self.on:
            self.before = signal.signal(signal.SIGALRM, self.alarm)
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def alarm(self, _, frame):
        while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, _LIBRARY, "<frozen")):
            frame = frame.f_back
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "kernel"
        raise Error(place, f"the kernel is still being traced after {self.seconds:g} s: it may never end",
                    "check its loops, or raise TRNSIM_NKI_SECONDS")

    def __exit__(self, *_):
        if self.on:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
