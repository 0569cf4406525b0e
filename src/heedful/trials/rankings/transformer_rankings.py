"""The rankings that a transformer brings along, by name, with what each costs and where it comes from.

One pass of the network gives rollout, flow and the heads: they share what was read of the last batch.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from heedful.models.transformers.any_layer import place_of
from heedful.models.transformers.subject import TransformerSubject
from heedful.trials.rankings.attention_gradient import attention_gradient
from heedful.trials.rankings.attention_rankings import LastRead, flow, of_layer, one_head, rollout
from heedful.trials.rankings.ranking import Ranking, ranking_of
from heedful.trials.rankings.value_norms import value_norms
from heedful.trials.rankings.value_zeroing import value_zeroing

MOST_HEADS = 16  # heads that are ranked one by one
HEAD = re.compile(r"head-\d+-only")  # what they are called, counted from 1


@dataclass(frozen=True)
class About:
    """What a ranking costs, and where it comes from."""

    cost: str
    reference: str
    opt_in: bool = False  # measured in an audit only when asked for


ABOUT: Mapping[str, About] = {
    "rollout": About("1 pass", "Abnar & Zuidema, 2020"),
    "value-norms": About("1 pass", "Kobayashi et al., 2020"),
    "attention-gradient": About("1 pass and its way back", "Chefer et al., 2021"),
    "value-zeroing": About("as many passes as words", "after Mohebbi et al., 2023", opt_in=True),
    "flow": About("1 pass, and up to 10 seconds for a long text", "Abnar & Zuidema, 2020", opt_in=True),
    "layer-N, layer-N-head-M": About("1 pass", "any layer, or a head of it", opt_in=True),
    "head-N-only": About("1 pass for all", "the heads of the last layer, one by one", opt_in=True),
}


def transformer_rankings(subject: TransformerSubject, *, all_of_them: bool = False) -> Mapping[str, Ranking]:
    """The rankings of this subject by name, with those that are opt-in if `all_of_them`.

    Those that go through layers are not for encoder–decoders, whose attention does not go from a text to
    itself; value norms need values, which are not seen through a caught softmax.
    """
    if subject.entry is None or not getattr(subject.network, "single", True):
        return {}  # labels of several pieces are scored in several passes
    found: dict[str, Ranking] = {}
    read = LastRead()
    through = not getattr(subject.network.config, "is_encoder_decoder", False)
    if through:
        found |= {
            "rollout": ranking_of(partial(rollout, read=read)),
            "attention-gradient": ranking_of(attention_gradient),
        }
    if subject.entry.way.sees_values:
        found["value-norms"] = ranking_of(value_norms)
    if not all_of_them:
        return found
    found["value-zeroing"] = ranking_of(value_zeroing)
    if through:
        found["flow"] = ranking_of(partial(flow, read=read))
        heads = read(subject, subject.encode(["Heads"]))[0].heads.shape[1]
        for number in range(heads if heads <= MOST_HEADS else 0):
            found[f"head-{number + 1}-only"] = ranking_of(partial(one_head, head=number, read=read))
    return found


def layer_ranking(subject: TransformerSubject, name: str) -> Ranking | None:
    """The ranking that layer-N or layer-N-head-M names; None for another name, and as `place_of` refuses."""
    place = place_of(subject, name)
    return None if place is None else ranking_of(partial(of_layer, layer=place.layer, head=place.head))
