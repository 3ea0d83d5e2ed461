// The sentences on the devices' telemetry.
#pragma once

#include <string>

#include "diagnose/devices/health_check.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/wording.hpp"

namespace mfu {

// "rank 5 runs at 1,095 MHz, its peers at 1,755 MHz". `whole`: all ranks are meant, and the chip is
// what they are held against.
[[nodiscard]] std::string health_sentence(const HealthFact& fact, const Subject& subject,
                                          bool whole);

[[nodiscard]] HealthTexts health_texts(const Diagnosis& diagnosis, const Subject& subject);

}  // namespace mfu
