"""Heat-map skill: how well painted weights predict what deleting words does, beside the best that any could.

For one text let z ∈ {0,1}ⁿ say which words stay (chance p each), f(z) the probability of the class decided
for the whole text, and z̃ = z − p. The effect of a word, φ_i = Σ f z̃_i / Σ p(1−p), is its coefficient in the
best linear prediction of f. Painted weights w predict deletions with the correlation cos(w, φ)·√R²,
R² being the share of f's variance that any map can predict; so cos(w, φ) is how good they are beside
the best. Over texts

    skill = Σ (⟨ŵ,φ⟩ − ⟨û,φ⟩) / Σ (‖φ‖ − ⟨û,φ⟩),    ŵ = w/‖w‖,  û = 1/√n.

A blank map has 0, weights in proportion to the effects 1, and a peaked map on the wrong words less than 0. No
method has full marks by definition: the deletions do not know of any.

Sizes without a sign, as attention, borrow the signs of φ; so does the blank map beside them. Signs are
estimated on three quarters of the deletions and used on the fourth, in turn, and so are first guesses of φ,
which the fourth corrects: what is left is unbiased given the signs. ‖φ‖² comes from the corrections of two
halves of that quarter, which share no luck. Signs that are wrong by chance only ever lower the skill.

Beside the skill stands what a reader sees at once: the share of the paint on live words, those that matter at
least a quarter as much as the strongest word of their text.

Axes: B texts, M deletions, T words, S quarters, 1 for texts that were read in all their parts.
"""

from dataclasses import dataclass

import torch
from scipy.special import ndtri
from torch import Tensor

from heedful.trials.erasure.random_deletions import CHANCES, HALVES, PARTS, Deletions

SPREAD = sum(p * (1 - p) for p in CHANCES) / len(CHANCES)  # the mean variance of whether a word stays
GRAM = 2**22  # entries of the matrices of products held at once
ROWS = 2**25  # entries of the deletions held at once
LIVE = 1 / 4  # of the strongest effect in a text, from which a word counts as one that matters
TOLD = 5  # standard errors by which the strongest effect must stand out before words are called live or not
DUST = 1e-9  # of a probability: effects below it are the rounding of sums
LEAST = 0.05  # change of the probability from which a word is said to decide
FALSE = 0.05  # chance of one such word in a text whose words do nothing
SEEN = 1 / 5  # of the strongest paint in a text, from which a reader sees a word as painted


