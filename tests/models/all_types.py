"""A tiny random classifier of every type that transformers can classify texts with."""

import torch
import transformers
from tiny_transformers import stirred
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as TYPES

WIDTH, HEADS, INNER, LAYERS = 32, 4, 48, 2
# What families call their sizes: each takes those that it has.
SMALL = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "n_embd", "dim", "embedding_size", "attention_hidden_size"), WIDTH
    ),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "num_layers"), LAYERS),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), LAYERS),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads"), HEADS),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), HEADS),
    **dict.fromkeys(("intermediate_size", "n_inner", "hidden_dim", "d_ff", "ffn_dim", "d_inner"), INNER),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "feed_forward_size", "ffn_hidden_size"), INNER),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), INNER),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("head_dim", "d_kv", "d_head", "attention_head_dim", "v_head_dim"), WIDTH // HEADS),
    **dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim", "rotary_dim"), 8),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "adapter_rank", "mamba_dt_rank"), 8),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
    "num_key_value_heads": 2,
    "num_experts_per_tok": 2,
    "vocab_size": 128,
    "entity_vocab_size": 8,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "n_group": 1,
    "topk_group": 1,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
    "num_labels": 3,
}
FULL = {"layer_types": ["full_attention"] * LAYERS}
LATENT = {"num_key_value_heads": HEADS, "qk_head_dim": 16, "head_dim": 8}
HYBRID = {
    "layers_block_type": ["linear_attention", "hybrid"],
    "num_key_value_heads": HEADS,
    "n_mamba_heads": 2,
}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "depth": 1,
    "num_heads": 4,
    "image_size": 28,
    "patch_size": 14,
    "out_hidden_size": 32,
}
OWN = {  # what a type needs besides
    "axk1": {**LATENT, "mlp_layer_types": ["dense", "sparse"]},
    "axk2": {**LATENT, "mlp_layer_types": ["dense", "sparse"], "layer_types": ["indexed_attention"] * LAYERS},
    "canine": {"num_hash_buckets": 64, "local_transformer_stride": 16},
    "cohere_compass_text": {
        **FULL,
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}},
    },
    "deepseek_v2": LATENT,
    "deepseek_v3": {**LATENT, "first_k_dense_replace": 1},
    "esmc": {"num_key_value_heads": HEADS},
    "falcon": {"head_dim": None, "num_kv_heads": HEADS},
    "funnel": {"num_hidden_layers": None, "block_sizes": [1, 1], "num_decoder_layers": 1},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6, "visual_embed": False},
    "lilt": {"hidden_size": 48, "max_2d_position_embeddings": 16},
    "longformer": {"attention_window": [4, 4], "max_position_embeddings": 80},
    "minicpm3": LATENT,
    "minimax": {"layer_types": ["linear_attention", "full_attention"], "block_size": 8},
    "mistral4": {**LATENT, "num_experts_per_tok": 1, "head_dim": 16},
    "perceiver": {
        "num_latents": 8,
        "d_latents": 32,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
    },
    "qwen3_5_text": {"layer_types": ["linear_attention", "full_attention"]},
    "qwen3_next": {"layer_types": ["linear_attention", "full_attention"]},
    "reformer": {"axial_pos_embds_dim": [16, 16], "axial_pos_shape": [8, 8], "attn_layers": ["local", "lsh"]},
    "squeezebert": {
        "q_groups": 2,
        "k_groups": 2,
        "v_groups": 2,
        "intermediate_groups": 2,
        "output_groups": 2,
    },
    "t5": {"decoder_start_token_id": 0},
    "xlnet": {"max_position_embeddings": None},
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        **HYBRID,
        "num_hidden_layers": 4,
        "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "mamba_dt_rank": 4,
        "attention_hidden_size": 64,
        "attention_head_dim": 16,
    },
    "zamba2": {**HYBRID, "attention_hidden_size": 64, "attention_head_dim": 16, "mamba_headdim": 32},
}
NESTED = {  # the configurations inside a configuration
    "gemma3": ("text_config", "vision_config"),
    "modernvbert": ("text_config", "vision_config"),
    "qwen3_5": ("text_config", "vision_config"),
    "t5gemma": ("encoder", "decoder"),
    "t5gemma2": ("encoder", "decoder"),
    "ultravbert": ("text_config", "vision_config"),
}


def tiny(kind, *, seed=0):
    """A random classifier of this type, with two layers, in evaluation, in which everything matters."""
    torch.manual_seed(seed)
    config = _config(CONFIG_MAPPING[kind], {**SMALL, **OWN.get(kind, {})}, NESTED.get(kind, ()))
    config._experts_implementation_internal = "eager"  # the grouped kernel wants widths of its own
    network = getattr(transformers, TYPES[kind])._from_config(config).eval()
    if kind == "xmod":
        network.set_default_language("en_XX")
    return stirred(network, seed=seed)


def _config(made, sizes, nested):
    usual = made()
    has = {name: value for name, value in sizes.items() if value is not None and _settable(usual, name)}
    for part in nested:
        inner = getattr(usual, part)
        own = {**sizes, **(VISION if part == "vision_config" else {})}
        if "linear_attention" in (getattr(inner, "layer_types", None) or ()):
            own["layer_types"] = ["linear_attention", "full_attention"]
        deeper = [
            name for name in getattr(inner, "sub_configs", {}) if getattr(inner, name, None) is not None
        ]
        has[part] = _config(type(inner), {k: v for k, v in own.items() if k != "num_labels"}, deeper)
    return made(**has)


def _settable(config, name):
    if isinstance(getattr(type(config), name, None), property) and getattr(type(config), name).fset is None:
        return False
    try:
        return hasattr(config, name) or name in ("num_labels", "rope_parameters") or config.model_type == "t5"
    except NotImplementedError:
        return False


def probes():
    """Ids of texts of three lengths, two texts each, from a first to a last mark."""
    draw = torch.Generator().manual_seed(0)
    found = []
    for length in (7, 11, 13):
        ids = torch.randint(3, 100, (2, length), generator=draw)
        ids[:, 0], ids[:, -1] = 1, 2
        found.append({"input_ids": ids})
    return found
