/* How many versions of a package stay listed. */
#pragma once
#include "change.h"

/*
 * Keeps the newest n versions of each package (by name and architecture) in a component: older
 * ones that are listed become removals of the change, older ones in fresh are dropped from it.
 * Looks at the packages in fresh; at all packages of the component if fresh is empty.
 */
int keep_newest(struct change *c, const char *component, unsigned n, struct pkg_list *fresh,
    struct err *err) _must_check_;