@dataclass(frozen=True, eq=False)
class Effects:
    """What words do in random deletions of some texts; 0 on padding."""

    guess: Tensor  # (S,B,T) from the deletions outside a quarter
    effects: Tensor  # (S,B,T) the guess corrected by that quarter: unbiased, whatever the guess
    size: Tensor  # (B,) ‖φ‖
    square: Tensor  # (B,) ‖φ‖² before it is kept at 0 or above: unbiased
    variance: Tensor  # (B,) of f around its mean at each p
    error: Tensor  # (B,) standard error of one word's effect

    @property
    def mean(self) -> Tensor:
        """The effect (B,T) of each word."""
        return self.effects.mean(0)

    @property
    def signs(self) -> Tensor:
        """The signs (S,B,T) that sizes borrow: of each guess."""
        return torch.where(self.guess < 0, -1.0, 1.0).to(self.guess)

    def told(self, sizes: Tensor, mask: Tensor) -> Tensor:
        """⟨ŵ,φ⟩ (B,) of sizes (B,T) with the signs lent."""
        return (_unit(sizes.abs(), mask) * self.signs * self.effects).sum(-1).mean(0)

    def told_signed(self, scores: Tensor, mask: Tensor) -> Tensor:
        """⟨ŵ,φ⟩ (B,) of scores (B,T) with their own signs."""
        return (_unit(scores, mask) * self.mean).sum(-1)

    def take(self, some: Tensor, width: int) -> "Effects":
        """Those of some (B,) of the texts, of at most so many words."""
        of_words = (self.guess[:, some, :width], self.effects[:, some, :width])
        return Effects(*of_words, self.size[some], self.square[some], self.variance[some], self.error[some])

    def told_fitted(self, scores: Tensor, mask: Tensor, *, signed: bool) -> Tensor:
        """⟨ŵ,φ⟩ (B,) of scores (S,B,T) fitted outside each quarter, with their own signs or those lent."""
        units = torch.stack([_unit(one if signed else one.abs(), mask) for one in scores])
        told: Tensor = (units * (1 if signed else self.signs) * self.effects).sum(-1).mean(0)
        return told

    def limit(self) -> Tensor:
        """⟨ŵ,φ⟩ (B,) of the guesses themselves: what a map of the true effects reaches on these deletions."""
        length = self.guess.norm(dim=-1, keepdim=True)
        reached: Tensor = (self.guess / length.where(length > 0, 1) * self.effects).sum(-1).mean(0)
        return reached

    @property
    def told_apart(self) -> Tensor:
        """Texts (B,) whose strongest word stands out from noise, so that live words can be told."""
        strongest = self.mean.abs().amax(1)
        return (strongest > 0) & (strongest >= TOLD * self.error)

    @property
    def live(self) -> Tensor:
        """Words (B,T) that matter: a quarter as much as the text's strongest or more, and an error beyond it.

        The fewer deletions, the larger the error: then fewer words count as live, never more.
        """
        sizes = self.mean.abs()
        return sizes >= LIVE * sizes.amax(1, keepdim=True) + self.error[:, None]

    def against(self, scores: Tensor) -> Tensor:
        """The share (B,) of the paint on words that surely (by two errors) speak against the decision.

        A score below 0 says so itself, and does not count.
        """
        return paint_on((self.mean < -2 * self.error[:, None]) & (scores >= 0), scores)


