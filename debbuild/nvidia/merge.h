/* Folders that packages were unpacked into, made one, as dpkg would have unpacked them. */
#pragma once
#include "../../lib/base/compat.h"

struct err;

/*
 * Moves every file and link below from into the folder to, which both lie on one file system.
 * ERR_CONFLICT: another package has that name already, unless both are the same link; ERR_FORMAT:
 * the name lies behind a link that leads out of to. what names the package in errors.
 */
int merge_tree(const char *from, const char *to, const char *what, struct err *err) _must_check_;
