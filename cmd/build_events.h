/* What a build says on standard error. */
#pragma once
#include "../debbuild/make/pipeline.h"

extern const struct pipeline_events build_events;
