// Reads a run with the installed library, the way an outside program would.
#include <cstdio>
#include <mfu/mfu.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    mfu::Notes notes;
    const mfu::ReadResult read = mfu::read_run({argv[1]}, notes);
    const mfu::Diagnosis diagnosis = mfu::diagnose(read.run, {}, notes);
    std::printf("mfu %s: %zu ranks, %zu steps, %s\n", std::string(mfu::version()).c_str(),
                read.run.ranks.size(), read.run.steps.size(),
                std::string(mfu::to_string(diagnosis.verdict.family)).c_str());
  } catch (const mfu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
