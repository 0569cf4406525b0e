"""Audit a classifier at the end of a Hugging Face `Trainer` run.

    trainer = Trainer(model=model, processing_class=tokenizer, ..., callbacks=[AuditAtEnd(texts, labels)])
    trainer.train()  # ends with a verdict, a page, and the section for the model card

python examples/trainer_callback.py     # a tiny classifier of made-up reviews stands in for yours
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

import heedful


class AuditAtEnd(TrainerCallback):
    """Audits on texts that were not trained on, and writes AUDIT/index.html and CARD.md."""

    def __init__(
        self, texts: Sequence[str], labels: Sequence[Any], *, out: str = "audit-of-training"
    ) -> None:
        self.texts, self.labels, self.out = texts, labels, Path(out)
        self.audit: heedful.Audit | None = None

    def on_train_end(self, args, state, control, model=None, processing_class=None, **more):
        if not state.is_world_process_zero:
            return
        training = model.training
        model.eval()  # an audit reads without dropout
        try:
            self.audit = heedful.audit(
                model, list(self.texts), list(self.labels), tokenizer=processing_class, out=self.out
            )
        finally:
            model.train(training)
        print(self.audit)
        card = self.out.with_name("CARD.md")
        card.write_text(heedful.model_card(self.audit), encoding="utf-8")
        print(f"Open {self.out / 'index.html'} in a browser; {card} is for the model card.")


def tiny_classifier(words: Sequence[str]) -> tuple[Any, Any]:
    """A BERT of two small layers over these words, and its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    known = {word: number for number, word in enumerate([*marks, *sorted(words)])}
    pieces = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    pieces.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, **names)
    config = BertConfig(
        vocab_size=len(known),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        id2label={0: "disliked", 1: "liked"},
        label2id={"disliked": 0, "liked": 1},
    )
    return BertForSequenceClassification(config), tokenizer


def made_up_reviews(rows: int) -> tuple[list[str], list[int]]:
    """Each text has one or two words of its class among eight that say nothing."""
    import random

    draw = random.Random(0)
    own = (["dull", "tedious", "lifeless"], ["gorgeous", "witty", "moving"])
    plain = ["film", "story", "scene", "plot", "actors", "music", "camera", "evening", "the", "a"]
    texts, labels = [], []
    for row in range(rows):
        words = [*draw.choices(plain, k=8), *draw.choices(own[row % 2], k=draw.choice((1, 2)))]
        draw.shuffle(words)
        texts.append(" ".join(words))
        labels.append(row % 2)
    return texts, labels


def main() -> None:
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments, set_seed

    set_seed(0)
    texts, labels = made_up_reviews(900)
    model, tokenizer = tiny_classifier({word for text in texts for word in text.split()})
    rows = [
        {**tokenizer(text), "labels": label} for text, label in zip(texts[:600], labels[:600], strict=True)
    ]
    names = [model.config.id2label[label] for label in labels[600:]]
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            "training",
            num_train_epochs=4,
            learning_rate=2e-3,
            per_device_train_batch_size=32,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
        ),
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(tokenizer),
        processing_class=tokenizer,
        callbacks=[AuditAtEnd(texts[600:], names)],
    )
    trainer.train()


if __name__ == "__main__":
    main()
