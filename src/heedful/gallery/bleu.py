"""Corpus BLEU (Papineni et al., 2002), counted by sacrebleu."""

from collections.abc import Sequence

from heedful.errors import MissingExtra


def corpus_bleu(written: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """BLEU of 0 to 100 over words as they are given, so of lower-cased tokenised text here."""
    try:
        import sacrebleu
    except ModuleNotFoundError:
        raise MissingExtra("Corpus BLEU", "gallery") from None
    joined = [[" ".join(words) for words in sentences] for sentences in (written, references)]
    found = sacrebleu.corpus_bleu(joined[0], [joined[1]], tokenize="none", force=True)
    return float(found.score)
