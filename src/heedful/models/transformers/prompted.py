"""A language model as a prompted classifier: a template around the text, and a label's words as the answer.

    subject = load_prompted(folder, "Review: {text}\\nIs it good or bad? It is", ["good", "bad"])

A class's logit is the log-probability of its label's pieces after the prompt, scored whole where there are
several; softmax over the labels normalises them. Words of the template belong to no word of the text, so they
are never erased. A text that is too long loses its last words, never the template's.
"""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from heedful.errors import UserError, listed
from heedful.models.transformers.loading import load_within
from heedful.models.transformers.subject import TransformerSubject

TEXT = "{text}"
PAIRED = "{text_pair}"


class LabelScorer(nn.Module):
    """A causal language model that gives, for a prompt, the log-probability of each label's pieces."""

    def __init__(self, inner: Any, labels: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.inner, self.labels = inner, [list(label) for label in labels]
        self.config = inner.config
        self._supports_sdpa = getattr(inner, "_supports_sdpa", False)

    @property
    def single(self) -> bool:
        """Whether every label is one piece, so that one row of one pass decides."""
        return all(len(label) == 1 for label in self.labels)

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> SimpleNamespace:
        """The logits (B,K) of the labels after the prompts (B,L)."""
        longer = {
            number: self._rest(input_ids, label) for number, label in enumerate(self.labels) if len(label) > 1
        }
        # The prompt alone comes last: its attention is the one that is looked at.
        first = self._logits(input_ids, keep=1)[:, -1].log_softmax(-1)
        scores = [first[:, label[0]] + longer.get(number, 0) for number, label in enumerate(self.labels)]
        return SimpleNamespace(logits=torch.stack(scores, dim=1))

    def _rest(self, ids: Tensor, label: list[int]) -> Tensor:
        """The log-probability (B,) of a label's pieces after its first."""
        given = torch.tensor(label, device=ids.device).expand(len(ids), -1)
        logits = self._logits(torch.cat([ids, given[:, :-1]], dim=1), keep=len(label) - 1)
        told = logits[:, 1 - len(label) :].log_softmax(-1)
        return told.gather(-1, given[:, 1:, None])[..., 0].sum(1)

    def _logits(self, ids: Tensor, *, keep: int) -> Tensor:
        mask = torch.ones_like(ids)
        found: Tensor = self.inner(ids, attention_mask=mask, use_cache=False, logits_to_keep=keep).logits
        return found


def prompted(
    network: Any,
    tokenizer: Any,
    template: str,
    labels: Sequence[str],
    *,
    chat: bool = False,
    system: str | None = None,
    name: str = "language model",
) -> TransformerSubject:
    """A causal language model and its tokenizer as a classifier between these labels.

    `template` has {text} in it, and {text_pair} for pairs; with `chat` it is a user's message in the model's
    own chat format, after the `system` message if there is one.
    """
    if system is not None and not chat:
        raise UserError("A system message belongs to a chat format: ask for that too.")
    parts = split_template(_as_chat(tokenizer, template, name, system=system) if chat else template)
    ids = label_pieces(tokenizer, parts, labels, name, special=not chat)
    scorer = LabelScorer(network, ids)
    subject = TransformerSubject(
        scorer, tokenizer, classes=tuple(labels), template=parts, special=not chat, name=name
    )
    if not scorer.single:
        subject.forget_trace("its labels have several pieces, so more than one pass decides")
    asked = "in its chat format" if chat else "as a prompt"
    subject.notes += (f"The template was given {asked}; its words are never taken out.",)
    return subject


def load_prompted(
    name: str | Path,
    template: str,
    labels: Sequence[str],
    *,
    chat: bool = False,
    system: str | None = None,
    device: str = "cpu",
    seconds: float | None = None,
) -> TransformerSubject:
    """The causal language model in a folder, or of that name on the hub, as a prompted classifier."""
    split_template(template)
    if len(set(labels)) < 2 or len(set(labels)) < len(labels):
        raise UserError(f"A prompted classifier needs two different labels or more, not {listed(labels)}.")

    def make(network: Any, tokenizer: Any) -> TransformerSubject:
        how: dict[str, Any] = {"chat": chat, "system": system, "name": str(name)}
        return prompted(network.to(device), tokenizer, template, labels, **how)

    return load_within(name, make, kind="causal", seconds=seconds)


def split_template(template: str) -> tuple[str, ...]:
    """The template's own words: before and after the text, and between the two of a pair."""
    if template.count(TEXT) != 1 or template.count(PAIRED) > 1:
        raise UserError(
            f"A template needs {TEXT} exactly once, where the text goes, and {PAIRED} at most once."
        )
    before, after = template.split(TEXT)
    if PAIRED in before:
        raise UserError(f"In a template {TEXT} comes before {PAIRED}.")
    return (before, *after.split(PAIRED))


def label_pieces(
    tokenizer: Any, parts: Sequence[str], labels: Sequence[str], name: str, *, special: bool = True
) -> list[list[int]]:
    """The pieces of each label as they follow the template; a space is put between them if there is none."""
    prompt = "a".join(parts)
    begun = tokenizer(prompt, add_special_tokens=special)["input_ids"]
    ends = special and bool(begun) and begun[-1] == tokenizer.eos_token_id
    if ends:
        raise UserError(f"The tokenizer of {name!r} ends every text, so no label can follow the template.")
    space = "" if prompt[-1:].isspace() or not prompt else " "
    found = []
    for label in labels:
        whole = tokenizer(prompt + space + label, add_special_tokens=special)["input_ids"]
        if whole[: len(begun)] != begun or len(whole) <= len(begun):
            raise UserError(
                f"The label {label!r} runs into the end of the template for the tokenizer of {name!r}: end "
                "the template with another sign, such as a colon."
            )
        found.append(whole[len(begun) :])
    if len({tuple(label) for label in found}) < len(found):
        raise UserError(f"The labels {listed(labels)} are the same pieces for the tokenizer of {name!r}.")
    return found


def _as_chat(tokenizer: Any, template: str, name: str, *, system: str | None) -> str:
    if not getattr(tokenizer, "chat_template", None):
        raise UserError(f"The tokenizer of {name!r} has no chat format: leave that out.")
    messages = [] if system is None else [{"role": "system", "content": system}]
    messages.append({"role": "user", "content": template})
    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    # A format is a program of the folder's, run in a sandbox; it fails in its own ways.
    except Exception as fault:  # noqa: BLE001
        reason = (str(fault).splitlines() or [type(fault).__name__])[0][:160]
        raise UserError(f"The chat format of {name!r} does not take these messages: {reason}") from None
