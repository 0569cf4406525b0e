"""Which column holds the text, the label and the split: as the user said, or guessed where it is obvious."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.data.scripts import is_spaceless
from heedful.errors import UserError, listed, nearest, shortened

Peek = Callable[[], Mapping[str, Sequence[object]]]  # the first cells of each column that has a name

# The first name of each row wins over the others; of the others there may be only one for the guess to be
# obvious.
KNOWN_NAMES = {
    "text": (
        "text", "sentence", "review", "content", "body", "comment", "document", "message", "tweet", "post",
        "texts", "sentences", "reviews", "review_text", "reviewtext", "review_body", "sms",
    ),
    "label": (
        "label", "sentiment", "class", "target", "stars", "category", "rating", "polarity", "emotion",
        "topic", "intent", "labels", "score", "y", "label_text",
    ),
    "split": ("split", "set", "fold", "partition", "subset", "exp_split"),
}  # fmt: skip

# By these the first rows tell texts from labels where the names of the columns do not.
LEAST_ROWS, LEAST_WORDS, MOST_KINDS = 20, 3, 20

SPLIT_WORDS = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("dev", "develop", "development", "valid", "validation", "val"), "dev"),
    **dict.fromkeys(("test", "testing", "tst"), "test"),
}


@dataclass(frozen=True)
class Columns:
    """The names of the three columns (`split` may be None), and which of them were guessed."""

    text: str
    label: str
    split: str | None
    text_pair: str | None = None  # the second text of a pair, which is never guessed
    guessed: frozenset[str] = frozenset()

    @property
    def roles(self) -> tuple[str, ...]:
        """What the two texts of a pair are called; none where there is one text."""
        return () if self.text_pair is None else (self.text, self.text_pair)

    @property
    def note(self) -> str:
        """One sentence about a guessed text or label (a guessed split still has to be found usable)."""
        roles = [role for role in ("text", "label") if role in self.guessed]
        chosen = ", ".join(f"{role} from column {shortened(getattr(self, role))!r}" for role in roles)
        return (
            f"Guessed: {chosen} (say otherwise with {listed(f'--{role}' for role in roles)})."
            if roles
            else ""
        )


def named_columns(
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    text_pair: str | None = None,
) -> dict[str, str]:
    """The columns that were named, by their role."""
    said = {"text": text, "label": label, "split": split, "text_pair": text_pair}
    return {role: name for role, name in said.items() if name is not None}


def reading_options(
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    text_pair: str | None = None,
    encoding: str | None = None,
    test_share: float | None = None,
) -> dict[str, Any]:
    """All that was said about how to read a file, by name: its columns, its encoding, its share of test."""
    said = {"encoding": encoding, "test_share": test_share}
    return {
        **named_columns(text=text, label=label, split=split, text_pair=text_pair),
        **{name: value for name, value in said.items() if value is not None},
    }


def choose_columns(
    columns: Sequence[str],
    *,
    source: str,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    text_pair: str | None = None,
    peek: Peek | None = None,
) -> Columns:
    """Take the columns the user named and guess the others; refuse where text or label is not obvious.

    `peek` gives the first rows: where no name tells, what is in the columns may.
    """
    said = named_columns(text=text, label=label, split=split, text_pair=text_pair)
    chosen = {role: _check(role, name, columns, source) for role, name in said.items()}
    _refuse_one_column_for_two(chosen, source)
    guessed = frozenset(KNOWN_NAMES) - set(chosen)
    # The split goes first: what it takes is no longer a candidate for being "the only other column".
    for role in ("split", "text", "label"):
        found = _guess(role, columns, taken=chosen.values()) if role in guessed else None
        if found is not None:
            chosen[role] = found
    for role, other in (("text", "label"), ("label", "text")):
        left = [name for name in columns if name and name not in chosen.values()]
        if role not in chosen and other in chosen and len(left) == 1:
            chosen[role] = left[0]
    if peek is not None and not {"text", "label"} <= chosen.keys():
        chosen |= _told_by_content(peek(), chosen)
    for role in ("text", "label"):
        if role not in chosen:
            raise UserError(
                f"{source}: which column holds the {role} is not obvious among {listed(map(repr, columns))}; "
                f"name it with --{role} COLUMN (the first line must name the columns)."
            )
    return Columns(chosen["text"], chosen["label"], chosen.get("split"), text_pair, guessed & chosen.keys())


def choose_texts(
    columns: Sequence[str],
    *,
    source: str,
    peek: Peek,
    text: str | None = None,
    text_pair: str | None = None,
) -> tuple[str, ...]:
    """The column of texts that need no labels, and that of a second text, if it was named.

    The first is taken as said, by its name, as the only one, or by what is in it.
    """
    said = named_columns(text=text, text_pair=text_pair)
    chosen = {role: _check(role, name, columns, source) for role, name in said.items()}
    _refuse_one_column_for_two(chosen, source)
    if text is None:
        chosen["text"] = _only_text(columns, chosen, source=source, peek=peek)
    return (chosen["text"],) if text_pair is None else (chosen["text"], text_pair)


def _only_text(columns: Sequence[str], chosen: dict[str, str], *, source: str, peek: Peek) -> str:
    left = [name for name in columns if name and name not in chosen.values()]
    found = _guess("text", left, taken=()) or (left[0] if len(left) == 1 else None)
    found = found or _told_by_content(peek(), chosen).get("text")
    if found is None:
        raise UserError(
            f"{source}: which column holds the text is not obvious among {listed(map(repr, columns))}; "
            "name it with --text COLUMN."
        )
    return found


def _check(role: str, name: str, columns: Sequence[str], source: str) -> str:
    if name not in columns:
        raise UserError(f"{source} has no column {name!r} for the {role}{nearest(name, columns)}.")
    return name


def _refuse_one_column_for_two(chosen: dict[str, str], source: str) -> None:
    for name in chosen.values():
        roles = [role for role in chosen if chosen[role] == name]
        if len(roles) > 1:
            raise UserError(
                f"{source}: column {name!r} cannot be both the {' and the '.join(roles)}: name two columns."
            )


def _guess(role: str, columns: Sequence[str], *, taken: object) -> str | None:
    best, *others = KNOWN_NAMES[role]
    free = [name for name in columns if name not in taken]  # type: ignore[operator]
    exact = [name for name in free if name.lower() == best]
    likely = exact or [name for name in free if name.lower() in others]
    return likely[0] if len(likely) == 1 else None


def _about_words(cell: str) -> float:
    """How many words a cell has, roughly: in scripts without spaces a word is about two signs."""
    return max(len(cell.split()), len(cell) / 2 if is_spaceless([cell]) else 0)


def _told_by_content(cells_of: Mapping[str, Sequence[object]], chosen: Mapping[str, str]) -> dict[str, str]:
    """The one column that reads like texts and the one that reads like labels, where there is just one.

    Texts are long and hardly repeat; labels are short, few and repeat.
    """
    found: dict[str, list[str]] = {"text": [], "label": []}
    for name, column in cells_of.items():
        cells = [str(cell) for cell in column if cell not in (None, "")]
        if name in chosen.values() or len(cells) < LEAST_ROWS:
            continue
        words = sum(_about_words(cell) for cell in cells) / len(cells)
        kinds = len(set(cells))
        if words >= LEAST_WORDS and kinds > len(cells) / 2:
            found["text"].append(name)
        elif words < LEAST_WORDS and 2 <= kinds <= min(MOST_KINDS, len(cells) / 4):
            found["label"].append(name)
    return {role: names[0] for role, names in found.items() if role not in chosen and len(names) == 1}
