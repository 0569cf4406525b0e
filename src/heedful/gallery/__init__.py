"""What is each mechanism good for? A small trained model beside one without it, and its picture.

An entry is imported when it is asked for.
"""

from importlib import import_module

from heedful.errors import choose_from
from heedful.gallery.comparing import Comparison, compare_entry
from heedful.gallery.entry import Entry, Outcome, Published, RealTask

ENTRIES: dict[str, str] = {
    "bahdanau": "heedful.gallery.bahdanau",
    "luong": "heedful.gallery.luong",
    "multihead": "heedful.gallery.multihead",
    "location": "heedful.gallery.location",
    "hierarchical": "heedful.gallery.hierarchical",
    "dual": "heedful.gallery.dual",
    "nested": "heedful.gallery.nested",
    "memory": "heedful.gallery.memory",
    "pointer": "heedful.gallery.pointer",
    "acf": "heedful.gallery.acf",
    "gram": "heedful.gallery.gram",
    "scores": "heedful.gallery.score_functions",
}
"""The entries by name, in the order of the site, each with the module it lives in."""


def entry(name: str) -> Entry:
    """An entry by its name."""
    found: Entry = import_module(ENTRIES[choose_from("gallery entry", name, ENTRIES)]).ENTRY
    return found


__all__ = ["ENTRIES", "Comparison", "Entry", "Outcome", "Published", "RealTask", "compare_entry", "entry"]
