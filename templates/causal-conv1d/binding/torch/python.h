/* Found before torch's header of this name: a binding needs no more of it than extension.h has. */
#pragma once

#include <torch/extension.h>
