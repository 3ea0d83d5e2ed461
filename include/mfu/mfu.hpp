// All public headers.
#pragma once

#include "mfu/analyze.hpp"
#include "mfu/calc.hpp"
#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/model.hpp"
#include "mfu/quantity.hpp"
#include "mfu/read.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "mfu/timings.hpp"
#include "mfu/training_log.hpp"
#include "mfu/version.hpp"
