/* What a build says on standard error. */
#pragma once
#include "../build/pipeline.h"

extern const struct pipeline_events build_events;
