/* The rules for a binary package's control stanza: what dpkg and apt both accept. */
#pragma once
#include "../base/compat.h"

struct err;
struct stanza;

/*
 * Checks that the mandatory fields are there (Package, Version, Architecture, Maintainer,
 * Description), that names, versions and relations parse, and that no field stands there which
 * only dpkg's own database may hold. ERR_FORMAT names the field.
 */
int control_check(const struct stanza *s, struct err *err) _must_check_;
