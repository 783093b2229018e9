"""The programs of a launch grid: one after the other, or in turns where they meet (sendrecv, core_barrier)."""
import threading

import numpy as np

from trnsim import _core
from trnsim._errors import Error
from trnsim.nki._state import HBM, error, state


class Meets(BaseException):
    """A program meets others: the kernel is traced again, its programs in turns."""


def traced(grid, call, together, chosen=None):
    """The result of the last program. `call` runs the kernel; `together`: in turns, else one after the other; `chosen`
    says of a program whether it runs."""
    programs = [p for p in np.ndindex(*grid) if chosen is None or chosen(p)] if grid else [()]
    if together:
        return _Turns([tuple(map(int, p)) for p in programs], call).run()
    results = None
    for number, program in enumerate(programs):
        if len(programs) > 1:
            state.trace.program(number)
        state.program, state.next_shared, state.turns = tuple(int(i) for i in program), 0, None
        results = call()
    if len(programs) > 1:
        _need_shared(results)
    return results


def given(results, simulated):
    """The results of a program; `simulated`: with those on the chip stored to HBM."""
    return _stored(results) if simulated else results


def _stored(results):
    """The results with those on the chip stored to HBM."""
    if isinstance(results, dict):
        return {k: _stored(v) for k, v in results.items()}
    if isinstance(results, (list, tuple)):
        made = map(_stored, results)
        return type(results)(*made) if hasattr(results, "_fields") else type(results)(made)
    if not isinstance(results, _core.View) or results.space == HBM:
        return results
    from trnsim.nki._language import moves, tensors, types
    out = tensors.ndarray(results.shape, results.dtype, buffer=types.hbm)
    moves.store(out, results)
    return out


def _need_shared(results):
    """Errors: a result in the private HBM of one program, which lacks what the others computed."""
    if isinstance(results, dict):
        results = list(results.values())
    if isinstance(results, (list, tuple)):
        for result in results:
            _need_shared(result)
    elif isinstance(results, _core.View) and results.space == HBM:
        if results.reg not in {v.reg for v in state.shared} | {reg for reg, *_ in state.arrays + state.constants}:
            raise error("a program of the grid returns a tensor in its private HBM, which the others do not write",
                        "declare it with buffer=nl.shared_hbm")


def meet(pipe, given, act, timed):
    """Waits until every program is here; then `act` gets what they gave, by their numbers, once. `timed` adds the
    program's own instructions of the meeting, where those of each core are timed."""
    if state.machine().generation < 3:
        raise error("programs that meet exist from NeuronCore-v3 on", "use a machine with Trn2 (--instance_type)")
    if int(np.prod(state.grid or (1,))) != 2:
        raise error(f"two programs meet, and the launch grid has {int(np.prod(state.grid or (1,)))}",
                    "launch it as kernel[2](...)")
    if state.turns is None:
        raise Meets()
    if state.timed:
        timed()
    state.turns.meet(pipe, given, act)


class _Turns:
    """Each program has a thread; one runs at a time, until it meets the others or ends."""

    def __init__(self, programs, call):
        self.programs, self.call = programs, call
        self.changed, self.turn = threading.Condition(), 0
        self.waiting, self.ended, self.failed, self.results = {}, set(), None, {}
        self.place, self.met = "", 0  # of the last meeting, and how many there were
        self.known = dict(state.__dict__)  # the trace's state, which the running program has; each thread has its own

    def run(self):
        threads = [threading.Thread(target=self._program, args=(n,), daemon=True) for n in range(len(self.programs))]
        for thread in threads:
            thread.start()
        with self.changed:
            self.changed.wait_for(lambda: self.failed or len(self.ended) == len(self.programs))
        if self.failed:
            raise self.failed
        state.__dict__.update(self.known)
        return self.results[len(self.programs) - 1]

    def _program(self, number):
        try:
            self._go_on(number, 0)
            self.results[number] = self.call()
        except BaseException as problem:  # noqa: BLE001  (raised again where the kernel is called)
            self.failed = self.failed or problem
        with self.changed:
            self.ended.add(number)
            self._pass_on()

    def _go_on(self, number, shared):
        """Waits for the program's turn and makes the trace its own."""
        with self.changed:
            self.changed.wait_for(lambda: self.failed or self.turn == number)
        if self.failed:
            raise self.failed
        state.__dict__.clear()
        state.__dict__.update(self.known)
        state.program, state.next_shared, state.turns = self.programs[number], shared, self
        state.trace.program(number)

    def _pass_on(self):
        self.known = dict(state.__dict__)
        left = [n for n in range(len(self.programs)) if n not in self.ended and n not in self.waiting]
        if left:
            self.turn = left[0]
        elif self.waiting and not self.failed:
            self.failed = Error(self.place, "a program waits here for one that has ended",
                                "meet the same number of times in every program")
        self.changed.notify_all()

    def meet(self, pipe, given, act):
        number, shared = self.turn, state.next_shared
        self.waiting[number], self.place = (pipe, given), _core._line()
        if len(self.waiting) == len(self.programs):
            if len({p for p, _ in self.waiting.values()}) > 1:
                raise error("the programs meet in different places", "use the same pipe_id in the same order")
            state.trace.set_beside(state.timed)
            act({n: g for n, (_, g) in self.waiting.items()})
            state.trace.set_beside(False)
            state.trace.programs_met()
            self.met += 1
            self.waiting.clear()
        with self.changed:
            self._pass_on()
        self._go_on(number, shared)
