"""What `location` does on real speech (Chorowski et al., 2015): long strings of spoken digits.

Strings of 3 to 6 takes are learnt from; strings of 12 to 20 takes that were never heard are written down.
Content, location and both together have as many parameters. Each seed leaves a speaker out of its training:
there are strings of the speakers that were learnt from, and strings of a new voice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.entry import Outcome, Size
from heedful.gallery.learning import as_large, learn, parameters_of
from heedful.gallery.listener import KINDS, Dictation, Kind, Listener, Shape, dictate, surprise
from heedful.gallery.seeded import seeded
from heedful.gallery.spoken_digits import END, STACKED, Takes, draw_strings, read_takes
from heedful.gallery.templates import Templates, make_templates, template_error
from heedful.gallery.utterances import Utterances, until_end
from heedful.training.devices import one_thread

FIGURE: Kind = "hybrid"
BASELINE: Kind = "content"
LEARNT = (3, 6)  # digits of a string
TESTED = {"3–6 digits": LEARNT, "12–14 digits": (12, 14), "15–17 digits": (15, 17), "18–20 digits": (18, 20)}
LONG = tuple(TESTED)[1:]
MOST = 30  # digits that are written if no end comes
WIDTH = 64  # of the tanh layer where content and location are together
SHAPE = Shape(features=STACKED * 32, end=END, state=64, decoder=64, filters=8, window=31)
PLAIN = "templates"


@dataclass(frozen=True)
class Budget:
    """How long a model learns; the same for all kinds."""

    steps: int
    strings: int  # of each range of lengths in the test
    templates: int  # of each speaker and digit
    batch: int = 32
    rate: float = 0.01


BUDGETS: dict[Size, Budget] = {
    "small": Budget(steps=20, strings=4, templates=1, batch=8),
    "quick": Budget(steps=700, strings=40, templates=3),
    "full": Budget(steps=3000, strings=200, templates=10),
}


def build(kind: Kind) -> Listener:
    """An untrained model; all kinds have as many parameters."""
    parameters = parameters_of(Listener(FIGURE, SHAPE, width=WIDTH))
    return as_large(lambda width: Listener(kind, SHAPE, width=width), parameters, widest=256)


def learn_to_write(kind: Kind, takes: Takes, budget: Budget, *, seed: int, device: str) -> Listener:
    """A model that has learnt from strings drawn anew for each step, the same for all kinds."""
    chance = np.random.default_rng(seed)
    with one_thread(), seeded(seed):
        model = build(kind).to(device)

        def loss() -> Tensor:
            return surprise(
                model, draw_strings(takes, budget.batch, lengths=LEARNT, chance=chance).to(device)
            )

        learn(model, loss, steps=budget.steps, rate=budget.rate)
    return model


def strings_by_length(takes: Takes, count: int) -> dict[str, Utterances]:
    """Strings by how many digits they have; they do not depend on the seed of a training."""
    chance = np.random.default_rng(19)
    return {
        name: draw_strings(takes, count, lengths=lengths, chance=chance) for name, lengths in TESTED.items()
    }


Errors = dict[str, dict[str, float]]  # by model and lengths


@dataclass(frozen=True)
class Heard:
    """What all models, and templates from the same takes, make of strings."""

    found: dict[Kind, dict[str, Dictation]]
    plain: dict[str, float]  # errors of the templates

    @property
    def errors(self) -> Errors:
        errors: Errors = {PLAIN: self.plain}
        for kind, by in self.found.items():
            errors[kind] = {name: one.error for name, one in by.items()}
        return errors

    def table(self, before: str) -> dict[str, float]:
        """By a name for each figure."""
        errors = {kind: {**by, "12–20 digits": over_long(by)} for kind, by in self.errors.items()}
        return {
            f"{before}, {name}, error, {kind}": value
            for kind, by in errors.items()
            for name, value in by.items()
        } | {
            f"{before}, {name}, in place, {kind}": one.in_place
            for kind, by in self.found.items()
            for name, one in by.items()
        }


def listen(
    models: Mapping[Kind, Listener], templates: Templates, strings: Mapping[str, Utterances], device: str
) -> Heard:
    """Let all write the same strings."""
    with one_thread():
        found = {
            kind: {name: dictate(model, own.to(device), end=END, steps=MOST) for name, own in strings.items()}
            for kind, model in models.items()
        }
        return Heard(found, {name: template_error(templates, own, end=END) for name, own in strings.items()})


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train without one speaker, and write strings of the others and of that one."""
    budget = BUDGETS[size]
    takes, tested = read_takes(folder)
    present = np.unique(takes.speaker)
    voice = present[seed % len(present)]
    learnt = takes.rows(takes.speaker != voice)
    models = {kind: learn_to_write(kind, learnt, budget, seed=seed, device=device) for kind in KINDS}
    templates = make_templates(learnt, budget.templates)
    strings, others = (
        strings_by_length(tested.rows(own), budget.strings)
        for own in (tested.speaker != voice, tested.speaker == voice)
    )
    known, new = (listen(models, templates, own, device) for own in (strings, others))
    return Outcome(
        figure=over_long(known.errors[FIGURE]),
        baseline=over_long(known.errors[BASELINE]),
        parameters=parameters_of(models[FIGURE]),
        baseline_parameters=parameters_of(models[BASELINE]),
        table=known.table("known voices") | new.table("new voice"),
        picture={
            "known": known.errors,
            "new": new.errors,
            "voice": takes.speakers[voice],
            **readings(models, strings[LONG[-1]], device),
        },
        yardstick=over_long(known.errors[PLAIN]),
    )


def over_long(errors: Mapping[str, float]) -> float:
    """The mean over the ranges of lengths that were not learnt from, each with as many strings."""
    return float(np.mean([errors[name] for name in LONG]))


@torch.no_grad()
def readings(models: Mapping[Kind, Listener], strings: Utterances, device: str) -> dict[str, Any]:
    """The first of the longest strings: what each kind writes, and with which weights."""
    one = strings.rows((strings.symbols >= 0).sum(-1).argmax().unsqueeze(0))
    weights, digits = {}, {}
    for kind, model in models.items():
        written = model(one.to(device), MOST)
        digits[kind] = until_end(written.logits[0].argmax(-1).tolist(), END)
        rows = written.weights[0, : len(digits[kind])].cpu().double().numpy()
        weights[kind] = rows.round(3).tolist()
    return {
        "weights": weights,
        "written": digits,
        "said": until_end(one.symbols[0].tolist(), END),
        "owners": one.owners[0].tolist(),
    }
