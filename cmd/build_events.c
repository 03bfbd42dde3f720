#include "build_events.h"

#include <stdio.h>

#include "../lib/base/log.h"

static void on_note(void *arg, const char *text)
{
	(void)arg;
	log_note("%s", text);
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	log_warn("%s", text);
}

static void on_bytes(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)arg;
	char text[300];
	snprintf(text, sizeof text, "MB of %s", what);
	log_progress((size_t)(done >> 20), (size_t)(total >> 20), text, -1);
}

static void on_progress(void *arg, size_t done, size_t total, const char *what, double left_s)
{
	(void)arg;
	log_progress(done, total, what, left_s);
}

const struct pipeline_events build_events = {
    .note = on_note, .warn = on_warn, .bytes = on_bytes, .progress = on_progress};
