#include "intr.h"

#include "err.h"

static volatile sig_atomic_t pending;

static void note(int sig)
{
	pending = sig;
}

void intr_install(void)
{
	struct sigaction sa = {.sa_handler = note};
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++) {
		struct sigaction was;
		if (sigaction(sigs[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(sigs[i], &sa, NULL);
	}
	/* A write that has no reader, or passes ulimit -f, fails and is told of. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool intr_pending(void)
{
	return pending != 0;
}

int intr_check(struct err *err)
{
	if (!pending)
		return 0;
	return err_set(
	    err, ERR_INTERRUPT, "stopped by a signal; the same command goes on from here");
}
