"""Answers about kernels, kept by the content of all that they follow from."""
import ast
import hashlib
import json
import os

import trnsim
from trnsim import _core


def folder():
    """Where they are: below TRNSIM_CACHE, or the user's folder of caches."""
    base = os.environ.get("TRNSIM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "trnsim")
    return os.path.join(base, "nki")


def _digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _imported(path, seen):
    """The contents of a script and of the modules beside it that it imports."""
    if path in seen:
        return
    seen[path] = _digest(path)
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names = [n.name for n in node.names] if isinstance(node, ast.Import) else \
            [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            beside = os.path.join(os.path.dirname(path), *name.split(".")) + ".py"
            if name and os.path.isfile(beside):
                _imported(beside, seen)


_own = []


def _library():
    """The library itself: an answer of another build is none of this one."""
    if not _own:
        parts = [_digest(_core.__file__)]
        root = os.path.dirname(os.path.abspath(__file__))
        for base, folders, files in os.walk(root):
            folders.sort()
            parts += [_digest(os.path.join(base, f)) for f in sorted(files) if f.endswith(".py")]
        _own.append(hashlib.sha256("".join(parts).encode()).hexdigest())
    return _own[0]


def text_of(task):
    """The contents of a candidate and of its inputs."""
    seen = {}
    for path in (task["candidate"], task["inputs"]):
        if isinstance(path, (str, os.PathLike)):
            _imported(os.path.abspath(path), seen)
    return sorted(seen.values())


def key_of(task):
    """The name of the answer to a task."""
    parts = {k: task[k] for k in ("machine", "changes", "passes", "numbers", "parameters")}
    parts |= {"texts": text_of(task), "against": task.get("against", ""), "library": _library(),
              "version": trnsim.__version__}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def find(key):
    """The kept answer, or None."""
    try:
        with open(os.path.join(folder(), key + ".json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def keep(key, answer):
    """Keeps an answer. A folder that cannot be written keeps none."""
    try:
        os.makedirs(folder(), exist_ok=True)
        _core.write_file(os.path.join(folder(), key + ".json"), json.dumps(answer))
    except (OSError, trnsim.Error):
        pass
