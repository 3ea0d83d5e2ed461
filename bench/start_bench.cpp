// Processor time of a whole `mfu calc`, from exec to exit: what a shell loop or a CI step pays.
//   mfu_start_bench [PATH_OF_MFU]
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace {

double processor_ms(const rusage& usage) {
  const auto ms = [](const timeval& t) {
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// One run with its output thrown away; negative when it failed.
double run_once(const char* const* arguments) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    execv(arguments[0], const_cast<char* const*>(arguments));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return -1.0;
  return processor_ms(usage);
}

}  // namespace

int main(int count, char** values) {
  const char* mfu = count > 1 ? values[1] : MFU_BIN;
  const std::array<const char*, 14> calc{
      mfu,  "calc",      "--model", "llama-3.1-8b", "--chip", "h100-sxm",          "--gpus",
      "64", "--seq-len", "8192",    "--batch",      "512",    "--step-time=12.9s", nullptr};
  const std::array<const char*, 3> version{mfu, "--version", nullptr};
  std::vector<double> calc_ms;
  std::vector<double> version_ms;
  for (int i = 0; i < 200; ++i) {
    calc_ms.push_back(run_once(calc.data()));
    version_ms.push_back(run_once(version.data()));
    if (calc_ms.back() < 0.0 || version_ms.back() < 0.0) {
      std::fprintf(stderr, "%s does not run\n", mfu);
      return 1;
    }
  }
  std::sort(calc_ms.begin(), calc_ms.end());
  std::sort(version_ms.begin(), version_ms.end());
  const double calc_median = calc_ms[calc_ms.size() / 2];
  const double version_median = version_ms[version_ms.size() / 2];
  std::printf("mfu calc       median %.2f ms of processor time, %.1f x mfu --version (%.2f ms)\n",
              calc_median, calc_median / version_median, version_median);
  return 0;
}
