"""The papers' tables and figures: one folder a paper, one file a table or figure, or a family of them.

Such a file measures, claims and draws, and has its `EXPERIMENT` (or several by name, `EXPERIMENTS`). Torch is
imported when something is measured: claims and figures can be had without it.
"""

from importlib import import_module

from heedful.errors import choose_from
from heedful.study.experiment import Experiment

# Each paper's experiments, in its order, and the file that has them.
PAPERS: dict[str, dict[str, str]] = {
    "sun-lu": {
        "sun-lu-terms": "sun_lu.terms",
        "sun-lu-table1": "sun_lu.datasets",
        "sun-lu-table2": "sun_lu.accuracies",
        "sun-lu-words": "sun_lu.word_rules",
        "sun-lu-fig2": "sun_lu.word_scores",
        "sun-lu-fig3": "sun_lu.large_scale",
        "sun-lu-fig4": "sun_lu.word_scores",
        "sun-lu-penalty": "sun_lu.variants",
        "sun-lu-fig5": "sun_lu.weights",
        "sun-lu-inequalities": "sun_lu.inequalities",
        **{f"sun-lu-s-fig{number}": "sun_lu.synthetic" for number in range(1, 13)},
        "sun-lu-s-table1": "sun_lu.datasets",
        "sun-lu-s-fig13": "sun_lu.recurrent",
        "sun-lu-adam": "sun_lu.variants",
        **{f"sun-lu-s-fig{number}": "sun_lu.word_scores" for number in range(14, 29)},
        "sun-lu-stability": "sun_lu.stability",
        "sun-lu-human": "sun_lu.human",
        "sun-lu-vectors": "sun_lu.vectors",
        "sun-lu-contextual": "sun_lu.contextual",
    },
    "serrano-smith": {
        "serrano-smith-table2": "serrano_smith.flips",
        "serrano-smith-table3": "serrano_smith.accuracy",
        "serrano-smith-fig3": "serrano_smith.js_gap",
        "serrano-smith-fig4": "serrano_smith.js_gap",
        "serrano-smith-fig5": "serrano_smith.removed",
        "serrano-smith-fig6": "serrano_smith.removed",
        "serrano-smith-fig7": "serrano_smith.js_gap",
        "serrano-smith-fig8": "serrano_smith.js_gap",
        "serrano-smith-fig9": "serrano_smith.flips",
        "serrano-smith-fig10": "serrano_smith.removed",
        "serrano-smith-fig11": "serrano_smith.removed",
        "serrano-smith-fig12": "serrano_smith.flips",
        "serrano-smith-fig13": "serrano_smith.flips",
        "serrano-smith-exact": "serrano_smith.smallest_sets",
        "serrano-smith-limits": "serrano_smith.limits",
    },
    "jain-wallace": {
        "jain-wallace-agreement": "jain_wallace.agreement",
        "jain-wallace-permutation": "jain_wallace.permutation",
        "jain-wallace-adversary": "jain_wallace.adversary",
    },
    "wiegreffe-pinter": {
        "wiegreffe-pinter-uniform": "wiegreffe_pinter.uniform",
        "wiegreffe-pinter-seeds": "wiegreffe_pinter.seeds",
        "wiegreffe-pinter-diagnostic": "wiegreffe_pinter.diagnostic",
        "wiegreffe-pinter-adversarial": "wiegreffe_pinter.adversarial",
    },
    "exactness": {
        "exactness-sets": "exactness.sets",
        "exactness-adversary": "exactness.adversary",
    },
}
FILES = {name: file for paper in PAPERS.values() for name, file in paper.items()}


def experiment(name: str) -> Experiment:
    """The experiment of this name; its file alone is imported."""
    module = import_module(f"{__name__}.{FILES[choose_from('experiment', name, (*PAPERS, *FILES))]}")
    found: Experiment = module.EXPERIMENTS[name] if hasattr(module, "EXPERIMENTS") else module.EXPERIMENT
    return found


def find_experiments(name: str) -> tuple[Experiment, ...]:
    """The experiment of this name, or all those of a paper."""
    return tuple(map(experiment, PAPERS.get(name, (name,))))
