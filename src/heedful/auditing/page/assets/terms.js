// The words of this page, and what the literature calls the same or nearly the same.

const TERMS = {
  map: [
    "map",
    "A weight for each word of a text, shown as its shade.",
    "Heat map, saliency map, highlight, feature attribution, soft rationale. A rationale in the narrow sense is a set of " +
      "words, chosen by a model or marked by a person.",
  ],
  skill: [
    "heat-map skill",
    "How well the map's weights predict what random deletions of words do to the probability of the decision: 0 for a " +
      "blank map, 1 (100 %) for the best map, whose weights are in proportion to what each word does.",
    "Faithfulness by erasure. Near it are infidelity (Yeh et al., 2019) and sensitivity-n (Ancona et al., 2018); the best " +
      "map is a linear surrogate, as LIME and KernelSHAP fit one.",
  ],
  matters: [
    "words that matter",
    "Words whose effect on the decision is at least a quarter of the strongest effect in their text.",
    "Important or salient features, as the model itself has them (not as a person would mark them).",
  ],
  paint: [
    "paint on words that matter",
    "The share of the paint a reader sees that lies on words that matter.",
    "Precision of the highlight; relevance mass accuracy (Arras et al., 2022).",
  ],
  first: [
    "strongest word matters",
    "In how many texts the most strongly painted word is one that matters, texts counted by their effects.",
    "Precision at 1; the pointing game (Zhang et al., 2016).",
  ],
  against: [
    "paint against the decision",
    "The share of the paint on words that surely speak against what is decided. Where a map has no minus, readers take " +
      "them for reasons.",
    "Negative contributions in an unsigned attribution.",
  ],
  linear: [
    "what any map can show",
    "The share of what deletions do that is a sum over words. The rest is words acting together, which no shades can tell.",
    "R² of the best linear surrogate; local fidelity in LIME.",
  ],
  deleting: [
    "deleting words",
    "The words are taken out of the text and the whole model reads it again.",
    "Erasure, perturbation, occlusion. Comprehensiveness and sufficiency (DeYoung et al., 2020) delete or keep the first " +
      "words of a ranking, and AOPC (Samek et al., 2017) averages that over several shares. They ask each method about its " +
      "own first words; here all maps are judged on the same random deletions.",
  ],
  erasing: [
    "erasing at the attention layer",
    "A word's weight is set to 0 and the others share it; the layers below have still read the word.",
    "Zeroing and renormalising attention (Serrano & Smith, 2019).",
  ],
  smallest: [
    "smallest set",
    "The fewest words whose erasure changes the decision.",
    "Decision flip; minimal sufficient change; a counterfactual by erasure.",
  ],
  default: [
    "no word decides it",
    "A class that the model decides when nothing speaks against it: a text without any word gets it too.",
    "Default or background class. No highlight can explain it.",
  ],
  shuffled: [
    "shuffled weights",
    "The same weights permuted within each text, and measured again: what uneven weights achieve by chance.",
    "Permutation baseline, null model.",
  ],
  adversary: [
    "other attention, same decision",
    "The weights farthest from the model's own that leave its output nearly as it is.",
    "Adversarial attention (Jain & Wallace, 2019). It exists for almost any model.",
  ],
  "leave-one-out": [
    "leave-one-out",
    "What the decision loses when one word is deleted.",
    "Occlusion, feature ablation, erasure of single tokens (Li et al., 2016).",
  ],
  distance: [
    "distance of a text",
    "How far a map is from what deletions of that text's words do: 1 − the cosine of the two. 0 is the same, 1 unrelated.",
    "Cosine distance between attribution and effect.",
  ],
  people: [
    "human rationales",
    "Whether people would mark the same words.",
    "Plausibility, agreement with human rationales: AUPRC, token F1, IoU. It says nothing about faithfulness.",
  ],
};

// A term that leads to its meaning.
const term = (key, label) =>
  goLink(`term-${key}`, label ?? TERMS[key][0], { class: "term", title: TERMS[key][1] });

function showTerms() {
  fillPart(
    "terms",
    { title: "Terms", brief: "our words beside those of the field", open: false },
    make(
      "dl",
      { class: "terms" },
      Object.entries(TERMS).map(([key, [name, ours, field]]) =>
        make(
          "div",
          { id: `term-${key}` },
          make("dt", {}, name),
          make("dd", {}, ours),
          make("dd", { class: "faint" }, "In the field: ", field),
        ),
      ),
    ),
  );
}
