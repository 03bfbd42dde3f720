#include "debkit_std.h"
