"""Which column holds the text, the label and the split: as the user said, or guessed where it is obvious."""

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.errors import UserError, listed, nearest

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
    guessed: frozenset[str] = frozenset()

    @property
    def note(self) -> str:
        """One sentence about a guessed text or label (a guessed split still has to be found usable)."""
        roles = [role for role in ("text", "label") if role in self.guessed]
        chosen = ", ".join(f"{role} from column {getattr(self, role)!r}" for role in roles)
        return (
            f"Guessed: {chosen} (say otherwise with {listed(f'--{role}' for role in roles)})."
            if roles
            else ""
        )


def named_columns(
    *, text: str | None = None, label: str | None = None, split: str | None = None
) -> dict[str, str]:
    """The columns that were named, by their role."""
    said = {"text": text, "label": label, "split": split}
    return {role: name for role, name in said.items() if name is not None}


def choose_columns(
    columns: Sequence[str],
    *,
    source: str,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
) -> Columns:
    """Take the columns the user named and guess the others; refuse where text or label is not obvious."""
    said = named_columns(text=text, label=label, split=split)
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
    for role in ("text", "label"):
        if role not in chosen:
            raise UserError(
                f"{source}: which column holds the {role} is not obvious among {listed(map(repr, columns))}; "
                f"name it with --{role} COLUMN (the first line must name the columns)."
            )
    return Columns(chosen["text"], chosen["label"], chosen.get("split"), guessed & chosen.keys())


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
