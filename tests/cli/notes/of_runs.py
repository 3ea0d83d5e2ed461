"""Notes about run documents, their layout, their model and their peak."""

import json

from driven import HALF_OF_PEAK, run_document
from raising import raises

SMALL = {"layers": 4, "hidden": 64, "heads": 8, "vocab": 100, "ffn_hidden": 96, "gated_mlp": True}
CONFIG = {"num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 8, "vocab_size": 100,
          "intermediate_size": 96, "hidden_act": "silu"}


def diagnosed(case, document, *options):
    return ["diagnose", case.write("run.json", document), *options]


def changed(**keys):
    return {**run_document(), **keys}


def lines(case, header, *samples, name="run.jsonl"):
    """A run as JSON Lines."""
    text = "\n".join(json.dumps(line) for line in [{"schema": "mfu.run/1", **header}, *samples])
    return case.write(name, text + "\n")


def sample(rank, step, **keys):
    return {"rank": rank, "step": step, "compute": 1.0 + 0.01 * rank, "comm": 0.1, "stall": 0.0,
            **keys}


def flops_of(case, shape, *options):
    return ["flops", "--model", case.write("config.json", shape), "--seq-len", "128", *options]


# -- documents

@raises("unknown-keys")
def a_key_that_the_format_has_not(case):
    return diagnosed(case, changed(colour="red", workload={"colour": "red"}))


@raises("truncated-tail")
def a_last_line_that_is_cut_off(case):
    path = lines(case, {}, *[sample(rank, step) for step in range(12) for rank in (0, 1)])
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"rank": 0, "st')
    return ["diagnose", path]


@raises("ranks-without-kernels")
def a_rank_whose_kernels_were_not_recorded(case):
    samples = [sample(rank, step) for step in range(12) for rank in (0, 1)]
    samples += [sample(2, step, compute=0.0, stall=1.1) for step in range(12)]
    return ["diagnose", lines(case, {}, *samples)]


@raises("waits-unknown")
def one_rank_of_several(case):
    samples = [sample(0, step) for step in range(12)]
    return ["diagnose", lines(case, {"hardware": {"count": 8}}, *samples)]


@raises("step-ids-assumed")
def steps_without_numbers(case):
    document = run_document()
    del document["steps"]
    return diagnosed(case, document)


@raises("repeated-samples", "rank-moved", "steps-not-on-all-ranks")
def a_job_that_was_resumed_elsewhere(case):
    samples = [sample(rank, step, node="a") for step in range(12) for rank in (0, 1)]
    samples += [sample(rank, step, node="b") for step in range(10, 14) for rank in (0, 1)]
    return ["diagnose", lines(case, {}, *samples, sample(0, 14, node="b"))]


@raises("rank-without-samples")
def a_rank_without_samples(case):
    document = [sample(rank, step) for step in range(12) for rank in (0, 1)]
    return ["diagnose", lines(case, {}, {"rank": 2, "node": "a"}, *document)]


@raises("series-not-on-all-ranks", "comm-by-group-sum")
def communication_by_group_of_one_rank(case):
    document = run_document()
    document["ranks"][0]["comm_by_group"] = {"dp": [9.0] * len(document["steps"])}
    return diagnosed(case, document)


@raises("missing-samples", "steps-with-missing-samples")
def samples_that_are_missing(case):
    document = run_document(ranks=16)
    document["ranks"][3]["compute"][5] = None
    for rank in document["ranks"][:4]:
        rank["compute"][7] = None
    return diagnosed(case, document)


@raises("steps-selected", "ranks-selected")
def a_part_of_the_run(case):
    return diagnosed(case, run_document(), "--steps", "3..9", "--ranks", "0-3")


@raises("tokens-per-step-differs")
def tokens_beside_batch_and_length(case):
    work = {"seq_len": 128, "global_batch": 8, "tokens_per_step": 1000}
    return diagnosed(case, changed(workload=work))


# -- layout

@raises("count-below-ranks", "count-below-layout")
def fewer_gpus_than_ranks(case):
    return diagnosed(case, changed(hardware={"count": 2}, parallelism={"dp": 8}))


@raises("one-rank-per-tp-group")
def ranks_that_count_tensor_groups(case):
    document = run_document(ranks=2)
    return diagnosed(case, {**document, "parallelism": {"tp": 4, "dp": 2}, "hardware": {"count": 2}})


@raises("dp-size-assumed")
def a_layout_without_its_data_parallel_size(case):
    return diagnosed(case, changed(parallelism={"tp": 2, "pp": 2}))


@raises("experts-inside-dp")
def experts_as_megatron_counts_them(case):
    return diagnosed(case, changed(parallelism={"dp": 8, "ep": 4}, hardware={"count": 8}))


@raises("coords-not-on-all-ranks")
def coordinates_of_one_rank(case):
    document = run_document()
    document["ranks"][0]["coords"] = {"dp": 0}
    return diagnosed(case, document)


# -- what a diagnosis says of the run

@raises("long-warmup")
def a_start_that_goes_on(case):
    document = run_document(steps=60)
    for rank in document["ranks"]:
        rank["compute"] = [value * (3.0 if step < 30 else 1.0)
                           for step, value in enumerate(rank["compute"])]
    return diagnosed(case, document)


@raises("uneven-steps")
def ranks_whose_steps_are_not_alike(case):
    document = run_document()
    for rank in document["ranks"]:
        rank["comm"] = [value * (1 + rank["rank"]) * 5 for value in rank["comm"]]
    return diagnosed(case, document)


