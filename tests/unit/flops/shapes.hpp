// Shapes that several tests of FLOPs use.
#pragma once

#include "mfu/model.hpp"

namespace flops_rows {

inline mfu::ModelShape llama_8b() {
  mfu::ModelShape shape;
  shape.name = "llama-3.1-8b";
  shape.family = "llama";
  shape.layers = 32;
  shape.hidden = 4096;
  shape.ffn_hidden = 14336;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.head_dim = 128;
  shape.vocab = 128256;
  return shape;
}

// 124,337,664 parameters with 1,024 learned positions and no biases.
inline mfu::ModelShape gpt2() {
  mfu::ModelShape shape;
  shape.name = "gpt2";
  shape.layers = 12;
  shape.hidden = 768;
  shape.ffn_hidden = 3072;
  shape.gated_mlp = false;
  shape.heads = 12;
  shape.kv_heads = 12;
  shape.head_dim = 64;
  shape.vocab = 50257;
  shape.tied_embeddings = true;
  shape.learned_positions = 1024;
  return shape;
}

inline mfu::ModelShape mixtral() {
  mfu::ModelShape shape = llama_8b();
  shape.name = "mixtral-8x7b";
  shape.vocab = 32000;
  shape.experts = 8;
  shape.top_k = 2;
  shape.moe_ffn = 14336;
  shape.moe_layers = 32;
  return shape;
}

inline mfu::ModelShape deepseek_v3() {
  mfu::ModelShape shape;
  shape.name = "deepseek-v3";
  shape.layers = 61;
  shape.hidden = 7168;
  shape.ffn_hidden = 18432;
  shape.heads = 128;
  shape.kv_heads = 128;
  shape.head_dim = 192;
  shape.vocab = 129280;
  shape.experts = 256;
  shape.top_k = 8;
  shape.moe_ffn = 2048;
  shape.shared_ffn = 2048;
  shape.moe_layers = 58;
  shape.mla = mfu::LatentAttention{1536, 512, 128, 64, 128};
  return shape;
}

inline mfu::ModelShape gpt_oss_120b() {
  mfu::ModelShape shape;
  shape.name = "gpt-oss-120b";
  shape.family = "gpt_oss";
  shape.layers = 36;
  shape.hidden = 2880;
  shape.ffn_hidden = 2880;
  shape.heads = 64;
  shape.kv_heads = 8;
  shape.head_dim = 64;
  shape.vocab = 201088;
  shape.experts = 128;
  shape.top_k = 4;
  shape.moe_ffn = 2880;
  shape.moe_layers = 36;
  shape.window = 128;
  shape.local_layers = 18;
  return shape;
}

inline mfu::ModelShape nemotron_3_nano() {
  mfu::ModelShape shape;
  shape.name = "nemotron-3-nano";
  shape.pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
  shape.layers = 52;
  shape.gated_mlp = false;
  shape.hidden = 2688;
  shape.heads = 32;
  shape.kv_heads = 2;
  shape.head_dim = 128;
  shape.vocab = 131072;
  shape.experts = 128;
  shape.top_k = 6;
  shape.moe_ffn = 1856;
  shape.shared_ffn = 3712;
  shape.mamba_heads = 64;
  shape.mamba_head_dim = 64;
  shape.mamba_state = 128;
  shape.mamba_groups = 8;
  return shape;
}

}  // namespace flops_rows
