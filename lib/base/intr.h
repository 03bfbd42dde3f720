/* Ctrl-C and its kin: noted once, asked about wherever long work can stop. */
#pragma once
#include "compat.h"
#include <signal.h>
#include <stdbool.h>

struct err;

/* From now on SIGINT, SIGTERM and SIGHUP are noted and do not end the process. One that came
 * ignored, as from nohup(1), stays so. */
void intr_install(void);
/* True once a signal has come. */
bool intr_pending(void);
/* 0, or ERR_INTERRUPT once a signal has come. */
int intr_check(struct err *err) _must_check_;
