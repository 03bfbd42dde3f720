/* Included before all else. With functions for the device by default, a function that is marked for
 * the host alone is an error to NVRTC; unmarked it is compiled only if something calls it. */
#pragma once
#undef __host__
#define __host__
#include "debkit_std.h"
