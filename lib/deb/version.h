/* Debian versions, deb-version(7), and the names beside them. */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>

struct err;

/* Less than, equal to or greater than 0, as dpkg orders them. Both must be valid. */
int version_compare(const char *a, const char *b) _must_check_;
/* Syntax that dpkg accepts: [epoch:]upstream[-revision]. ERR_FORMAT with the reason. */
int version_check(const char *v, struct err *err) _must_check_;
/* A package name (lower case, digits, + - ., at least two characters). */
int version_check_package(const char *name, struct err *err) _must_check_;
/* A Debian architecture name such as amd64, all. */
int version_check_arch(const char *arch, struct err *err) _must_check_;