@raises("unattributed-time")
def buckets_that_make_no_step(case):
    document = run_document()
    for rank in document["ranks"]:
        rank["step"] = [3.0] * len(document["steps"])
    return diagnosed(case, document)


@raises("waits-elsewhere")
def waits_in_another_bucket(case):
    document = run_document(slow_rank=5, steps=48)
    for rank in document["ranks"]:
        rank["comm"], rank["stall"] = rank["stall"], rank["comm"]
    return diagnosed(case, {**document, "stall": 0.0})


# -- model

@raises("ffn-hidden-assumed")
def a_config_without_its_width(case):
    shape = {**CONFIG, "model_type": "llama"}
    del shape["intermediate_size"]
    return flops_of(case, shape)


@raises("model-family-unknown")
def a_family_of_next_year(case):
    return flops_of(case, {**CONFIG, "model_type": "brand_new"})


@raises("text-tower-only")
def a_model_that_sees(case):
    inner = {**CONFIG, "model_type": "qwen3_vl_text"}
    return flops_of(case, {"model_type": "qwen3_vl", "vision_config": {"hidden_size": 9},
                           "text_config": inner})


@raises("gating-assumed")
def a_shape_without_its_gate(case):
    shape = dict(SMALL)
    del shape["gated_mlp"]
    return flops_of(case, shape)


@raises("positions-unknown")
def learned_positions(case):
    return flops_of(case, {**SMALL, "learned_pos_emb": True})


@raises("params-differ")
def parameters_of_another_shape(case):
    return flops_of(case, {**SMALL, "params": 7e9})


@raises("model-name-differs", "name-disagrees")
def a_name_of_another_size(case):
    return flops_of(case, {**SMALL, "name": "llama-2-7b"})


@raises("params-disagree")
def parameters_beside_the_model(case):
    return flops_of(case, SMALL, "--params", "7B")


IN_PARAMETERS = ["--params", "7B", "--convention", "6n", "--seq-len", "128", "--gpus", "8",
                 "--tokens-per-s", "20000", "--peak", "312T"]


@raises("model-unknown")
def a_name_that_no_preset_has(case):
    return ["calc", "--model", '{"name": "maxtext-22b"}', *IN_PARAMETERS]


@raises("model-keys-missing")
def a_shape_that_lacks_keys(case):
    return ["calc", "--model", '{"params": 7e9, "layers": 4}', *IN_PARAMETERS]


# -- chip and peak

@raises("chip-name")
def a_slice_of_a_chip(case):
    return diagnosed(case, run_document(flops=1e12, chip="h100-sxm MIG 3g.40gb"))


@raises("chip-taken")
def a_chip_of_several_kinds(case):
    return diagnosed(case, run_document(flops=HALF_OF_PEAK, chip="a100"))


@raises("unknown-chip", "clock-not-used")
def a_chip_that_only_its_peak_is_known_of(case):
    hardware = {"chip": "no-such-chip", "peak_tflops": 300.0, "count": 8}
    return diagnosed(case, changed(hardware=hardware, clock="max"))


@raises("peak-disagrees")
def a_peak_that_is_not_the_chips(case):
    return diagnosed(case, changed(hardware={"chip": "a100-sxm4-80gb", "peak_tflops": 50.0}))


@raises("sparse-peak")
def the_peak_with_sparsity(case):
    return diagnosed(case, changed(hardware={"chip": "h100-sxm", "peak_tflops": 1979.0}))


@raises("precision-assumed")
def no_precision(case):
    return diagnosed(case, changed(hardware={"chip": "h100-sxm"}))


@raises("clock-above-max")
def a_clock_that_no_chip_reaches(case):
    return ["calc", "--tflops", "100", "--chip", "h100-sxm", "--clock", "2100"]


@raises("peak-given")
def a_peak_beside_the_chip(case):
    return ["calc", "--tflops", "100", "--chip", "h100-sxm", "--peak", "989T"]


@raises("user-chip-shadows")
def a_chip_of_ones_own_with_a_known_name(case):
    own = {"schema": "mfu.chips/1", "chips": [
        {"id": "h100-sxm", "rates": [{"precision": "bf16", "tflops": 900}]}]}
    return ["calc", "--tflops", "100", "--chip", "h100-sxm", "--chips", case.write("own.json", own)]


# -- the work of a step

def counted(case, work=None, options=(), **keys):
    work = {"seq_len": 128, "global_batch": 8, **(work or {})}
    return diagnosed(case, changed(model=SMALL, workload=work, **keys), *options)


@raises("work-counted")
def a_model_and_its_batch(case):
    return counted(case)


@raises("work-not-counted")
def a_count_of_the_hardware(case):
    return counted(case, convention="narayanan-2021")


@raises("hfu-not-defined")
def recomputation_of_another_convention(case):
    return counted(case, {"recompute": "selective"}, convention="6n")


@raises("convention-6n")
def parameters_alone(case):
    return ["calc", "--params", "7B", "--tokens-per-s", "20000", "--peak", "312T", "--gpus", "8"]


@raises("overridden", "contradicts-run")
def an_option_against_the_file(case):
    return counted(case, options=["--batch", "16", "--convention", "6n"])


@raises("options-contradict")
def two_options_of_the_tokens(case):
    return counted(case, options=["--batch", "16", "--tokens-per-step", "1000"])
