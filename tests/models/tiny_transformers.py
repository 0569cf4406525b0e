"""Tiny transformers of many families, trained here in seconds and saved as Hugging Face does."""

from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from heedful.data.corpus import Corpus

GOOD = ("wonderful", "superb", "charming", "moving", "bright")
BAD = ("dreadful", "tedious", "clumsy", "lifeless", "shallow")
PLAIN = ("the", "film", "plot", "of", "a", "scene", "with", "music", "and", "cast", "in", "it", "was", "two")
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CLASSES = ("bad", "good")


def make_corpus(rows=900, *, seed=0) -> Corpus:
    """Texts of 5 to 11 plain words with two or three words of one class, and sometimes one of the other."""
    draw = np.random.default_rng(seed)
    texts, labels = [], []
    for row in range(rows):
        label = row % 2
        own, other = (BAD, GOOD) if label == 0 else (GOOD, BAD)
        words = [*draw.choice(PLAIN, draw.integers(5, 12)), *draw.choice(own, draw.integers(2, 4))]
        words += [*draw.choice(other, draw.integers(0, 2))]
        draw.shuffle(words)
        texts.append(" ".join(words).capitalize() + ".")
        labels.append(label)
    splits = np.array(["train", "train", "test"])[np.arange(rows) // 2 % 3]
    return Corpus("tiny", texts, np.array(labels), splits, CLASSES)


def wordpiece():
    """A WordPiece tokenizer that cuts the longer words into pieces."""
    pieces = [*PLAIN, ".", "wonder", "##ful", "dread", "superb", "charm", "##ing", "mov", "bright", "tedious"]
    pieces += ["clumsy", "life", "##less", "shallow"]
    tokenizer = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate([*MARKS, *pieces])}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece()
    return _fast(tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]")


def byte_level(texts):
    """A byte-level tokenizer, as RoBERTa has it: a word's first piece carries the space before it."""
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=marks, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return _fast(tokenizer, unk_token="<unk>", pad_token="<pad>", cls_token="<s>", sep_token="</s>")


def language_model(*, seed=0):
    """A tiny Llama that says the next piece, and its byte-level tokenizer, which puts no marks around."""
    tokenizer = byte_level([*make_corpus().texts, *["The film: a\nIt was: of"] * 50])
    # As GPT-2 has it: a piece's characters are known, and nothing stands around them.
    bare = transformers.GPT2TokenizerFast(vocab={"a": 0}, merges=[])
    tokenizer._tokenizer.post_processor = bare._tokenizer.post_processor
    sizes = {**USUAL, "hidden_size": 36, "max_position_embeddings": 64}
    marks = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    config = transformers.LlamaConfig(**sizes, **marks, vocab_size=len(tokenizer))
    return stirred(transformers.LlamaForCausalLM(config).eval(), seed=seed), tokenizer


def _fast(tokenizer, **marks):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **marks)


def unigram(texts):
    """A Unigram tokenizer, as XLM-R and T5 have it: pieces begin with the sign for a space, or span words."""
    marks = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=marks, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return _fast(tokenizer, unk_token="<unk>", pad_token="<pad>", eos_token="</s>")


# What each family calls its sizes, where that differs from BERT's names.
SHAPES = {
    "distilbert": {"dim": 33, "n_layers": 2, "n_heads": 3, "hidden_dim": 23, "max_position_embeddings": 31},
    "roberta": {"max_position_embeddings": 33, "type_vocab_size": 1},
    "gpt2": {"n_embd": 33, "n_layer": 2, "n_head": 3, "n_positions": 31},
    "llama": {"hidden_size": 36, "num_key_value_heads": 1, "num_attention_heads": 3, "head_dim": 12},
    "eurobert": {"hidden_size": 36, "num_key_value_heads": 3, "head_dim": 12},
    "modernbert": {"hidden_size": 36, "global_attn_every_n_layers": 2, "local_attention": 6},
    "t5": {
        "d_model": 33,
        "d_kv": 11,
        "d_ff": 23,
        "num_layers": 2,
        "num_heads": 3,
        "n_positions": 31,
    },
    "bart": {
        "max_position_embeddings": 31,
        "d_model": 33,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 3,
        "decoder_attention_heads": 3,
        "encoder_ffn_dim": 23,
        "decoder_ffn_dim": 23,
    },
}
USUAL = {"hidden_size": 33, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 23}


def classifier(family, tokenizer, *, seed=0, **changes):
    """An untrained classifier of this family with primes for its sizes."""
    torch.manual_seed(seed)
    names = {"id2label": dict(enumerate(CLASSES)), "label2id": {name: i for i, name in enumerate(CLASSES)}}
    marks = {
        f"{mark}_token_id": getattr(tokenizer, f"{mark}_token_id")
        for mark in ("pad", "bos", "eos", "cls", "sep")
        if getattr(tokenizer, f"{mark}_token_id") is not None
    }
    kind = transformers.CONFIG_MAPPING[family]
    own = SHAPES.get(family, {})
    plain = {} if {"n_embd", "d_model", "dim"} & own.keys() else {**USUAL, "max_position_embeddings": 31}
    marks |= {"decoder_start_token_id": tokenizer.pad_token_id} if family == "t5" else {}
    config = kind(**{"vocab_size": len(tokenizer), **marks, **plain, **own, **names, **changes})
    network = transformers.AutoModelForSequenceClassification.from_config(config)
    return network.eval()


def stirred(network, *, seed=0):
    """The network with weights so large that every part of it matters to the logits."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for value in network.parameters():
            if value.dim() > 1:
                value.normal_(std=value.shape[-1] ** -0.5)
    return network


def learn(network, tokenizer, corpus, *, steps=60, rate=5e-3):
    """Train on the training split; returns the accuracy on the test split."""
    train, test = corpus.split("train"), corpus.split("test")
    read = tokenizer(list(train.texts), padding=True, return_tensors="pt")
    labels = torch.from_numpy(train.labels)
    adam = torch.optim.Adam(network.parameters(), lr=rate)
    network.train()
    for step in range(steps):
        rows = torch.arange(step % 4, len(labels), 4)
        logits = network(
            input_ids=read["input_ids"][rows], attention_mask=read["attention_mask"][rows]
        ).logits
        adam.zero_grad()
        torch.nn.functional.cross_entropy(logits, labels[rows]).backward()
        adam.step()
    network.eval()
    read = tokenizer(list(test.texts), padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = network(input_ids=read["input_ids"], attention_mask=read["attention_mask"]).logits
    return float((logits.argmax(1).numpy() == test.labels).mean())


def save(network, tokenizer, folder: Path) -> Path:
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
