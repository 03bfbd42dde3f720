/* Changes of a suite that bring no new .debs: sign again, remove, copy from another suite. */
#pragma once
#include "../index/repo.h"

struct edit_spec {
	struct repo_spec repo;
	const char *suite;
	const struct strv *sign_keys; /* empty: the keys of the last Release */
	const char *component;	      /* NULL: any */
	const struct strv *packages;  /* see select.h */
	const char *from;	      /* suite to copy from */
	bool dry_run;		      /* only report */
	int valid_days;		      /* -1: as before */
	/* Called for each package that goes or comes; may be NULL. */
	void (*report)(
	    const char *component, const char *name, const char *version, const char *arch);
};

struct edit_result {
	size_t changed, present; /* packages; present: those where there was nothing to do */
};

/* A new Date, Valid-Until and signature; no index is touched. */
int edit_refresh(const struct edit_spec *spec, struct err *err) _must_check_;
/* Packages leave the suite's indexes; their files stay in the pool until a gc. */
int edit_remove(
    const struct edit_spec *spec, struct edit_result *res, struct err *err) _must_check_;
/* Packages of the suite from are listed in suite as well, which is made if it does not exist. */
int edit_copy(const struct edit_spec *spec, struct edit_result *res, struct err *err) _must_check_;
