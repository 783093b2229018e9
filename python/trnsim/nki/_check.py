"""Which dialects a script satisfies: its names and calls against both tables, without running it."""
import ast
import json
import os

from trnsim._errors import Error
from trnsim.nki._listing import DIALECTS

_MODULES = {"language": "nl", "isa": "nisa"}


def check(script):
    """{dialect: [(line, what breaks it)]} of a script."""
    if not os.path.isfile(script):
        raise Error(script, "there is no such script", "name a Python file")
    with open(script, encoding="utf-8") as file:
        try:
            tree = ast.parse(file.read())
        except SyntaxError as problem:
            raise Error(f"{script}:{problem.lineno}", f"SyntaxError: {problem.msg}", "correct the script") from None
        except ValueError as problem:  # bytes that are no text
            raise Error(script, f"it is not a script: {problem}", "name a Python file") from None
    names, roots = _imports(tree)
    breaches = {dialect: [] for dialect in DIALECTS}
    for line, root in roots:
        for dialect in DIALECTS:
            if root != dialect:
                breaches[dialect].append((line, f"imports {root}"))
    for node in ast.walk(tree):
        for dialect, table in DIALECTS.items():
            breaches[dialect] += _breaches(node, names, dialect, table)
    return {"script": script, "imports": sorted({root for _, root in roots}),
            "dialects": [d for d in DIALECTS if not [b for b in breaches[d] if not b[1].startswith("imports ")]],
            "breaches": {d: sorted(set(b)) for d, b in breaches.items()}}


def _imports(tree):
    """Local names of nl and nisa, and the (line, root) of each import of NKI."""
    names, roots = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root, module = _split(alias.name)
                if root:
                    roots.append((node.lineno, root))
                    names[alias.asname or alias.name] = _MODULES.get(module)
        elif isinstance(node, ast.ImportFrom) and node.module:
            root, module = _split(node.module)
            if root:
                roots.append((node.lineno, root))
                for alias in node.names:
                    if not module and alias.name in _MODULES:
                        names[alias.asname or alias.name] = _MODULES[alias.name]
    return {k: v for k, v in names.items() if v}, roots


def _split(name):
    """("nki", "language") of nki.language, ("neuronxcc.nki", "") of neuronxcc.nki; empty for others."""
    for root in DIALECTS:
        if name == root or name.startswith(root + "."):
            return root, name[len(root) + 1:]
    return ("", "")


def _breaches(node, names, dialect, table):
    if isinstance(node, ast.Call):
        row = _row(node.func, names, table)
        if row and row.parameters is not None:
            problem = _binding(node, row)
            return [(node.lineno, f"{row.name}: {problem}")] if problem else []
        keywords = [k.arg for k in node.keywords]
        if dialect == "nki" and "mask" in keywords and _row(node.func, names, DIALECTS["neuronxcc.nki"]):
            return [(node.lineno, "mask= is of the older dialect")]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
        name = f"{names[node.value.id]}.{node.attr}"
        others = [d for d, t in DIALECTS.items() if name in t]
        if others and dialect not in others:
            return [(node.lineno, f"{name} is of {' and '.join(others)} alone")]
    return []


def _row(function, names, table):
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in names:
        return table.get(f"{names[function.value.id]}.{function.attr}")
    return None


def _binding(call, row):
    """Why the call does not fit the documented parameters; None when it does, or when only the run says."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    try:
        row.signature().bind(*call.args, **{k.arg: k.value for k in call.keywords})
    except TypeError as problem:
        return str(problem)
    return None


def text(found, form):
    """The answers about scripts, as text or JSON."""
    if form == "json":
        return json.dumps(found, indent=1)
    out = []
    for f in found:
        out.append(f"{f['script']}: {' and '.join(f['dialects']) or 'no dialect'}"
                   + (f", imports {' and '.join(f['imports'])}" if f["imports"] else ", imports no NKI"))
        for dialect, breaches in f["breaches"].items():
            out += [f"  not {dialect}: line {line}: {what}" for line, what in breaches]
    return "\n".join(out)
