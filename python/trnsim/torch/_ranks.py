"""Processes of spawn(): each is a core. A graph with collectives is computed by the parent, for all cores together,
when each of them has brought its inputs."""
import multiprocessing
import os
import sys
import traceback
from multiprocessing.connection import wait

from trnsim.torch import _engine
from trnsim.torch._backend import Interpreted
from trnsim.torch._lower import program_text


class Together:
    """A graph that needs all cores, by its text."""

    def __init__(self, text):
        self.text = text


class Rank(Interpreted):
    """The backend of one core."""

    def __init__(self, folder, pipe, ranks):
        super().__init__(folder)
        self.pipe, self.ranks = pipe, ranks

    def compile(self, graph, name):
        if not graph.collective:
            return super().compile(graph, name)
        text = program_text(graph, name, self.ranks)
        self.keep(text, name)
        return Together(text)

    def run(self, program, leaves):
        if not isinstance(program, Together):
            return super().run(program, leaves)
        values = [(b.element, b.dims, b.bytes()) for b in self.values(leaves)]
        self.pipe.send(("together", program.text, values))
        kind, answer = self.pipe.recv()
        if kind != "results":
            raise SystemExit(3)
        return [self.core.Buffer(*item) for item in answer]


def child(rank, pipe, job):
    """One core's process: the script's function, and how it ended."""
    fn, args, ranks, folder = job
    engine = _engine.engine()
    engine.rank, engine.ranks = rank, ranks
    engine.backend, engine.programs = Rank(folder if rank == 0 else None, pipe, ranks), {}
    status = 0
    try:
        fn(rank, *args)
        engine.mark_step()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: told by the parent as one error
        pipe.send(("error", traceback.format_exc()))
        status = 1
    if rank == 0 and not status:
        from trnsim.torch._report import text
        print(text(engine), file=sys.stderr)
    sys.stdout.flush()
    pipe.send(("end", status))
    os._exit(status)


class Ranks:
    """The parent's side."""

    def __init__(self, fn, args, ranks):
        context = multiprocessing.get_context("fork")
        self.backend, self.programs, self.processes, self.pipes = _engine.engine().backend, {}, [], []
        job = (fn, args, ranks, self.backend.folder)
        for rank in range(ranks):
            ours, theirs = context.Pipe()
            process = context.Process(target=child, args=(rank, theirs, job))
            process.start()
            theirs.close()
            self.processes.append(process)
            self.pipes.append(ours)

    def listen(self):
        """Until all have ended. Errors: RuntimeError of the first core that fails."""
        waiting, left = {}, set(range(len(self.pipes)))
        while left:
            for pipe in wait([self.pipes[r] for r in left if r not in waiting]):
                rank = self.pipes.index(pipe)
                kind, *rest = self.received(pipe, rank)
                if kind == "together":
                    waiting[rank] = rest
                elif kind == "error":
                    raise RuntimeError(f"core {rank} of {len(self.pipes)} failed:\n{rest[0]}")
                else:
                    left.discard(rank)
            if waiting and len(waiting) == len(left):
                self.meet(waiting, left)
                waiting = {}

    def received(self, pipe, rank):
        try:
            return pipe.recv()
        except EOFError:
            self.processes[rank].join()
            code = self.processes[rank].exitcode
            raise RuntimeError(f"core {rank} of {len(self.pipes)}: its process died with exit code {code}") from None

    def meet(self, waiting, left):
        texts = {rank: text for rank, (text, _) in waiting.items()}
        gone = [r for r in range(len(self.pipes)) if r not in left]
        if gone or len(set(texts.values())) > 1:
            odd = gone or [r for r in texts if texts[r] != texts[min(texts)]]
            raise RuntimeError(f"cores wait for different collectives: core {min(texts)} waits in a graph that core "
                               f"{odd[0]} {'never comes to, as it has ended' if gone else 'does not have'}")
        text, core = texts[0], self.backend.core
        if text not in self.programs:
            self.programs[text] = core.Program(text, "collective.mlir")
        inputs = [[core.Buffer(*v) for v in waiting[r][1]] for r in sorted(waiting)]
        for rank, results in enumerate(self.programs[text].run_together(inputs)):
            self.pipes[rank].send(("results", [(b.element, b.dims, b.bytes()) for b in results]))

    def stop(self):
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join()


def spawn(fn, args, ranks):
    if ranks == 1:
        fn(0, *args)
        return
    ranks = Ranks(fn, args, ranks)
    try:
        ranks.listen()
    finally:
        ranks.stop()
