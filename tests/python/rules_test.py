"""Rules that Python's sources keep, below python/ and tests/python/: functions of 40 lines, files of 400, lines of 120,
at most 6 parameters, no modules that import each other in a circle, nothing imported that is not used; comments and
docstrings without idioms of a translation (those of C++: tests/base/rules_test.cpp).

Public functions of `SURFACE` have the parameters that are documented elsewhere: those that mirror NKI's by NKI, those
of torch_xla by PyTorch/XLA, those of `import trnsim`, where all but one or two are keywords, in docs/python.md.
"""
import ast
import io
import pathlib
import re
import sys
import tokenize
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
FUNCTION_LINES, FILE_LINES, COLUMNS, PARAMETERS = 40, 400, 120, 6
SURFACE = ("trnsim.nki._language.", "trnsim.nki._isa.", "trnsim.nki._newer.",  # NKI's
           "trnsim.torch._xla", "trnsim.torch._dist",  # torch_xla's and torch.distributed's
           "trnsim.torch._nxd.",  # neuronx_distributed's
           "trnsim._api")
IDIOMS = re.compile(r"(^|[.:;(] )[Ww]hat (?![^.]*\?)|\b(of|for|by|with|than|from|to|in|on|as|or|is|are) what\b(?!-)|"
                    r"(^|[.;:] )Of (?!the \d)|\b([Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body\b|\b[Ww]ho(ever|m)\b|"
                    r"\b(lies?|lay|stands?|stood)\b(?!-| (for|alone)\b)", re.MULTILINE)
REWRITTEN = "trnsim.nki"  # until its sources are rewritten
COMPILED = "trnsim._core"  # the module in C++, which imports none of these


def sources(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def module_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def parameters(function):
    a = function.args
    names = [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs] + [p.arg for p in (a.vararg, a.kwarg) if p]
    return [name for name in names if name not in ("self", "cls")]


def breaches(text, module=""):
    """(line, breach) of one source."""
    lines, tree, found = text.splitlines(), ast.parse(text), []
    if len(lines) > FILE_LINES:
        found.append((len(lines), f"{len(lines)} lines"))
    found += [(i, f"{len(line)} columns") for i, line in enumerate(lines, 1) if len(line) > COLUMNS]
    for function in functions(tree):
        length = function.end_lineno - function.lineno + 1
        if length > FUNCTION_LINES:
            found.append((function.lineno, f"{function.name} has {length} lines"))
        private = function.name.startswith("_") and function.name != "__init__"
        documented = module.startswith(SURFACE) and not private
        if len(parameters(function)) > PARAMETERS and not documented:
            found.append((function.lineno, f"{function.name} has {len(parameters(function))} parameters"))
    return found


def unused(text):
    """Names that are imported and not read; a line with noqa may import for others."""
    lines, tree, imported = text.splitlines(), ast.parse(text), {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "noqa" not in lines[node.lineno - 1]:
            for name in node.names:
                imported[(name.asname or name.name).split(".")[0]] = node.lineno
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return sorted((line, f"{name} is imported and not used") for name, line in imported.items() if name not in read)


def idioms(text):
    """(line, idiom) of comments and docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    prose = [(token.start[0], token.string.lstrip("#: ")) for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            prose.append((node.body[0].lineno, ast.get_docstring(node)))
    return [(line, '"' + idiom[0].strip(" .:;(") + '"') for line, words in prose for idiom in IDIOMS.finditer(words)]


def imports(text, module, modules):
    """The modules of `modules` that a source imports, in functions too."""
    out = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            out |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                out.add(whole if whole in modules else node.module)
    return (out & set(modules)) - {module}


def circle(graph):
    """Modules that import each other, the first once more at the end; empty without such modules."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return []
        path.append(module)
        found = next(filter(None, map(visit, sorted(graph[module]))), [])
        path.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, sorted(graph))), [])


class Rules(unittest.TestCase):
    def test_every_source_keeps_the_form(self):
        found = []
        for path in sources("python", "tests/python"):
            text = path.read_text(encoding="utf-8")
            module = module_of(path) if path.is_relative_to(PACKAGE) else ""
            wrong = breaches(text, module) + unused(text) + ([] if module.startswith(REWRITTEN) else idioms(text))
            found += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in wrong]
        self.assertEqual(found, [])

    def test_no_modules_import_each_other_in_a_circle(self):
        modules = {module_of(path): path.read_text(encoding="utf-8") for path in sources("python")}
        self.assertIn("trnsim.nki.language", modules)
        modules[COMPILED] = ""
        self.assertEqual(circle({m: imports(text, m, modules) for m, text in modules.items()}), [])


class Finds(unittest.TestCase):
    """The rules find planted breaches."""

    def test_long_functions_files_and_lines(self):
        body = "def f():\n" + "    x = 1\n" * 39
        self.assertEqual(breaches(body), [])
        self.assertEqual(breaches(body + "    x = 1\n"), [(1, "f has 41 lines")])
        self.assertEqual(breaches("\n" * 401), [(401, "401 lines")])
        self.assertEqual(breaches("x = '" + "y" * 115 + "'"), [(1, "121 columns")])

    def test_many_parameters_where_nothing_documents_them(self):
        text = "def f(self, a, b, *c, d=1, e=2, f=3, **g):\n    pass\n"
        self.assertEqual(breaches(text), [(1, "f has 7 parameters")])
        self.assertEqual(breaches(text, "trnsim.nki._isa.vector"), [])
        self.assertEqual(len(breaches(text.replace("def f", "def _f"), "trnsim.nki._isa.vector")), 1)

    def test_idioms_of_comments_and_docstrings(self):
        text = 'def f():\n    """What it is. Of each."""\n    return "nobody"  # it lies there, as what-ifs do\n'
        self.assertEqual(sorted(idioms(text)), [(2, '"Of"'), (2, '"What"'), (3, '"lies"')])
        self.assertEqual(idioms('"""What is it? It stands for x."""\n'), [])

    def test_unused_imports(self):
        self.assertEqual(unused("import os\nimport sys  # noqa: F401\nfrom a import b as c, d\nd()\n"),
                         [(1, "os is imported and not used"), (3, "c is imported and not used")])

    def test_circles_through_functions(self):
        modules = {"p": "", "p.a": "from p import b\n", "p.b": "def f():\n    from p.a import x\n",
                   "p.c": "import p.a\n"}
        graph = {m: imports(text, m, modules) for m, text in modules.items()}
        self.assertEqual(circle(graph), ["p.a", "p.b", "p.a"])
        graph["p.b"] = set()
        self.assertEqual(circle(graph), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
