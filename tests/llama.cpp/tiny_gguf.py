"""Writes a llama model of random weights, small enough to be made in a second, for servers that load GGUF files.

    pip install gguf numpy
    python tests/llama.cpp/tiny_gguf.py tiny.gguf

It knows no language: what it is good for is to see whether a server and Cairn understand each other. Its tokens are the
256 bytes. Some things are not random, so that a reply ends and a grammar makes it one that says something: quotation
marks and closing brackets are likely everywhere, after a quotation mark the end is, or else `A`, and after an opening
bracket `1` or `{`.

docs/models.md says what was tried with it.
"""

import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, FEED_FORWARD, CONTEXT = 2, 64, 4, 128, 16_384
UNKNOWN, BEGIN, END, FIRST_BYTE = 0, 1, 2, 3
TOKENS = FIRST_BYTE + 256
# Features of a token that are not random: one that all have, and one each that only a letter has.
ALWAYS, AFTER_QUOTE, AFTER_BRACKET = 0, 1, 2
LIKELY = {'"': 6.0, "}": 5.0, "]": 5.0, ":": 4.0, ",": -4.0, " ": -6.0, "\n": -6.0, "\t": -6.0, "\\": -6.0}
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "


def tokens():
    """Returns texts, scores and kinds of all tokens."""
    texts = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
    return texts, [0.0] * TOKENS, kinds


def tensors():
    """Returns names and values of all weights, the same whenever they are made."""
    random = np.random.default_rng(1)

    def weights(rows, columns, spread):
        return (random.standard_normal((rows, columns)) * spread).astype(np.float32)

    embedding = weights(TOKENS, WIDTH, 0.1)
    embedding[:, [ALWAYS, AFTER_QUOTE, AFTER_BRACKET]] = [4.0, 0.0, 0.0]
    embedding[FIRST_BYTE + ord('"'), AFTER_QUOTE] = 4.0
    embedding[FIRST_BYTE + ord("["), AFTER_BRACKET] = 4.0
    output = weights(TOKENS, WIDTH, 0.3)
    output[:, [ALWAYS, AFTER_QUOTE, AFTER_BRACKET]] = 0.0
    for letter, worth in LIKELY.items():
        output[FIRST_BYTE + ord(letter), ALWAYS] = worth / 8
    output[END, AFTER_QUOTE] = 4.0
    output[FIRST_BYTE + ord("A"), AFTER_QUOTE] = 2.0
    for letter in "1{":
        output[FIRST_BYTE + ord(letter), AFTER_BRACKET] = 2.0
    yield "token_embd.weight", embedding
    yield "output.weight", output
    yield "output_norm.weight", np.ones(WIDTH, np.float32)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for norm in ["attn_norm", "ffn_norm"]:
            yield f"{block}{norm}.weight", np.ones(WIDTH, np.float32)
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"]:
            yield f"{block}{part}.weight", weights(WIDTH, WIDTH, 0.02)
        for part in ["ffn_gate", "ffn_up"]:
            yield f"{block}{part}.weight", weights(FEED_FORWARD, WIDTH, 0.02)
        yield f"{block}ffn_down.weight", weights(WIDTH, FEED_FORWARD, 0.02)


def write(path):
    """Writes the model into a file."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    # The vector of a text is the mean over its tokens.
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("llama")
    texts, scores, kinds = tokens()
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_unk_token_id(UNKNOWN)
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    for name, values in tensors():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tiny_gguf.py FILE")
    write(sys.argv[1])
