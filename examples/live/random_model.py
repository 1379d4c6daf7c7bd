"""Write a language model with random weights: real enough for llama.cpp, too small to know anything.

usage: python examples/live/random_model.py OUT.gguf SEED

Another seed is another model: it prefers other tools, other values and other sentences. The file has some 330 kB and is
the same for the same seed and vocabulary, which is trained on the words of the battery that the model is to play.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path

import gguf
import numpy
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

WIDTH, LAYERS, HEADS, INNER, CONTEXT, VOCABULARY = 32, 1, 2, 64, 8192, 1024
START, END = "<|start|>", "<|end|>"
TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '" + START + "' + message['role'] + '\\n' + message['content'] + '" + END + "\\n' -}}"
    "{%- endfor -%}{{- '" + START + "assistant\\n' -}}"
)


def main() -> int:
    """Write the model, and say how large it is."""
    out, seed = Path(sys.argv[1]), int(sys.argv[2])
    write(out, seed)
    print(f"{out.name}: {out.stat().st_size:,} bytes")
    return 0


def write(out: Path, seed: int) -> None:
    """Write the model of a seed."""
    tokens, merges = vocabulary()
    writer = gguf.GGUFWriter(str(out), "llama")
    writer.add_name(f"random-{seed}")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.CONTROL if token in (START, END) else kinds.NORMAL for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index(START))
    writer.add_eos_token_id(tokens.index(END))
    writer.add_pad_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, weights in tensors(seed, len(tokens)):
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensors(seed: int, size: int) -> list[tuple[str, numpy.ndarray]]:
    """Return the weights of a seed, by the names that llama.cpp gives them."""
    random = numpy.random.default_rng(seed)

    def drawn(*shape: int, scale: float = 0.08) -> numpy.ndarray:
        return (random.standard_normal(shape) * scale).astype(numpy.float32)

    ones = numpy.ones(WIDTH, numpy.float32)
    found = [("token_embd.weight", drawn(size, WIDTH, scale=0.32)), ("output_norm.weight", ones)]
    found.append(("output.weight", drawn(size, WIDTH, scale=0.12)))
    for layer in range(LAYERS):
        for name, shape in (
            *((f"attn_{part}", (WIDTH, WIDTH)) for part in ("q", "k", "v", "output")),
            ("ffn_gate", (INNER, WIDTH)),
            ("ffn_up", (INNER, WIDTH)),
            ("ffn_down", (WIDTH, INNER)),
        ):
            found.append((f"blk.{layer}.{name}.weight", drawn(*shape)))
        found += [(f"blk.{layer}.{name}_norm.weight", ones) for name in ("attn", "ffn")]
    return found


def vocabulary() -> tuple[list[str], list[str]]:
    """Return tokens and merges: byte pairs, ASCII alone, trained on the battery's own words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = [chr(code) for code in range(0x21, 0x7F)] + ["\u0120", "\u010a"]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[START, END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([words()], trainer)
    told = json.loads(tokenizer.to_str())["model"]
    merges = [one if isinstance(one, str) else " ".join(one) for one in told["merges"]]
    return sorted(told["vocab"], key=told["vocab"].__getitem__), merges


def words() -> str:
    """Return the texts that the model will meet: the world and the battery, as they are bundled."""
    texts = []
    for folder in ("world/bundled", "battery/bundled"):
        for file in sorted((files("outstep") / folder).iterdir(), key=lambda one: one.name):
            if "refund" in file.name and file.name.endswith((".yaml", ".json")):
                texts.append(file.read_text("utf-8"))
    return "\n".join(texts).encode("ascii", "ignore").decode()


if __name__ == "__main__":
    sys.exit(main())
