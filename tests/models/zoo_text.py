"""Language models of transformers, small: encoders, decoders, mixtures of experts, sequence to sequence."""

import torch
from torch import nn

from zoo import ZOO, Entry, Outputs, tokens

SIZES = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 48, "max_position_embeddings": 64}  # fmt: skip


def add(name, kind, head, config, inputs, keys, dynamic="all", **fixed):
    def build():
        import transformers

        net = getattr(transformers, kind + head)(getattr(transformers, kind + "Config")(**config))
        return Outputs(net, *keys, **fixed), inputs()

    ZOO[name] = Entry(build, dynamic=dynamic, package="transformers")


def sizes(**changes):
    return {k: v for k, v in {**SIZES, **changes}.items() if v is not None}


def masked_tokens(length=10):
    return tokens(length), torch.ones(1, length, dtype=torch.long)


_PADDED = sizes(pad_token_id=1)
for _name, _kind, _config in (
    ("roberta", "Roberta", _PADDED),
    ("xlm_roberta", "XLMRoberta", _PADDED),
    ("mpnet", "MPNet", _PADDED),
    ("electra", "Electra", SIZES),
    ("albert", "Albert", sizes(embedding_size=16)),
    ("deberta", "Deberta", SIZES),
    ("deberta_v2", "DebertaV2", SIZES),
    ("convbert", "ConvBert", sizes(embedding_size=32)),
    ("roformer", "RoFormer", SIZES),
    ("esm", "Esm", _PADDED),
    (
        "modernbert",
        "ModernBert",
        sizes(pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, local_attention=8),
    ),
    (
        "squeezebert",
        "SqueezeBert",
        sizes(embedding_size=32, intermediate_size=64, q_groups=2, k_groups=2, v_groups=2, output_groups=2),
    ),
    ("big_bird", "BigBird", sizes(attention_type="original_full")),
):
    add(_name, _kind, "Model", _config, masked_tokens, ("last_hidden_state",))

_GROUPED = sizes(num_key_value_heads=2)
_GPT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
for _name, _kind, _config in (
    ("mistral", "Mistral", _GROUPED),
    ("qwen2", "Qwen2", _GROUPED),
    ("qwen3", "Qwen3", {**_GROUPED, "head_dim": 8}),
    ("gemma2", "Gemma2", {**_GROUPED, "head_dim": 8}),
    ("phi3", "Phi3", {**_GROUPED, "pad_token_id": 0}),
    ("cohere", "Cohere", _GROUPED),
    ("olmo", "Olmo", _GROUPED),
    ("gpt_neox", "GPTNeoX", SIZES),
    ("gptj", "GPTJ", {**_GPT, "rotary_dim": 4}),
    ("falcon", "Falcon", SIZES),
    ("mpt", "Mpt", {"vocab_size": 99, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}),
    ("mamba", "Mamba", {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
    ("mixtral", "Mixtral", {**_GROUPED, "num_local_experts": 4}),
    (
        "qwen2_moe",
        "Qwen2Moe",
        {**_GROUPED, "num_experts": 4, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16,
         "num_experts_per_tok": 2},
    ),
    (
        "deepseek_v3",
        "DeepseekV3",
        sizes(n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1, moe_intermediate_size=16,
              q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8,
              first_k_dense_replace=1, n_shared_experts=1),
    ),
):  # fmt: skip
    add(_name, _kind, "ForCausalLM", _config, lambda: (tokens(),), ("logits",), use_cache=False)


class Translator(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, source, target):
        return self.net(input_ids=source, decoder_input_ids=target, use_cache=False).logits


def _translator(kind, model, **config):
    def build():
        import transformers

        net = getattr(transformers, model)(getattr(transformers, kind + "Config")(**config))
        return Translator(net), (torch.randint(3, 99, (1, 8)), torch.randint(3, 99, (1, 6)))

    return Entry(build, dynamic="all", package="transformers")


_PAIR = {"vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
         "decoder_attention_heads": 4, "encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "max_position_embeddings": 64,
         "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}  # fmt: skip
ZOO["bart"] = _translator("Bart", "BartForConditionalGeneration", **_PAIR)
ZOO["marian"] = _translator("Marian", "MarianMTModel", **_PAIR)
ZOO["m2m100"] = _translator("M2M100", "M2M100ForConditionalGeneration", **_PAIR)
ZOO["t5"] = _translator(
    "T5", "T5ForConditionalGeneration", vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4,
    decoder_start_token_id=0,
)  # fmt: skip
