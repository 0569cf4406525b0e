"""Ours beside Captum, SHAP, LIME and Interpreto: the same classifier, the same texts, one thread, one run.

Four questions: leave-one-out, integrated gradients, Shapley values and LIME, the last two with as many
changed texts for everybody. Seconds are of the processor, evaluations are texts that the network read.
Peers hide words behind a sign where ours deletes them, unless said: these are different questions, so the
orders of words are compared with ours; numbers are compared where the question is the same.

Axes: L pieces, T words of one text.
"""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.asking import Progress, Say
from heedful.auditing.explanations import parts_of
from heedful.auditing.own_rankings import captum_ranking
from heedful.bench.found import Found, Table
from heedful.bench.minilm import learnt_minilm
from heedful.bench.timing import clock_of, take_turns
from heedful.bench.transformer import packaged_classifier
from heedful.data.batches import Batch
from heedful.data.named import load_data
from heedful.models.pretrained import quietly
from heedful.models.trace import decisions
from heedful.models.transformers.subject import TransformerSubject
from heedful.training.devices import find_device, one_thread
from heedful.training.opening import open_of_hub
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import Reader, log_odds
from heedful.trials.rankings.regressions import lime, shapley
from heedful.trials.rankings.word_gradients import Doubted, integrated_gradients
from heedful.trials.rankings.word_rankings import word_scores

PEERS = ("captum", "shap", "lime", "interpreto")
LEAVE, GRADIENTS, SHAPLEY, LIME = "leave-one-out", "integrated gradients", "Shapley values", "LIME"
QUESTIONS = (LEAVE, GRADIENTS, SHAPLEY, LIME)
STEPS = 16  # of integrated gradients
ROWS = 64  # texts of one pass of a peer
Scores = list[NDArray[np.float64]]  # of the words of each text


@dataclass(frozen=True)
class Peer:
    """How one of them answers one question."""

    question: str
    who: str
    how: str
    run: Callable[[], Scores]
    like: str  # which of ours its order is compared with
    same: str = ""  # which of ours should have the same numbers


@dataclass(frozen=True)
class Measured:
    """What one of them needs for a text, and how far it agrees with ours."""

    question: str
    who: str
    how: str
    seconds: float  # of the processor, a text
    evaluations: float  # texts that the network read, a text
    rank_correlation: float | None  # Spearman's, mean over texts, with ours
    furthest: float | None  # the largest difference of a score from ours, where the question is the same


def missing_peers() -> list[str]:
    """Those that are not installed."""
    return [name for name in PEERS if find_spec(name) is None]


