// The constants and formulas of plans, with their sources: what `mfu explain` says of them.
#include "report/list/terms.hpp"

#include <array>

namespace mfu {
namespace {

constexpr std::array kPlanTerms{
    Term{"plan", "time, GPUs and money of a training run",
         "FLOPs per token x tokens = MFU x peak x GPU-seconds x goodput; GPU-seconds = GPUs x wall "
         "time; cost = price x GPU-seconds. Whatever is not given is worked out; statements that "
         "differ by more than 1 % are refused. The MFU is taken as constant over the run.",
         "Chowdhery et al. 2022, PaLM, arXiv:2204.02311, appendix B, solved for each quantity"},
    Term{"usual-mfu", "MFU that large runs have published",
         "30 to 60 %: PaLM 46.2 %, Llama 3 38 to 43 %, MegaScale 55.2 % on 12,288 GPUs. Plans "
         "outside of 20 to 60 % get a remark.",
         "Chowdhery et al. 2022, arXiv:2204.02311, table 3; Dubey et al. 2024, arXiv:2407.21783, "
         "table 4; Jiang et al. 2024, arXiv:2402.15627"},
    Term{"effective-compute", "delivered against theoretical FLOPs",
         "Theoretical: GPUs x peak x wall time. Delivered: the FLOPs that the model needs. Their "
         "ratio is MFU x goodput. From 30 to 60 % the time halves, as with twice the GPUs, but at "
         "half the GPU-hours.",
         "Chowdhery et al. 2022, arXiv:2204.02311, section 4.1"},
    Term{"energy-bound", "energy of a plan",
         "GPU-hours x the chip's power limit: an upper bound for the GPUs, which draw less on "
         "average. Hosts, network and cooling are not in it.",
         "the chip's own source, with its power limit: `mfu peak CHIP`"},
    Term{"chinchilla", "20 tokens per parameter",
         "For 6 N D FLOPs the best dense model has about 20 tokens per parameter: N = "
         "sqrt(C/120), D = 20 N. Within a factor of 1.5 (a choice of this program) a plan counts "
         "as near it. Leaves out the cost of serving, repeated and filtered data.",
         "Hoffmann et al. 2022, arXiv:2203.15556 (approaches 1 and 2)"},
    Term{"hoffmann-2022", "parametric loss, as printed",
         "L = E + A/N^alpha + B/D^beta with E = 1.69, A = 406.4, B = 410.7, alpha = 0.34, beta = "
         "0.28; nats per token. Fitted on 70M to 16B parameters and 5B to 500B tokens. Its best "
         "size disagrees with the same paper's 20 tokens per parameter: see besiroglu-2024.",
         "Hoffmann et al. 2022, arXiv:2203.15556, approach 3"},
    Term{"besiroglu-2024", "parametric loss, fitted again",
         "The same form with E = 1.8172, A = 482.01, B = 2085.43, alpha = 0.3478, beta = 0.3658, "
         "from the points of the original figure; it agrees with 20 tokens per parameter.",
         "Besiroglu et al. 2024, arXiv:2404.10102"},
    Term{"critical-batch", "where a larger batch stops paying",
         "S = S_min (1 + B_crit/B) steps and E = E_min (1 + B/B_crit) tokens reach the same loss: "
         "at the critical batch both are twice their minimum. Leaves out that the learning rate "
         "must follow the batch, and that the critical batch grows during a run.",
         "McCandlish et al. 2018, An empirical model of large-batch training, arXiv:1812.06162; "
         "Kaplan et al. 2020, Scaling laws for neural language models, arXiv:2001.08361"},
    Term{"noise-scale", "gradient noise scale, a measured critical batch",
         "Trace of the gradient's covariance over its squared norm, in tokens here: --noise-scale. "
         "With --noise-scale-loss it is carried to another loss by --batch-law.",
         "McCandlish et al. 2018, An empirical model of large-batch training, arXiv:1812.06162"},
    Term{"kaplan-2020", "critical batch from the loss, a power law",
         "B_crit = B* / L^(1/alpha_B) with B* = 2e8 tokens and alpha_B = 0.21. Fitted on WebText2 "
         "with its tokenizer: the loss on another text is not on that scale.",
         "Kaplan et al. 2020, Scaling laws for neural language models, arXiv:2001.08361"},
    Term{"inverse-loss", "critical batch as 1/L, a rule of thumb",
         "B_crit grows as 1/L: a proportion without a constant, so it needs a measured noise scale "
         "and the loss that it was measured at. It grows far more slowly than kaplan-2020 "
         "(1/L^4.76).",
         "a rule of thumb without a single source; the power law is Kaplan et al. 2020, "
         "arXiv:2001.08361"},
    Term{"data-parallel-limit", "replicas that are still useful",
         "Critical batch over sequence length, a sequence for each replica: more replicas need a "
         "batch beyond the critical one, or sequences split across GPUs.",
         "from critical-batch"},
    Term{"schedule", "learning rate over the steps",
         "Linear warm-up from 1/w of the peak at step 1, then cosine or linear decay to the last "
         "rate, or wsd: constant, then linear decay over the last steps. Steps count from 1; the "
         "last step has the last rate. Usual: warm-up 0.1 to 1 % of the steps, last rate 10 % of "
         "the peak (cosine), decay over 10 to 20 % (wsd).",
         "cosine to 10 %: Hoffmann et al. 2022, arXiv:2203.15556; wsd: Hu et al. 2024, "
         "arXiv:2404.06395, Haegele et al. 2024, arXiv:2405.18392; warm-up: Brown et al. 2020, "
         "arXiv:2005.14165 (375M of 300B tokens), Dubey et al. 2024, arXiv:2407.21783 "
         "(8,000 of 1,200,000 steps)"},
    Term{
        "peak-rate", "peak learning rate by model size",
        "GPT-3: 125M 6e-4, 350M 3e-4, 760M 2.5e-4, 1.3B 2e-4, 2.7B 1.6e-4, 6.7B 1.2e-4, 13B 1e-4, "
        "175B 0.6e-4; between these rows a straight line in the logarithms. Beside them: LLaMA and "
        "Llama 2, 3e-4 to 13B and 1.5e-4 above; Llama 3, 8B 3e-4, 70B 1.5e-4, 405B 8e-5. For Adam "
        "at the batch of those runs; another batch or width needs another rate.",
        "Brown et al. 2020, arXiv:2005.14165; Touvron et al. 2023, arXiv:2302.13971 and "
        "arXiv:2307.09288; Dubey et al. 2024, arXiv:2407.21783"},
    Term{"goodput", "the share of the wall time that is step time",
         "Wall time for t of steps between checkpoints: M exp(R/M) (exp((t+d)/M) - 1), with M the "
         "job's mean time between failures, d the stop for a checkpoint, R the restart. The share "
         "is t over that. Exact where failures come at a constant rate. Leaves out slow nodes, "
         "correlated failures, and what an asynchronous checkpoint slows down.",
         "Daly 2006, A higher order estimate of the optimum checkpoint interval for restart dumps"},
    Term{"young-daly", "best interval between checkpoints",
         "Young: sqrt(2 d M). Daly: sqrt(2 d M) (1 + sqrt(d/2M)/3 + d/2M/9) - d for d < 2M, else "
         "M; Daly's is used.",
         "Young 1974, A first order approximation to the optimum checkpoint interval; Daly 2006, A "
         "higher order estimate of the optimum checkpoint interval for restart dumps"},
    Term{"mtbf", "mean time between failures",
         "Of one GPU (50000h/gpu: a job of G GPUs fails G times as often) or of the job (3h/job). "
         "With one per GPU, GPU-hours limit the number of GPUs, and two numbers of GPUs take the "
         "same time: the smaller is used. "
         "Llama 3 405B: 419 unexpected interruptions in 54 days of 16,384 GPUs, which is 3.1 hours "
         "per job and 50,700 hours per GPU.",
         "Dubey et al. 2024, arXiv:2407.21783"},
};

}  // namespace

std::span<const Term> plan_terms() noexcept { return kPlanTerms; }

}  // namespace mfu
