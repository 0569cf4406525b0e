"""The papers' ten models, by name.

`dp`, `dp-a`, `dp-l`, `ad`: Sun & Lu (2020), §3 and supplement D, E, G; λ = 10, dropout 0.5 in both places.
The encoder of dp-l is bidirectional (their Fig. 13); its width is not stated and taken to be d. `flan-*`,
`han-*`: Serrano & Smith (2019), §3 and A.1, with the dropouts of their IMDB models; other corpora's are
presets of training.
"""

from dataclasses import replace

from heedful.models.settings import ModelSettings

_DP = ModelSettings(scale=10, dropout_words=0.5, dropout_head=0.5)
_FLAN = ModelSettings(
    embedding=200,
    embedding_source="word2vec-sentences",
    attention="additive",
    attention_width=100,
    head="logits",
    head_bias=True,
    dropout_words=0.4445,
    dropout_head=0.3457,
    initialisation="serrano-smith",
)
_HAN = replace(_FLAN, levels="hierarchical", dropout_sentences=0.2202, dropout_head=0.2457)

MODELS: dict[str, ModelSettings] = {
    "dp": _DP,
    "dp-a": replace(_DP, encoder="affine"),
    "dp-l": replace(_DP, encoder="bilstm"),
    "ad": replace(_DP, attention="additive", attention_bias=False),
    "flan-rnn": replace(_FLAN, encoder="bigru"),
    "flan-conv": replace(_FLAN, encoder="conv"),
    "flan-noenc": replace(_FLAN, attention_width=200),
    "han-rnn": replace(_HAN, encoder="bigru"),
    "han-conv": replace(_HAN, encoder="conv"),
    "han-noenc": replace(_HAN, attention_width=200),
}
