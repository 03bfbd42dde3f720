/*
 * What `debkit abi` tells of one shared object: on which torches it has every symbol, which it
 * lacks elsewhere, how new a system it needs, and which suites that allows.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "abi.h"
#include "../wheel/pyindexes.h"
#include <stdbool.h>
#include <stddef.h>

struct abi_object;
struct arena;
struct buf;
struct err;
struct lock_entry;
struct lockfile;
struct matrix;
struct strv;
struct torch_release;

struct abi_question {
	const struct matrix *matrix;
	const struct lockfile *lock;
	const struct abi_data *data;
	const char *cache;
	const struct strv *torches; /* versions or minors; empty: what the object claims, or all */
	const char *cuda, *python;  /* or NULL: any; as the object's name says */
	void (*note)(void *arg, const char *text); /* one line for what was fetched, or NULL */
	void *arg;
};

/* The exports read so far: one question may be asked of many objects. */
struct abi_sources {
	struct indexes indexes;
	struct abi_source {
		const struct lock_entry *entry;
		const struct exports *exports;
	} * v;
	size_t n;
};

/* The object on one torch. */
struct abi_cell {
	const struct torch_release *torch; /* NULL: it needs nothing of torch */
	const char *python;		   /* whose wheel of that torch was read; or NULL */
	bool named;			   /* asked for, or claimed by the package */
	struct abi_verdict verdict;
};

/* A symbol that some torch lacks. */
struct abi_gap {
	const char *name, *shown; /* as in the object; demangled where c++filt is */
	const char *library;	  /* that exports it on another torch, or would have to */
};

struct abi_report {
	const struct abi_object *object;
	struct abi_cell *cells;
	size_t n_cells;
	struct abi_gap *gaps;
	size_t n_gaps;
	const char *floors[4]; /* GLIBC GLIBCXX CXXABI GCC, "2.34" or NULL */
	const struct abi_suite **suites;
	size_t n_suites;
};

extern const char *const abi_floor_names[4];

/*
 * ERR_USAGE for a torch or Python that is unknown, ERR_TRUST for one that the lock does not pin.
 * All of it lives in the arena.
 */
int abi_report_make(struct arena *a, const struct abi_question *q, struct abi_sources *s,
    const struct abi_object *o, struct abi_report *out, struct err *err) _must_check_;
/* True if the cell's torch lacks the symbol. */
bool abi_cell_lacks(const struct abi_cell *c, const char *name) _must_check_;
/* Torches that were named and lack something; 1 if it lacks something without any. */
size_t abi_report_failures(const struct abi_report *r) _must_check_;
void abi_report_print(const struct abi_report *r, struct buf *out);
/* One JSON object. */
void abi_report_json(const struct abi_report *r, struct buf *out);
void abi_sources_done(struct abi_sources *s);
