"""Tiny transformers trained on planted texts, and the real MiniLM encoder with its last layer trained.

The tiny ones, a BERT and a causal decoder of two layers, read whole words: their tokenizer knows every word
of the task. Of MiniLM (Wang et al., 2020) all but the last layer stays as it is: what that layer sees is
computed once, and it learns with the pooler and the classifier. Attention is that of the deciding position in
the last layer, the mean of its heads.

Axes: B texts, T words, L pieces, R heads, K classes.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from heedful.bench.truth.learning import Lesson, learn
from heedful.bench.truth.planting import Planted, known_words, plant
from heedful.bench.truth.trained import BARE, TEXTS
from heedful.data.batches import Batch, batch_of_texts
from heedful.data.vocabulary import PADDING_ID, SPECIAL, UNKNOWN_ID, Vocabulary
from heedful.errors import MissingExtra
from heedful.models.packaged import packaged_folder
from heedful.models.subject import Subject
from heedful.models.transformers import TransformerSubject
from heedful.models.word_attention import sum_by_item

ARCHITECTURES = ("bert", "decoder", "minilm")
WIDTH, HEADS, LAYERS, LONGEST = 48, 2, 2, 128
CACHED = 800  # texts that MiniLM's last layer learns from


def train(architecture: str, planted: Planted, lesson: Lesson, *, seed: int) -> Subject:
    """A transformer that learns the task of `planted` from other texts."""
    try:
        import transformers
    except ImportError:
        raise MissingExtra("A transformer of the truth bench", "hf") from None
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if architecture == "minilm":
            return _minilm(planted, lesson, seed=seed)
        return _tiny(architecture, planted, lesson, seed=seed)


def _tiny(architecture: str, planted: Planted, lesson: Lesson, *, seed: int) -> Subject:
    vocabulary = known_words(planted.task, seed=seed)
    tokenizer = _word_tokenizer(vocabulary, marks=architecture == "bert")
    network = _network(architecture, vocabulary, planted.task.classes)
    read = _read_bert if architecture == "bert" else _read_decoder

    def lessons(epoch: int) -> tuple[Batch, Planted]:
        texts = plant(planted.task, TEXTS, seed=seed, sample=1 + epoch, bare=BARE)
        return batch_of_texts(texts.texts, vocabulary), texts

    learn(network, lambda batch: read(network, batch), lessons, lesson, seed=seed)
    return _subject(network, tokenizer, architecture)


def _network(architecture: str, vocabulary: Vocabulary, classes: int) -> Any:
    import transformers

    names = [f"class {k}" for k in range(classes)]
    shape: dict[str, Any] = {
        "vocab_size": len(vocabulary) + 2,
        "pad_token_id": PADDING_ID,
        "id2label": dict(enumerate(names)),
        "label2id": {name: k for k, name in enumerate(names)},
        "attn_implementation": "eager",  # shows its weights
    }
    if architecture == "bert":
        shape |= {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
        shape |= {"intermediate_size": 2 * WIDTH, "max_position_embeddings": LONGEST}
        shape |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        return transformers.BertForSequenceClassification(transformers.BertConfig(**shape))
    shape |= {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": LONGEST}
    shape |= {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    shape |= {"bos_token_id": None, "eos_token_id": None}
    return transformers.GPT2ForSequenceClassification(transformers.GPT2Config(**shape))


def _read_bert(network: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits (B,K) and the attention (B,T) of the first position; the marks are the two last ids."""
    count = batch.mask.sum(1)
    opens, ends = network.config.vocab_size - 2, network.config.vocab_size - 1
    ids = nn.functional.pad(batch.ids, (1, 1), value=PADDING_ID)
    ids[:, 0] = opens
    ids[torch.arange(len(ids)), count + 1] = ends
    given = network(input_ids=ids, attention_mask=(ids != PADDING_ID).long(), output_attentions=True)
    return given.logits, given.attentions[-1][:, :, 0, 1:-1].mean(1)


def _read_decoder(network: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits (B,K) and the attention (B,T) of the last word."""
    given = network(input_ids=batch.ids, attention_mask=batch.mask.long(), output_attentions=True)
    last = batch.mask.sum(1) - 1
    return given.logits, given.attentions[-1][torch.arange(len(last)), :, last].mean(1)


def _minilm(planted: Planted, lesson: Lesson, *, seed: int) -> Subject:
    from transformers import AutoTokenizer, BertForSequenceClassification

    folder = packaged_folder()
    classes = planted.task.classes
    network: Any = BertForSequenceClassification.from_pretrained(
        folder, num_labels=classes, attn_implementation="eager", local_files_only=True
    ).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, local_files_only=True)
    network.config.id2label = {k: f"class {k}" for k in range(classes)}
    layer = network.bert.encoder.layer[-1]
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    learning = nn.ModuleList([layer, network.bert.pooler, network.classifier])
    for parameter in learning.parameters():
        parameter.requires_grad_(True)

    texts = plant(planted.task, CACHED, seed=seed, sample=1, bare=BARE)
    batch = batch_of_texts(texts.texts, known_words(planted.task, seed=seed))
    cut = tokenizer(texts.words, is_split_into_words=True, padding=True, return_tensors="pt")
    mask = cut["attention_mask"].bool()
    items = torch.tensor(
        [[-1 if word is None else word for word in cut.word_ids(row)] for row in range(CACHED)]
    )
    with torch.no_grad():
        seen = torch.cat(
            [
                network(
                    input_ids=cut["input_ids"][rows],
                    attention_mask=cut["attention_mask"][rows],
                    output_hidden_states=True,
                ).hidden_states[-2]
                for rows in torch.arange(CACHED).split(64)
            ]
        )  # (N,L,H) what the last layer sees

    def attending(part: Batch) -> tuple[Tensor, Tensor]:
        rows = torch.from_numpy(part.rows)
        states = seen[rows]
        shut = torch.zeros(states.shape[:2]).masked_fill(~mask[rows], torch.finfo(torch.float32).min)
        attended, weights = layer.attention.self(states, shut[:, None, None])[:2]
        # Only the first position reaches the decision.
        passed = layer.attention.output(attended[:, :1], states[:, :1])
        first = layer.output(layer.intermediate(passed), passed)
        logits = network.classifier(network.bert.pooler(first))
        return logits, sum_by_item(weights[:, :, 0].mean(1), items[rows], part.mask.shape[1])

    learn(learning, attending, lambda epoch: (batch, texts), replace(lesson, rate=5e-4), seed=seed)
    return _subject(network, tokenizer, "minilm")


def _subject(network: Any, tokenizer: Any, architecture: str) -> Subject:
    return TransformerSubject(network.eval(), tokenizer, name=architecture)


def _word_tokenizer(vocabulary: Vocabulary, *, marks: bool) -> Any:
    """A tokenizer whose pieces are words, with the vocabulary's ids; marks around a text come after them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    ids = {word: number for number, word in enumerate(vocabulary.words)}
    ids |= {"[CLS]": len(ids), "[SEP]": len(ids) + 1}
    made = Tokenizer(models.WordLevel(ids, unk_token=SPECIAL[UNKNOWN_ID]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = {"unk_token": SPECIAL[UNKNOWN_ID], "pad_token": SPECIAL[PADDING_ID]}
    if marks:
        made.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
        named |= {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=LONGEST, **named)
