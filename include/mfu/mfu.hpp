// All public headers.
#pragma once

#include "mfu/boxed.hpp"
#include "mfu/chip.hpp"
#include "mfu/compare.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/interval.hpp"
#include "mfu/measure.hpp"
#include "mfu/model.hpp"
#include "mfu/plan.hpp"
#include "mfu/quantity.hpp"
#include "mfu/read.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "mfu/timings.hpp"
#include "mfu/version.hpp"
