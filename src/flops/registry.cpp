// All conventions in one list, and the count under one of them.
#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest.hpp"
#include "flops/rows.hpp"
#include "flops/switches.hpp"
#include "mfu/error.hpp"

namespace mfu {
namespace {

std::vector<Convention> all_rows() {
  std::vector<Convention> rows;
  for (const std::span<const Convention> part :
       {paper_rows(), exact_rows(), megatron_rows(), nemo_rows(), jax_rows(), pytorch_rows(),
        olmo_rows(), calculator_rows()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

// "megatron" is not a misspelling of megatron-lm, but it says which are meant.
std::string hint_for(std::string_view id) {
  std::vector<std::string_view> ids;
  std::string within;
  for (const Convention& row : conventions()) {
    ids.push_back(row.id);
    if (id.size() < 3 || row.id.find(id) == std::string_view::npos) continue;
    within += (within.empty() ? "'" : ", '") + std::string(row.id) + "'";
  }
  const std::string_view near = nearest_name(id, ids);
  if (!near.empty()) return "did you mean '" + std::string(near) + "'?";
  return within.empty() ? name_hint(id, ids) : "did you mean one of " + within + "?";
}

void check_work(const Work& work) {
  const auto bad = [](double value) { return !(value >= 0.0) || value > 1e300; };
  if (bad(work.seq_len)) {
    throw Error(ErrorKind::usage, "the sequence length is not a positive number");
  }
  if (std::any_of(work.lengths.begin(), work.lengths.end(),
                  [&](double length) { return bad(length) || length == 0.0; })) {
    throw Error(ErrorKind::usage, "a document's length is not a positive number");
  }
  if (work.params && (bad(*work.params) || *work.params == 0.0)) {
    throw Error(ErrorKind::usage, "the parameter count is not a positive number");
  }
}

}  // namespace

std::span<const Convention> conventions() noexcept {
  static const std::vector<Convention> rows = all_rows();
  return rows;
}

const Convention& find_convention(std::string_view id) {
  for (const Convention& row : conventions()) {
    if (row.id == id) return row;
  }
  throw Error(ErrorKind::usage, "no convention is called '" + std::string(id) + "'", {},
              hint_for(id));
}

FlopCount count_flops(const ModelShape& model, const Work& work, const Convention& convention,
                      const Switches& overrides) {
  check_work(work);
  const Switches resolved = resolve_switches(convention, overrides);
  FlopCount count = convention.count(model, work, resolved);
  if (convention.hardware_count) count.model_flops.reset();
  count.settings = describe_switches(resolved);
  return count;
}

}  // namespace mfu
