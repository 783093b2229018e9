"""The library's only exception type, and command lines whose errors have its form."""
import argparse


class NkiValidationError(Exception):
    """The name under which kernels catch a refused call: nki.isa.NkiValidationError."""


class Error(NkiValidationError):
    """A mistake or a failure: `where` (a file and line, a setting, a tensor), `what` (one sentence), `fix` (one
    imperative sentence). `exit_code` is that of the command line."""

    def __init__(self, where, what, fix, exit_code=2):
        where, what, fix = (text.replace("`set`", "`machine`") for text in (where, what, fix))  # as arguments are named
        super().__init__(where, what, fix)
        self.where, self.what, self.fix, self.exit_code = where, what, fix, exit_code

    def __str__(self):
        return f"{self.where}: {self.what}\n  fix: {self.fix}"


class OutOfBounds(Error, IndexError):
    """An index outside its range; also an IndexError."""


def raised(where, what, fix, exit_code=2):
    """The exception for an error of the library."""
    kind = OutOfBounds if "out of bounds" in what or "is not one of the" in what else Error
    return kind(where, what, fix, exit_code)


def of_host(where, problem):
    """The exception for a file or a process that the host refuses."""
    return Error(problem.filename or where, problem.strerror or str(problem),
                 "name a folder that can be written to, or free space and memory there (TMPDIR: temporary files)")


class Parser(argparse.ArgumentParser):
    """A command line whose mistakes read as those of the other commands."""

    def error(self, message):
        self.exit(2, f"usage error: {self.prog}: {message}\n  fix: see {self.prog} --help\n")
