"""Shared by all guesses from a text."""

import re


def search(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else ""
