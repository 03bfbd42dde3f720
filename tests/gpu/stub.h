/*
 * What both halves of the stub GPU share. The environment describes the GPU:
 *   STUB_GPU_CC=9.0       compute capability     STUB_GPU_NAME=...        its name
 *   STUB_GPU_DRIVER=12080 CUDA of the driver     STUB_GPU_MEMORY=8        GiB
 *   STUB_GPU_COUNT=1      devices                STUB_GPU_INIT=0          what cuInit answers
 *   STUB_GPU_SMS=132      multiprocessors        STUB_GPU_LOG=file        one line for each event
 */
#pragma once
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int stub_int(const char *name, int otherwise)
{
	const char *value = getenv(name);
	return value && *value ? atoi(value) : otherwise;
}

/* The capability as a number: 90 for 9.0, 120 for 12.0. */
static inline int stub_cc(void)
{
	const char *value = getenv("STUB_GPU_CC");
	int major = 9, minor = 0;
	if (value)
		sscanf(value, "%d.%d", &major, &minor);
	return major * 10 + minor;
}

static inline const char *stub_name(void)
{
	const char *value = getenv("STUB_GPU_NAME");
	return value && *value ? value : "NVIDIA Stub GPU";
}

static inline size_t stub_memory(void)
{
	return (size_t)stub_int("STUB_GPU_MEMORY", 8) << 30;
}

/* Bytes of shared memory that a block may opt in to, as NVIDIA documents for each capability. */
static inline int stub_shared(void)
{
	switch (stub_cc()) {
	case 80:
	case 87:
		return 166912;
	case 86:
	case 89:
	case 120:
	case 121:
		return 101376;
	case 75:
		return 65536;
	default:
		return 232448;
	}
}

/* Appends one line to the log; lines of several processes do not mix. */
__attribute__((format(printf, 1, 2))) static inline void stub_log(const char *format, ...)
{
	const char *path = getenv("STUB_GPU_LOG");
	char line[1024];
	va_list args;
	int fd, n;
	if (!path || !*path)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	if (n > (int)sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)n) < 0)
		abort();
	close(fd);
}