class Peers:
    """Everybody who is installed, and ours, on these texts."""

    def __init__(self, subject: TransformerSubject, texts: Sequence[str], *, samples: int = 240) -> None:
        self.subject, self.texts = subject, list(texts)
        everybody = [*ours(subject, texts, samples=samples), *theirs(subject, texts, samples=samples)]
        self.contenders = {f"{peer.question}: {peer.who}": peer for peer in everybody}

    def __len__(self) -> int:
        return len(self.contenders)

    def measure(self, *, rounds: int = 1, done: Callable[[], None] = lambda: None) -> list[Measured]:
        """Time them in turns; the order is by question, ours first."""
        found: dict[str, Scores] = {}
        read: dict[str, int] = {}

        def timed(name: str, peer: Peer) -> Callable[[], None]:
            def run() -> None:
                with evaluations_of(self.subject.network) as count:
                    found[name] = peer.run()
                read[name] = count()
                done()

            return run

        with one_thread(), quietly(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # theirs, about their own dependencies
            runs = {name: timed(name, peer) for name, peer in self.contenders.items()}
            least = take_turns(runs, rounds=rounds, clock=clock_of(self.subject.device))
        count, rows = len(self.texts), []
        for name, peer in self.contenders.items():
            like, same = (f"{peer.question}: {other}" for other in (peer.like, peer.same))
            rows.append(
                Measured(
                    peer.question,
                    peer.who,
                    peer.how,
                    least[name] / count,
                    read[name] / count,
                    None if name == like else _rank_correlation(found[name], found[like]),
                    _furthest(found[name], found[same]) if peer.same else None,
                )
            )
        return sorted(rows, key=lambda row: QUESTIONS.index(row.question))


@contextmanager
def evaluations_of(network: Any) -> Iterator[Callable[[], int]]:
    """Counts the texts that a network reads, whoever asks; a deciding row run by itself is part of one."""
    count = 0

    def counted(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        nonlocal count
        given = [kwargs.get("input_ids"), kwargs.get("inputs_embeds"), *args]
        read = next(one for one in given if one is not None)
        count += len(read) if read.shape[1] > 1 else 0

    hook = network.register_forward_pre_hook(counted, with_kwargs=True)
    try:
        yield lambda: count
    finally:
        hook.remove()


def ours(subject: TransformerSubject, texts: Sequence[str], *, samples: int) -> list[Peer]:
    """What heedful does, and a loop that anybody would write."""
    together = subject.encode(list(texts))

    def rank(name: Any, **how: Any) -> Callable[[], Scores]:
        return lambda: _rows(word_scores(name, subject, together, **how), together)

    def one_by_one() -> Scores:
        batches = [subject.encode([text]) for text in texts]
        return [_rows(word_scores("leave-one-out", subject, batch), batch)[0] for batch in batches]

    def in_steps(reader: Reader, /, *, seed: int = 0) -> Doubted:
        return integrated_gradients(reader.subject, reader.batch, steps=STEPS)

    def by_shapley(reader: Reader, /, *, seed: int = 0) -> Doubted:
        return shapley(reader, samples=samples, seed=seed)

    def by_lime(reader: Reader, /, *, seed: int = 0) -> Doubted:
        return lime(reader, samples=samples, seed=seed)

    return [
        Peer(LEAVE, "heedful", "words deleted, all texts together", rank("leave-one-out"), "heedful"),
        Peer(
            LEAVE,
            "heedful, text by text",
            "words deleted",
            one_by_one,
            "heedful",
            same="heedful",
        ),
        Peer(
            LEAVE,
            "heedful, hidden",
            "words hidden behind the unknown token",
            rank("leave-one-out", how="unknown"),
            "heedful",
        ),
        Peer(
            LEAVE,
            "a plain loop",
            "words deleted",
            lambda: plain_loop(subject, texts),
            "heedful",
            same="heedful",
        ),
        Peer(GRADIENTS, "heedful", f"{STEPS} steps from 0", rank(in_steps), "heedful"),
        Peer(SHAPLEY, "heedful", "words deleted", rank(by_shapley), "heedful"),
        Peer(LIME, "heedful", "words deleted", rank(by_lime), "heedful"),
    ]


def theirs(subject: TransformerSubject, texts: Sequence[str], *, samples: int) -> list[Peer]:
    """What those who are installed do."""
    found: list[Peer] = []
    asked = [One(subject, text) for text in texts]
    if find_spec("captum"):
        found += _captum(subject, asked, samples)
    if find_spec("shap"):
        found.append(
            Peer(
                SHAPLEY, "SHAP, partition", "hidden behind the mask", lambda: _shap(asked, samples), "heedful"
            )
        )
    if find_spec("lime"):
        found.append(Peer(LIME, "LIME", "words deleted", lambda: _lime(asked, samples), "heedful"))
    if find_spec("interpreto"):
        found += _interpreto(subject, asked, samples)
    return found


class One:
    """One text as a peer is given it: its pieces, and the log-odds of the class that is decided for it."""

    def __init__(self, subject: TransformerSubject, text: str) -> None:
        self.subject, self.text = subject, text
        self.batch = subject.encode([text])
        assert self.batch.words is not None
        self.words = self.batch.words[0]
        (self.group,) = subject.groups(self.batch)
        self.ids = self.group.inputs["input_ids"]
        with torch.no_grad():
            self.decided = int(decisions(two_sided(subject.runner.logits(self.group.inputs)))[0])

    def lead(self, ids: Tensor) -> Tensor:
        """The log-odds (N,) of texts in pieces (N,L)."""
        logits = two_sided(self.subject.runner.logits({"input_ids": ids}))
        return log_odds(logits, torch.full((len(ids),), self.decided, device=logits.device))

    def lead_of(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The same of texts as they are written, padded as a pipeline pads them."""
        return log_odds(self._logits(texts), torch.full((len(texts),), self.decided)).double().numpy()

    def chances(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probabilities (N,K) of texts as they are written."""
        return self._logits(texts).softmax(-1).double().numpy()

    def _logits(self, texts: Sequence[str]) -> Tensor:
        found = []
        for begin in range(0, len(texts), ROWS):
            some = [str(text) for text in texts[begin : begin + ROWS]]
            read = self.subject.tokenizer(some, padding=True, truncation=True, return_tensors="pt")
            with torch.no_grad():
                found.append(self.subject.runner(dict(read.to(self.subject.device))).logits)
        return two_sided(torch.cat(found).cpu())

    @property
    def feature(self) -> Tensor:
        """The word (1,L) of each piece; all marks are one more."""
        first = torch.from_numpy(self.group.cuts[0].first).to(self.ids.device)
        return torch.where(first < 0, len(self.words), first)[None]

    @property
    def hidden(self) -> Tensor:
        """The pieces (1,L) with the unknown token in place of each; marks stay."""
        return torch.where(self.feature < len(self.words), self.subject.tokenizer.unk_token_id, self.ids)

    def by_word(self, scores: Tensor, *, each: bool) -> NDArray[np.float64]:
        """Scores (1,L) of pieces as scores of words: what each piece of a word says alike, or their sum."""
        belongs = self.group.belongs(len(self.words))[0].double()
        total = (belongs @ scores[0].detach().double()[:, None])[:, 0]
        counts = belongs.sum(1)
        return (total / counts if each else total).cpu().numpy()


def plain_loop(subject: TransformerSubject, texts: Sequence[str]) -> Scores:
    """Leave-one-out as anybody would write it: a word is cut out and the text is read, one after another."""
    found = []
    for text in texts:
        one = One(subject, text)
        whole = one.lead(one.ids).item()
        falls = []
        for word in range(len(one.words)):
            gone = (torch.arange(len(one.words)) == word)[None].to(subject.device)
            left = delete_words(one.batch, gone).words
            assert left is not None
            ids = subject.cutter(left)[0].inputs["input_ids"]
            with torch.no_grad():
                falls.append(whole - one.lead(torch.tensor([ids], device=subject.device)).item())
        found.append(np.array(falls))
    return found


def _captum(subject: TransformerSubject, asked: Sequence[One], samples: int) -> list[Peer]:
    from captum import attr

    def on_pieces(method: Any, **options: Any) -> Callable[[], Scores]:
        def run() -> Scores:
            found = []
            for one in asked:
                with torch.no_grad():
                    scores = method(one.lead).attribute(
                        one.ids,
                        baselines=one.hidden,
                        feature_mask=one.feature,
                        perturbations_per_eval=ROWS,
                        **options,
                    )
                found.append(one.by_word(scores, each=True))
            return found

        return run

    def native() -> Scores:
        found = []
        table = subject.network.get_input_embeddings()
        for one in asked:
            pad = torch.where(one.feature < len(one.words), subject.tokenizer.pad_token_id, one.ids)
            along = attr.LayerIntegratedGradients(one.lead, table)
            scores = along.attribute(one.ids, baselines=pad, n_steps=STEPS, internal_batch_size=ROWS)
            found.append(one.by_word(scores.sum(-1), each=False))
        return found

    def through_ours() -> Scores:
        ranking = captum_ranking(attr.IntegratedGradients, n_steps=STEPS, method="gausslegendre")
        batches = [one.batch for one in asked]
        return [_rows(torch.as_tensor(ranking(Reader(subject, batch))), batch)[0] for batch in batches]

    hides = "hidden behind the unknown token"
    return [
        Peer(
            LEAVE,
            "Captum, FeatureAblation",
            hides,
            on_pieces(attr.FeatureAblation),
            "heedful, hidden",
        ),
        Peer(GRADIENTS, "Captum, at our words", f"{STEPS} steps from 0", through_ours, "heedful", "heedful"),
        Peer(GRADIENTS, "Captum, at the embeddings", f"{STEPS} steps from padding", native, "heedful"),
        Peer(SHAPLEY, "Captum, KernelShap", hides, on_pieces(attr.KernelShap, n_samples=samples), "heedful"),
        Peer(LIME, "Captum, Lime", hides, on_pieces(attr.Lime, n_samples=samples), "heedful"),
    ]


def _shap(asked: Sequence[One], samples: int) -> Scores:
    import shap

    found = []
    for one in asked:
        explain = shap.Explainer(one.lead_of, shap.maskers.Text(one.subject.tokenizer), seed=0)
        given = explain([one.text], max_evals=samples, batch_size=ROWS, silent=True)[0]
        found.append(parts_of(given, one.text, one.decided).on_words(one.words, one.decided))
    return found


def _lime(asked: Sequence[One], samples: int) -> Scores:
    from lime.lime_text import LimeTextExplainer

    found = []
    for one in asked:
        explain = LimeTextExplainer(random_state=0)
        given = explain.explain_instance(
            one.text, one.chances, labels=(one.decided,), num_features=len(one.words), num_samples=samples
        )
        found.append(parts_of(given, one.text, one.decided).on_words(one.words, one.decided))
    return found


def _interpreto(subject: TransformerSubject, asked: Sequence[One], samples: int) -> list[Peer]:
    import interpreto

    # It may give a model and a tokenizer signs that they lack.
    tokenizer = copy.deepcopy(subject.tokenizer)

    def by(method: Any, **options: Any) -> Callable[[], Scores]:
        def run() -> Scores:
            explain = method(subject.network, tokenizer, batch_size=ROWS, **options)
            found = []
            for one in asked:
                given = explain(one.text)
                given = given[0] if isinstance(given, list) else given
                found.append(parts_of(given, one.text, one.decided).on_words(one.words, one.decided))
            return found

        return run

    hides = "hidden behind the mask"
    many = {"n_perturbations": samples}
    return [
        Peer(LEAVE, "Interpreto, Occlusion", hides, by(interpreto.Occlusion), "heedful, hidden"),
        Peer(
            GRADIENTS,
            "Interpreto, IntegratedGradients",
            f"{STEPS} steps",
            by(interpreto.IntegratedGradients, n_perturbations=STEPS),
            "heedful",
        ),
        Peer(SHAPLEY, "Interpreto, KernelShap", hides, by(interpreto.KernelShap, **many), "heedful"),
        Peer(LIME, "Interpreto, Lime", hides, by(interpreto.Lime, **many), "heedful"),
    ]


def _rows(scores: "Tensor | Doubted", batch: Batch) -> Scores:
    plain = scores.scores if isinstance(scores, Doubted) else scores
    return [row[there].double().cpu().numpy() for row, there in zip(plain, batch.mask, strict=True)]


def _rank_correlation(one: Scores, other: Scores) -> float:
    from scipy.stats import spearmanr

    pairs = [
        (a, b) for a, b in zip(one, other, strict=True) if len(a) > 2 and np.ptp(a) > 0 and np.ptp(b) > 0
    ]
    return float(np.mean([spearmanr(a, b).statistic for a, b in pairs]))


def _furthest(one: Scores, other: Scores) -> float:
    return float(max(np.abs(a - b).max() for a, b in zip(one, other, strict=True)))


def peers(
    model: str | None,
    source: str,
    *,
    texts: int,
    samples: int,
    rounds: int,
    data_dir: Path | None,
    device: str,
    say: Say,
    progress: Progress,
) -> Found:
    """Everybody on some test texts of a corpus; the model is by default the encoder with a random head."""
    where, learns = find_device(device), model == "minilm"
    corpus = load_data(source, data_dir=data_dir, learn=learns)
    chosen = list(corpus.split("test").texts[:texts])
    if learns:
        subject = learnt_minilm(corpus, learnt=1000, device=where)  # as many as the published table
    elif model is None:
        subject = packaged_classifier(device=where)
    else:
        subject = open_of_hub(model, device=device)
    missing = missing_peers()
    if missing:
        say(f"Not installed, and left out: {', '.join(missing)} (pip install 'heedful[peers]').")
    run = Peers(subject, chosen, samples=samples)
    with progress("comparisons", rounds * len(run)) as advance:
        found = run.measure(rounds=rounds, done=lambda: advance(1))
    first = {row.question: row.seconds for row in reversed(found)}
    rows = [
        [
            row.question,
            row.who,
            row.how,
            f"{row.seconds / first[row.question]:.2f}",
            f"{row.evaluations:.0f}",
            "" if row.rank_correlation is None else f"{row.rank_correlation:.2f}",
            "" if row.furthest is None else f"{row.furthest:.0e}",
        ]
        for row in found
    ]
    columns = ["question", "who", "words are"]
    columns += ["time, ours is 1", "evaluations", "ρ with ours", "furthest from ours"]
    numbers = {"texts": len(chosen), "missing": missing, "rows": [asdict(row) for row in found]}
    return Found(numbers, (Table(f"Of one text, mean of {len(chosen)}, one thread", columns, rows, left=3),))
