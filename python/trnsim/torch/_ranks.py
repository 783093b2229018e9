"""Processes of spawn() and of --nproc_per_node: each is a core. A graph with collectives is computed by the parent, for
all cores together, when each of them has brought its inputs; so are objects that cores exchange."""
import ctypes
import multiprocessing
import os
import re
import signal
import sys
import threading
from multiprocessing.connection import wait

from trnsim.torch import _absent, _engine
from trnsim.torch._environment import settled

PR_SET_PDEATHSIG = 1
INTERRUPTED = 130  # exit code of a core's process that Ctrl-C stops


class CoreFailed(RuntimeError):
    """A core's process ended with an error, or waits for ever."""


class Together:
    """A graph that needs all cores, by its text. `kind`: "alone" if it is nothing but a collective."""

    def __init__(self, text, name, kind):
        self.text, self.name, self.kind = text, name, kind


class Shared:
    """The pipe of a core's process to its parent, and its own backend for graphs without collectives."""

    def __init__(self, backend, pipe, ranks):
        self.pipe, backend.ranks = pipe, ranks
        self.compile_alone, self.run_alone, self.backend = backend.compile, backend.run, backend
        backend.compile, backend.run, backend.exchange = self.compile, self.run, self.exchange

    def compile(self, graph, name):
        if not graph.collective or not self.backend.computes:
            return self.compile_alone(graph, name)
        self.backend.keep(self.backend.text(graph, name), name)
        text = self.backend.text(graph, "together")  # cores may have counted different graphs before
        return Together(text, name, "alone" if len(graph.nodes) == 1 else "together")

    def run(self, program, leaves):
        if not isinstance(program, Together):
            return self.run_alone(program, leaves)
        values = [(b.element, b.dims, b.bytes()) for b in self.backend.values(leaves)]
        answer = self.asked(program.kind, program.text, values)
        if answer is None:
            raise _engine.Differs()
        results, refused = answer
        if refused:
            self.backend.refused[program.name] = refused
        return [self.backend.core.Buffer(*item) for item in results]

    def exchange(self, tag, payload):
        """The payload that each core brought under the same tag, by rank. Collectives that nothing has read yet come
        first: another core may have, and waits for them."""
        if _engine.engine().collectives:
            _engine.engine().mark_step(tag)
        return self.asked("exchange", tag, payload)

    def asked(self, kind, key, payload):
        try:
            self.pipe.send((kind, key, payload))
            return self.pipe.recv()
        except (EOFError, OSError):  # the parent has ended, and has told why
            os._exit(3)


def exit_with_parent():
    """A process whose parent dies is no orphan."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        pass  # another system: the pipe ends them at the next collective


class HeldInterrupts:
    """Interrupts of the main thread, which alone gets them, wait until they are released. A signal mask would not hold
    them: another thread takes the signal, and Python raises it in the main thread all the same."""

    def __init__(self):
        self.seen = False
        self.before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None

    def __enter__(self):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.see)
        return self

    def __exit__(self, *_):
        self.release()

    def see(self, *_):
        self.seen = True

    def release(self):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        if self.seen:
            signal.raise_signal(signal.SIGINT)


def environment(rank, ranks):
    """As torchrun sets it."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks),
                      GROUP_RANK="0", ROLE_RANK=str(rank), ROLE_WORLD_SIZE=str(ranks))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")


def child(rank, pipes, job):
    """One core's process: the script's function, and how it ended."""
    exit_with_parent()
    pipe, others = pipes
    for other in others:  # of the parent: else it would not be missed
        other.close()
    fn, args, ranks, held = job
    engine = _engine.engine()
    engine.rank, engine.ranks, engine.programs = rank, ranks, {}
    engine.backend.forked(keeps=rank == 0)
    for stream in (sys.stdout, sys.stderr):  # cores share them: a line is written whole, under PYTHONUNBUFFERED too
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=False)
    Shared(engine.backend, pipe, ranks)
    environment(rank, ranks)
    status = 0
    try:
        held.release()
        fn(rank, *args)
        engine.mark_step("the end")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    except BaseException as error:  # noqa: told by the parent as one error
        pipe.send(("error", _absent.told(error), None))
        os._exit(1)
    ended(engine, rank, status, pipe)


