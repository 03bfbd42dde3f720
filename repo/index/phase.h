/* The order in which the parts of a publish become visible; see base/txn.h. */
#pragma once
#include "../../lib/base/txn.h"

enum publish_phase {
	PHASE_POOL,
	PHASE_BY_HASH,
	PHASE_INDEX,
	PHASE_RELEASE = TXN_BARRIER, /* Release and Release.gpg */
	PHASE_INRELEASE
};
