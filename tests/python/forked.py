"""Scripts that use PyTorch, run as `python3 -B [-m MODULE | -c TEXT | FILE] ARGUMENT...` would run them, in forks of a
process that has imported it: the import costs a second, and most scripts of these tests less. So does its end: Python
looks for garbage among all objects of PyTorch, and PyTorch takes each of its operators apart. Forks leave out both, but
objects of the script end as ever."""
import array
import atexit
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import runpy
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types

HEADER = struct.Struct("!Q")
LOCK = threading.Lock()


def receive(channel, size):
    out = b""
    while len(out) < size:
        part = channel.recv(size - len(out))
        if not part:
            raise EOFError
        out += part
    return out


# ---- in the test ----

class Server:
    """The process that forks. It ends when the test's end of the channel closes."""

    def __init__(self):
        self.channel, other = socket.socketpair()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "-B", __file__, str(other.fileno()), *ALSO]
        self.process = subprocess.Popen(command, env=environment, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL)
        other.close()
        atexit.register(self.end)

    def end(self):
        self.channel.close()
        self.process.wait()

    def ask(self, request, files):
        text = json.dumps(request).encode()
        descriptors = array.array("i", [file.fileno() for file in files])
        self.channel.sendmsg([HEADER.pack(len(text))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        self.channel.sendall(text)
        return struct.unpack("!i", receive(self.channel, 4))[0]


def is_there(module):
    """Whether it could be imported: an import would cost the test itself a second."""
    return importlib.util.find_spec(module) is not None


SERVER = []
ALSO = []  # modules that most scripts of a test import, beside PyTorch


def run(command, cwd=None, env=None):
    """subprocess.run(command, capture_output=True, text=True, check=False), for commands that begin with
    [sys.executable, "-B"]."""
    assert command[:2] == [sys.executable, "-B"], command
    with LOCK, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if not SERVER:
            SERVER.append(Server())
        request = {"arguments": [str(one) for one in command[2:]], "cwd": os.path.abspath(cwd or "."),
                   "env": dict(os.environ if env is None else env)}
        code = SERVER[0].ask(request, (out, err))
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(command, code, *texts)


# ---- in the process that forks ----

def next_request(channel):
    """Serves until a fork has a request of its own to run, or nothing is asked any more: then it is None."""
    while True:
        header, ancillary, _, _ = channel.recvmsg(HEADER.size, socket.CMSG_SPACE(2 * array.array("i").itemsize))
        if not header:
            return None
        descriptors = array.array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        text = receive(channel, HEADER.unpack(header)[0])
        child = os.fork()
        if child == 0:
            channel.close()
            for number, descriptor in enumerate(descriptors, 1):
                os.dup2(descriptor, number)
                os.close(descriptor)
            return json.loads(text)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.sendall(struct.pack("!i", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))


def run_here(request, paths):
    """As Python begins with these arguments."""
    kind, *rest = request["arguments"]
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    first = {"-m": request["cwd"], "-c": ""}.get(kind, os.path.dirname(os.path.abspath(kind)))
    sys.path[:] = [first, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *paths]
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind == "-c":
        text, name, sys.argv = rest[0], "<string>", ["-c", *rest[1:]]
    else:
        with open(kind, "rb") as file:
            text, name, sys.argv = file.read(), kind, [kind, *rest]
        module.__file__ = kind
    exec(compile(text, name, "exec"), module.__dict__)


def end_without_libraries():
    """Ends the process behind Python's own end, except where the libraries count the lines that ran."""
    if "TRNSIM_COVERAGE" in os.environ:
        return
    system = ctypes.CDLL(None)
    system.on_exit(ctypes.cast(system._exit, ctypes.c_void_p), None)


def main():
    paths = sys.path[1:]
    for name in ("torch", *sys.argv[2:]):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    request = next_request(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        end_without_libraries()
        run_here(request, paths)


if __name__ == "__main__":
    main()