def ended(engine, rank, status, pipe):
    if status:
        pipe.send(("error", f"it ended with exit code {status}", None))
    else:
        if rank == 0 and engine.traced:
            from trnsim.torch import _report
            sys.stdout.flush()
            pipe.send(("figures", _report.gathered(engine), None))
        pipe.send(("end", None, None))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class Ranks:
    """The parent's side."""

    def __init__(self):
        self.engine = _engine.engine()
        self.backend, self.programs, self.processes, self.pipes = self.engine.backend, {}, [], []

    def start(self, fn, args, ranks):
        """Forks them all. An interrupt waits till they are there: one that came between would leave a process that is
        not known."""
        context = multiprocessing.get_context("fork")
        sys.stdout.flush()
        with HeldInterrupts() as held:
            job = (fn, args, ranks, held)
            for rank in range(ranks):
                ours, theirs = context.Pipe()
                self.pipes.append(ours)
                process = context.Process(target=child, args=(rank, (theirs, list(self.pipes)), job))
                process.start()
                theirs.close()
                self.processes.append(process)

    def name(self, rank):
        return f"core {rank} of {len(self.pipes)}"

    def listen(self):
        """Until all have ended. Errors: CoreFailed, of the first core that fails."""
        waiting, left = {}, set(range(len(self.pipes)))
        while left:
            for pipe in wait([self.pipes[r] for r in left if r not in waiting]):
                rank = self.pipes.index(pipe)
                kind, *rest = self.received(pipe, rank)
                if kind in ("together", "alone", "exchange"):
                    waiting[rank] = (kind, *rest)
                elif kind == "error":
                    raise CoreFailed(f"{self.name(rank)} failed: {rest[0].strip()}")
                elif kind == "figures":
                    self.engine.gathered = rest[0]
                else:
                    left.discard(rank)
            if waiting and len(waiting) == len(left):
                waiting = self.meet(waiting, left)

    def received(self, pipe, rank):
        try:
            return pipe.recv()
        except (EOFError, ConnectionResetError):
            self.processes[rank].join()
            code = self.processes[rank].exitcode
            if code in (INTERRUPTED, -signal.SIGINT):  # Python loses an interrupt that comes while a process forks
                raise KeyboardInterrupt from None
            how = f"was ended by signal {-code}" if code < 0 else f"died with exit code {code}"
            raise CoreFailed(f"{self.name(rank)}: its process {how}") from None

    def meet(self, waiting, left):
        """Answers the cores that wait; returns those that go on waiting. Graphs that differ are asked for again, each
        collective alone."""
        kinds = {rank: (kind, key) for rank, (kind, key, _) in waiting.items()}
        gone = [r for r in range(len(self.pipes)) if r not in left]
        first = min(kinds)
        parts = [rank for rank in waiting if kinds[rank][0] == "together"]
        if parts and not gone and len(set(kinds.values())) > 1 and "exchange" not in dict(kinds.values()):
            for rank in parts:
                self.pipes[rank].send(None)
            return {rank: asked for rank, asked in waiting.items() if rank not in parts}
        if gone or len(set(kinds.values())) > 1:
            odd = gone[0] if gone else next(r for r in kinds if kinds[r] != kinds[first])
            what = "has ended" if gone else f"waits in {wanted(*kinds[odd])}"
            raise CoreFailed(f"cores wait for different collectives: core {first} waits in {wanted(*kinds[first])}, "
                             f"core {odd} {what}")
        kind, key = kinds[first]
        payloads = [waiting[r][2] for r in sorted(waiting)]
        answers = [payloads] * len(payloads) if kind == "exchange" else self.computed(key, payloads)
        for pipe, answer in zip(self.pipes, answers):
            pipe.send(answer)
        return {}

    def computed(self, text, rows):
        core = self.backend.core
        if text not in self.programs:
            self.programs[text] = core.Program(text, "collective.mlir", self.backend.instance_type, len(rows),
                                               settled().numerics)
        program = self.programs[text]
        results = program.run(self.backend.cores_of(), [[core.Buffer(*v) for v in row] for row in rows])
        return [([(b.element, b.dims, b.bytes()) for b in row], program.refused) for row in results]

    def stop(self):
        for process in self.processes:
            if process.is_alive():
                process.kill()
        for process in self.processes:
            process.join()


def wanted(kind, key):
    """The graph or the function that a core waits in."""
    if kind == "exchange":
        return key if key.endswith(")") else f"{key}()"
    found = re.findall(r"stablehlo\.(all_reduce|all_gather|reduce_scatter|all_to_all)\b[\s\S]*?: \((.*?)\) ->", key)
    return f"a graph with {', '.join(f'{name} of {types}' for name, types in found)} ({key.count(chr(10))} lines)"


def spawn(fn, args, ranks):
    if ranks == 1:
        environment(0, 1)
        fn(0, *args)
        return
    together = Ranks()
    try:
        together.start(fn, args, ranks)
        together.listen()
    finally:
        together.stop()
