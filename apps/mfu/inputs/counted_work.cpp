#include "inputs/counted_work.hpp"

#include <filesystem>
#include <utility>

#include "inputs/model_source.hpp"
#include "measure/counted_work.hpp"
#include "mfu/model.hpp"

namespace mfu::app {
namespace {

ModelShape shape_of(const RunTimings& run, std::vector<InputInfo>& files, Notes& notes) {
  if (!run.model_json.empty()) return parse_model(run.model_json, "model", notes);
  try {
    return find_model(run.model);
  } catch (const Error&) {
    const bool path_like = run.model.find('/') != std::string::npos || run.model.ends_with(".json");
    if (!path_like || files.empty()) throw;
    std::filesystem::path path(run.model);
    if (path.is_relative() && files.front().path != "-") {
      path = std::filesystem::path(files.front().path).parent_path() / path;
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) path /= "config.json";
    if (!std::filesystem::exists(path, ignored)) throw;
    InputInfo info;
    info.format = "model";
    const std::string text = read_text(path.string(), info, kMostModelBytes);
    ModelShape shape = parse_model(text, path.string(), notes);
    files.push_back(std::move(info));
    return shape;
  }
}

}  // namespace

void count_work(RunTimings& run, std::vector<InputInfo>& files, Notes& notes) {
  mfu::count_work(
      run, [&] { return shape_of(run, files, notes); }, notes);
}

}  // namespace mfu::app
