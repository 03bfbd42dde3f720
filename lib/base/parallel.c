#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "limits.h"

#define THREADS_MAX 16

struct crew {
	atomic_size_t next;
	size_t n;
	void (*fn)(void *arg, size_t i);
	void *arg;
};

static void *work(void *arg)
{
	struct crew *c = arg;
	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
		c->fn(c->arg, i);
	return NULL;
}

unsigned parallel_threads(void)
{
	if (getenv("DEBKIT_FAULT"))
		return 1;
	unsigned n = limits_cpus("");
	return n > THREADS_MAX ? THREADS_MAX : n;
}

void parallel_run(size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	struct crew c = {.next = 0, .n = n, .fn = fn, .arg = arg};
	pthread_t threads[THREADS_MAX];
	size_t started = 0, want = parallel_threads();
	if (want > n)
		want = n;
	/* This thread works too; a thread that cannot be started only costs time. */
	while (started + 1 < want && pthread_create(&threads[started], NULL, work, &c) == 0)
		started++;
	work(&c);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
