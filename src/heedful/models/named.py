"""The papers' ten models, by name.

`dp`, `dp-a`, `dp-l`, `ad`: Sun & Lu (2020), §3 and supplement D, E, G; λ = 10, dropout 0.5 in both places.
The encoder of dp-l is bidirectional (their Fig. 13); its width is not stated and taken to be d. `flan-*`,
`han-*`: Serrano & Smith (2019), §3 and A.1, with the dropouts of their IMDB models; other corpora's are
presets of training.
"""

from heedful.models.settings import ModelSettings

MODELS: dict[str, ModelSettings] = {
    "dp": ModelSettings(scale=10, dropout_words=0.5, dropout_head=0.5),
    "dp-a": ModelSettings(encoder="affine", scale=10, dropout_words=0.5, dropout_head=0.5),
    "dp-l": ModelSettings(encoder="bilstm", scale=10, dropout_words=0.5, dropout_head=0.5),
    "ad": ModelSettings(
        attention="additive", attention_bias=False, scale=10, dropout_words=0.5, dropout_head=0.5
    ),
    "flan-rnn": ModelSettings(
        embedding=200,
        embedding_source="word2vec-sentences",
        encoder="bigru",
        attention="additive",
        attention_width=100,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_head=0.3457,
        initialisation="serrano-smith",
    ),
    "flan-conv": ModelSettings(
        embedding=200,
        embedding_source="word2vec-sentences",
        encoder="conv",
        attention="additive",
        attention_width=100,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_head=0.3457,
        initialisation="serrano-smith",
    ),
    "flan-noenc": ModelSettings(
        embedding=200,
        embedding_source="word2vec-sentences",
        attention="additive",
        attention_width=200,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_head=0.3457,
        initialisation="serrano-smith",
    ),
    "han-rnn": ModelSettings(
        levels="hierarchical",
        embedding=200,
        embedding_source="word2vec-sentences",
        encoder="bigru",
        attention="additive",
        attention_width=100,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_sentences=0.2202,
        dropout_head=0.2457,
        initialisation="serrano-smith",
    ),
    "han-conv": ModelSettings(
        levels="hierarchical",
        embedding=200,
        embedding_source="word2vec-sentences",
        encoder="conv",
        attention="additive",
        attention_width=100,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_sentences=0.2202,
        dropout_head=0.2457,
        initialisation="serrano-smith",
    ),
    "han-noenc": ModelSettings(
        levels="hierarchical",
        embedding=200,
        embedding_source="word2vec-sentences",
        attention="additive",
        attention_width=200,
        head="logits",
        head_bias=True,
        dropout_words=0.4445,
        dropout_sentences=0.2202,
        dropout_head=0.2457,
        initialisation="serrano-smith",
    ),
}
