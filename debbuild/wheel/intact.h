/*
 * Whether a fetched folder still holds what it held: files of the same names and sizes, as noted in
 * DIR.files when it was first seen. What cleans temporary files by age, a copy that broke off or a
 * hand may take some away, which a compiler would report in its own words.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct err;

/*
 * *there: the folder is there and whole. One that is not whole, or is no folder, is removed
 * (*damaged), so that it can be fetched again.
 */
int intact_check(const char *dir, bool *there, bool *damaged, struct err *err) _must_check_;
