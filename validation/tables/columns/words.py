"""Shared by all guesses from a text."""

import re


def search(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else ""


PUBLISHERS = [  # the first pattern that a source has decides; a repository's owner otherwise
    (r"aws|nki (?:performance|fused|guide)|nccom", "AWS"), (r"optimum|^hf |huggingface", "Hugging Face"),
    (r"accelopt|nkibench", "zhang677"), (r"community run", "scttfrdmn"), (r"cs149", "CS149")]


def publisher_of(source):
    """Who measured: a company, or the owner of the repository."""
    if source in ("", "-"):
        return ""
    owner = search(r"(?:github |^)([A-Za-z0-9][\w.-]*)/[\w.-]+", source)
    if owner:
        return "AWS" if owner.lower().startswith("aws") else owner
    for pattern, name in PUBLISHERS:
        if re.search(pattern, source.lower()):
            return name
    return search(r"\(([a-z]+)", source) or source.split(",")[0].split("(")[0].strip()
