/* A repository that is worked on: its root, the lock that is held, and its state. */
#pragma once
#include "../state/state.h"
#include "../state/suite.h"

struct arena;
struct err;

struct repo {
	const char *root;
	int lock; /* held */
	struct state *state;
	bool trust_clock;
};
#define REPO_INIT                                                                                  \
	{                                                                                          \
		.root = NULL, .lock = -1, .state = NULL                                            \
	}

struct repo_spec {
	const char *root;
	bool create;			   /* make what is not there; else ERR_USAGE */
	bool wait;			   /* for another process to end; else ERR_CONFLICT */
	void (*waiting)(const char *lock); /* called once before waiting; may be NULL */
	bool forget;			   /* throw the state away first */
	bool trust_clock;		   /* see dating.h */
};

/* True if dists/ is there. */
bool repo_exists(const char *root) _must_check_;
/*
 * Takes the lock, removes what a killed run left, opens the state, and reads each suite whose
 * Release is not the one that the state knows. A transaction of the state is open then.
 */
int repo_open(struct repo *r, const struct repo_spec *spec, struct err *err) _must_check_;
void repo_close(struct repo *r);
/* Loads a suite that must exist. */
int repo_suite(struct repo *r, struct arena *a, const char *name, struct suite *s,
    struct suite_row *row, struct err *err) _must_check_;