def effects_of(found: Deletions, mask: Tensor) -> Effects:
    """The effects of the words of these texts, `mask` (B,T) as `found.rows` has them."""
    if found.complete:
        return _exact(found, mask)
    many, words = found.kept.shape[1:]
    at_once = max(1, min(GRAM // (PARTS * min(words, many) ** 2), ROWS // (words * many)))
    parts = [
        _estimated(found.kept[rows], found.said[rows], mask[rows])
        for rows in torch.arange(len(mask)).split(at_once)
    ]
    return Effects(
        *(torch.cat([getattr(part, name) for part in parts], 1) for name in ("guess", "effects")),
        *(
            torch.cat([getattr(part, name) for part in parts])
            for name in ("size", "square", "variance", "error")
        ),
    )


def halves_agree(found: Deletions, mask: Tensor) -> Tensor:
    """The cosine (B,) of the effects by two halves of the deletions, which have none in common.

    Unknown where all parts of a text were read: nothing is left to luck there.
    """
    if found.complete:
        return torch.full((len(mask),), torch.nan, dtype=torch.float64)
    count, many, words = found.kept.shape
    shape = (count, -1, HALVES, PARTS * len(CHANCES))
    kept, said, lost = found.kept.view(*shape, words), found.said.view(shape), found.lost.view(shape)
    first, second = (
        effects_of(
            Deletions(
                found.rows,
                kept[:, :, half].reshape(count, many // HALVES, words),
                said[:, :, half].reshape(count, -1),
                lost[:, :, half].reshape(count, -1),
                complete=False,
            ),
            mask,
        ).mean
        for half in range(HALVES)
    )
    return torch.nn.functional.cosine_similarity(first, second, dim=1, eps=DUST)


def _exact(found: Deletions, mask: Tensor) -> Effects:
    """From all parts of the texts, each counted by its chance."""
    chance = found.chance  # (5,B,M)
    middle = (chance * found.said).sum(2, keepdim=True)
    moved = chance * (found.said - middle)
    p = torch.tensor(CHANCES, dtype=torch.float64)[:, None, None, None]
    z = (found.kept.double() - p) * mask[:, None]  # (5,B,M,T)
    effects = torch.einsum("pbm,pbmt->bt", moved, z) / (len(CHANCES) * SPREAD)
    effects = effects.where(effects.abs() > DUST, 0)
    variance = (moved * (found.said - middle)).sum(2).mean(0)
    size = effects.norm(dim=1)
    return Effects(effects[None], effects[None], size, size.square(), variance, torch.zeros_like(size))


def _estimated(kept: Tensor, said: Tensor, mask: Tensor) -> Effects:
    count, many, words = kept.shape
    chance = torch.tensor(CHANCES, dtype=torch.float64)
    # (B, times, halves, quarters, p, T): as they were dealt out.
    shape = (count, -1, HALVES, PARTS, len(CHANCES))
    z = (kept.double().view(*shape, words) - chance[:, None]) * mask[:, None, None, None, None]
    f = said.view(*shape)
    z, f = (x.permute(0, 3, 2, 1, *range(4, x.dim())) for x in (z, f))  # (B,S,halves,times,p,...)
    each = many // (PARTS * len(CHANCES))  # deletions of a quarter with one p

    # Sums over each quarter, and over the other three.
    sums_z, sums_f = z.sum((2, 3)), f.sum((2, 3))  # (B,S,p,T) and (B,S,p)
    rows = z.reshape(count, PARTS, -1, words)
    answers = f.reshape(count, PARTS, -1)
    products = (rows.mT @ answers[..., None])[..., 0]
    squares = f.square().sum((2, 3, 4))  # (B,S)
    others = (PARTS - 1) * each
    mean_z, mean_f = _outside(sums_z) / others, _outside(sums_f) / others
    products_a = _outside(products) - others * torch.einsum("bspt,bsp->bst", mean_z, mean_f)
    squares_a = _outside(squares) - others * mean_f.square().sum(-1)
    penalty = _penalty(products_a, squares_a, others * len(CHANCES), mask)  # (B,S)
    if words <= many:  # the smaller of the two ways to write the same solution
        gram = rows.mT @ rows
        gram_a = _outside(gram) - others * torch.einsum("bspt,bspu->bstu", mean_z, mean_z)
        guess = _ridge(gram_a, products_a, penalty)
    else:
        guess = _ridge_by_rows(rows, answers, penalty)
    guess = guess * mask[:, None]  # (B,S,T)

    # What the guess leaves of the quarter, by halves.
    expected = mean_f[:, :, None, None] + (
        torch.einsum("bshxpt,bst->bshxp", z, guess)
        - torch.einsum("bspt,bst->bsp", mean_z, guess)[:, :, None, None]
    )
    left = f - expected
    weight = SPREAD * many / (PARTS * HALVES)
    halves = torch.einsum("bshxpt,bshxp->bsht", z, left) / weight
    correction = halves.mean(2)
    square = (guess.square() + 2 * guess * correction + halves.prod(2)).sum(-1).mean(1)
    deviation = f - f.mean((1, 2, 3), keepdim=True)
    variance = deviation.square().sum((1, 2, 3, 4)) / (many - len(CHANCES))
    error = (left.square().mean((1, 2, 3, 4)) / (SPREAD * many)).sqrt()
    return Effects(
        guess.transpose(0, 1),
        (guess + correction).transpose(0, 1),
        square.clamp(min=0).sqrt(),
        square,
        variance,
        error,
    )


def _penalty(products: Tensor, squares: Tensor, rows: int, mask: Tensor) -> Tensor:
    """The penalty (B,S) of each ridge regression, which fits how much its words seem to do.

    It is σ²/τ², the variance left over that of one effect, both by moments: the plain estimate products/rows
    has the length ‖φ‖² + n·v/rows on average.
    """
    words = mask.sum(1).double()[:, None]
    total = SPREAD * rows
    v = squares.clamp(min=0) / rows
    plain = (products / total).square().sum(-1)
    length = torch.maximum(plain - words * v / total, 0.02 * plain)
    noise = torch.maximum(v - SPREAD * length, 0.02 * v)
    return torch.where(length > 0, words * noise / length.where(length > 0, 1), 1.0).clamp(min=1e-6)


def _ridge(gram: Tensor, products: Tensor, penalty: Tensor) -> Tensor:
    """Ridge regressions (B,S,T) from the products of words with each other and with the answers."""
    eye = torch.eye(gram.shape[-1], dtype=gram.dtype)
    factor = torch.linalg.cholesky(gram + penalty[..., None, None] * eye)
    return torch.cholesky_solve(products[..., None], factor)[..., 0]


def _ridge_by_rows(rows: Tensor, answers: Tensor, penalty: Tensor) -> Tensor:
    """The same (B,S,T) from the products of deletions with each other, where words are more than those.

    `rows` (B,S,R,T) and `answers` (B,S,R) are the deletions of each quarter, p after p.
    """
    count, _, each, words = rows.shape
    flat, said = rows.reshape(count, -1, words), answers.reshape(count, -1)
    kernel = flat @ flat.mT
    eye = torch.eye((PARTS - 1) * each, dtype=rows.dtype)
    found = []
    for part in range(PARTS):
        out = torch.arange(PARTS * each) // each != part
        own = _centred(_centred(kernel[:, out][:, :, out]).mT)
        factor = torch.linalg.cholesky(own + penalty[:, part, None, None] * eye)
        share = torch.zeros_like(said)
        share[:, out] = _centred(torch.cholesky_solve(_centred(said[:, out])[..., None], factor)[..., 0])
        found.append((share[:, None] @ flat)[:, 0])
    return torch.stack(found, 1)


def _centred(values: Tensor) -> Tensor:
    """Values (...,R) of deletions, p after p, each without the mean of those with its p."""
    by_chance = values.unflatten(-1, (-1, len(CHANCES)))
    apart: Tensor = by_chance - by_chance.mean(-2, keepdim=True)
    return apart.flatten(-2)


def _outside(parts: Tensor) -> Tensor:
    """For each quarter (axis 1) the sum over the others."""
    return parts.sum(1, keepdim=True) - parts


def surely(effect: Tensor, error: Tensor, mask: Tensor) -> Tensor:
    """The words (B,T) whose change matters and is surely not noise; `error` is (B,T) or (B,1)."""
    words = mask.sum(1, keepdim=True).clamp(min=1).double()
    errors = torch.from_numpy(ndtri(1 - FALSE / 2 / words.numpy()))
    return mask & (effect.abs() >= LEAST) & (effect.abs() > errors * error)


def painted(sizes: Tensor) -> Tensor:
    """The sizes (B,T) that a reader sees: those below a fifth of the strongest are 0."""
    sizes = sizes.abs()
    return sizes * (sizes >= SEEN * sizes.amax(1, keepdim=True))


def paint_on(words: Tensor, sizes: Tensor) -> Tensor:
    """The share (B,) of what is painted that lies on these words (B,T)."""
    seen = painted(sizes)
    total = seen.sum(1)
    return (seen * words).sum(1) / total.where(total > 0, 1)


def first_on(words: Tensor, sizes: Tensor, mask: Tensor) -> Tensor:
    """Whether (B,) the word with the strongest paint is one of these (B,T); of several alike, the share."""
    seen = sizes.abs().masked_fill(~mask, -1)
    first = seen == seen.amax(1, keepdim=True)
    return (first & words).sum(1).double() / first.sum(1)


def _unit(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores (B,T) of length 1 in each text; nothing painted at all is a blank map."""
    scores = (scores * mask).double()
    length = scores.norm(dim=1, keepdim=True)
    blank = mask.double() / mask.double().sum(1, keepdim=True).clamp(min=1).sqrt()
    return torch.where(length == 0, blank, scores / length)  # unknown scores stay unknown
