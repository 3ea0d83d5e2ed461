"""Logs of training runs, written here, with a known truth."""

import json

from driven import Cli

SHAPE = {"num_layers": 32, "hidden_size": 4096, "ffn_hidden_size": 14336, "num_attention_heads": 32,
         "num_query_groups": 8, "group_query_attention": True, "swiglu": True, "seq_length": 8192,
         "micro_batch_size": 1, "global_batch_size": 128, "world_size": 64, "data_parallel_size": 64,
         "tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 1, "bf16": True,
         "padded_vocab_size": 128256, "untie_embeddings_and_output_weights": True,
         "max_position_embeddings": 8192, "position_embedding_type": "rope"}
# FLOPs of a token of that shape as Megatron-LM counts them, worked out by hand below.
LAYERS, HIDDEN, FFN, VOCAB, SEQ = 32, 4096, 14336, 128256, 8192


def megatron_flops_per_token():
    """12 L h^2 x ((1 + 1/4 + s / 2h) + 3 f / 2h ... ) written as matrix products, all times 3 passes
    and 2 FLOPs: queries and output h^2 each, keys and values h^2/4 each, causal halves the scores."""
    attention = 2 * HIDDEN * HIDDEN + 2 * HIDDEN * HIDDEN / 4
    scores = HIDDEN * SEQ  # two products of h x s, causal: half of them
    mlp = 3 * HIDDEN * FFN
    return 6 * (LAYERS * (attention + scores + mlp) + HIDDEN * VOCAB)


def step_line(iteration, milliseconds, tflops=None, batch=128, total=500):
    text = (f" [2026-01-01 00:00:00] iteration {iteration:8d}/{total:8d} | consumed samples: "
            f"{iteration * batch:12d} | elapsed time per iteration (ms): {milliseconds:.1f} | ")
    if tflops is not None:
        text += f"throughput per GPU (TFLOP/s/GPU): {tflops:.1f} | "
    return text + (f"learning rate: 3.0E-05 | global batch size: {batch:5d} | lm loss: 2.5E+00 | "
                   "loss scale: 1.0 | grad norm: 0.5 | number of skipped iterations:   0 | "
                   "number of nan iterations:   0 |")


def arguments_block(**changes):
    lines = ["------------------------ arguments ------------------------"]
    for name, value in {**SHAPE, **changes}.items():
        if value is not None:
            lines.append(f"  {name} {'.' * (48 - len(name))} {value}")
    lines.append("-------------------- end of arguments ---------------------")
    return lines


def wiggle(index):
    return 1 + 0.004 * ((7 * index) % 11 - 5) / 5


def megatron_log(milliseconds=3100.0, steps=60, first=9000.0, tflops=True, slow_every=0, **changes):
    work = megatron_flops_per_token() * SHAPE["global_batch_size"] * SEQ / SHAPE["world_size"]
    lines = arguments_block(**changes)
    for index in range(1, steps + 1):
        took = milliseconds * wiggle(index)
        if index == 1 and first:
            took = first
        elif slow_every and index % slow_every == 0:
            took *= 1.4
        lines.append(step_line(index, took, work / took / 1e9 if tflops else None))
    return "\n".join(lines) + "\n"


class Log(Cli):
    def answer(self, *arguments, code=0, **options):
        result = self.mfu("log", *arguments, "--json", **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)


if __name__ == "__main__":
    # examples/train.log
    print(megatron_log(steps=80, slow_every=10), end="")
