"""Payload files of artifacts, see `recsys.storage`."""

import json

from recsys import storage


def payload(document, name):
    """Return a payload by its name without hash. The document may be damaged later, but not yet."""
    files = json.loads(document.read_bytes())["files"]
    return next(document.with_name(file) for file in files if storage.HASH.sub("", file) == name)


def without_hashes(document):
    """Return the content of a document as it was written."""
    content = storage.read_document(document)
    return {name: value for name, value in content.items() if name not in ("sha256", "files")}
