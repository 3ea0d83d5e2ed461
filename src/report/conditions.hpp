// What a run does already, as far as its file says so: nobody is told to do what is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/worth/exchanges.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// False and empty mean that the file does not say so, not that it is not so.
struct Conditions {
  std::optional<Recompute> recompute;
  bool interleaved = false;
  bool forward_backward = false;       // recorded apart
  std::optional<double> hidden_share;  // of the communication, by compute (overlapped_comm)
  // Checks of hardware that neither the file nor --telemetry holds: "temperature", "SM clock" ...
  std::vector<std::string> unmeasured{"temperature", "SM clock", "power cap", "ECC", "Xid"};
  std::optional<Placement> placement;
  // What `job` says in free words or in the flags of a framework: run_flags.hpp.
  bool async_checkpoint = false;
  bool manual_gc = false;
  bool compiled = false;
  bool fused_attention = false;
  bool gradients_overlap = false;   // their reduction, with backward
  bool parameters_overlap = false;  // their gathering, with compute
  std::optional<bool> sharded;      // optimizer or parameters, over the data-parallel ranks
  bool fp8 = false;
  bool peak_without_fp8 = false;  // the run says fp8, and the peak is another precision's
  bool tokenised = false;
  bool local_data = false;
  std::string loader_workers;  // their number, as written
  std::string prefetch;        // batches a worker, as written
  std::string bucket;          // "ddp_bucket_size 40000000"
  // Transfer is a material loss of this run, or a link is: who lies where matters.
  bool communication_heavy = false;
  bool other_chip = false;    // of the finding: its devices are not what its peers are
  bool stands_still = false;  // of the finding: its place does nothing, instead of computing longer
};

[[nodiscard]] Conditions conditions_of(const Diagnosis& diagnosis, const RunTimings& run);
// The same for one finding (or the verdict): what was measured of its own place.
[[nodiscard]] Conditions conditions_for(Conditions conditions, const std::vector<Fact>& facts,
                                        const std::vector<HealthFact>& health);

}  // namespace mfu
