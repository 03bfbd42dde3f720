/*
 * The matrix as people see it: a cell for every torch x CUDA x Python, what is known of it, and
 * for an empty one the reason. Pure: the same data give the same cells.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct built;
struct built_package;
struct lockfile;
struct matrix;
struct recipe;
struct state_fact;
struct states;
struct strv;
struct torch_release;

/* Each a fact by itself; people are shown the last that holds. */
enum cell_fact {
	CELL_BUILT = 1 << 0,	/* a package holds a binding compiled for it */
	CELL_PROVED = 1 << 1,	/* a binding has every symbol on that torch and Python */
	CELL_IMPORTED = 1 << 2, /* a real torch imported it */
	CELL_GPU = 1 << 3,	/* its kernels ran on a GPU */
	CELL_REBUILT = 1 << 4	/* its package was made again, byte for byte */
};

enum cell_why {
	CELL_THERE,	/* not empty */
	CELL_NO_PAIR,	/* that torch has no build for that CUDA */
	CELL_NO_PYTHON, /* no wheel for that Python */
	CELL_NO_PIN,	/* no wheel in the lock */
	CELL_NO_INDEX,	/* nor could its index be reached */
	CELL_NOT_BUILT
};

struct cell {
	const char *torch, *cuda, *python;   /* "2.10", "12.8", "3.11" */
	const struct torch_release *release; /* or NULL: no such pair */
	unsigned facts;			     /* of enum cell_fact */
	enum cell_why why;
	const char *reason;  /* a phrase; "" if it is not empty */
	const char *binding; /* file that serves it, or NULL */
	const struct state_fact *imported, *gpu, *rebuilt;
};

struct cells {
	const struct recipe *recipe;
	const struct built *built;
	char **cudas, **torches, **pythons; /* in order, NULL-terminated */
	struct cell *v;			    /* by CUDA, torch, Python */
	size_t n;
};

/* What the cells are made from. */
struct cells_data {
	const struct recipe *recipe;
	const struct matrix *matrix;
	const struct lockfile *lock;
	const struct states *states;
	const struct built *built;
};

/* cuda: that one alone, or NULL. */
void cells_make(
    struct arena *a, const struct cells_data *data, const char *cuda, struct cells *out);
/* One cell, of the matrix or not: then the reason says what is unknown. */
struct cell cells_one(struct arena *a, const struct cells_data *data, const char *torch,
    const char *cuda, const char *python);
/* "proved", "gpu", "empty": the last fact that holds. */
const char *cell_state(const struct cell *c) _must_check_;
/* "no-pair", "not-built" ...: the word for a reason. */
const char *cell_why_name(enum cell_why why) _must_check_;
/* "torch 2.11 for CUDA 12.8, torch 2.12 for CUDA 13.0": the pairs nearest to one that is not. */
const char *cells_nearest(
    struct arena *a, const struct matrix *m, const char *torch, const char *cuda);
/* The package that holds the binding of that CUDA, or NULL. */
const struct built_package *cells_package(const struct cells *c, const char *cuda) _must_check_;

/* A table for each CUDA; as JSON; as one static page without script. */
void cells_print(const struct cells *c, struct buf *out);
void cells_print_json(const struct cells *c, struct buf *out);
void cells_print_html(const struct cells *c, struct buf *out);
/* The tables and the gaps alone, for a page that others read than who builds. */
void cells_print_tables(const struct cells *c, const struct matrix *m, struct buf *out);
/* A metapackage over all the recipes of a page: a name and the CUDAs that have it. */
struct cells_meta {
	const char *name;
	const struct strv *cudas;
};
/*
 * JSON for a chooser of several recipes, whose cells have the same axes: drivers, the known GPU
 * archs, the axes, reasons (with @T, @C and @P for torch, CUDA and Python), and for each recipe its
 * packages by CUDA, for each cell the number of its reason (-1: it is there), and for each CUDA and
 * arch "" (device code is there), "ptx" or the reason why not. meta may be NULL.
 */
void cells_print_choice(struct arena *a, const struct cells *v, size_t n,
    const struct cells_meta *meta, const struct matrix *m, struct buf *out);
/* One sentence for each group of Pythons with the same answer. */
void cells_explain(struct arena *a, const struct cells_data *data, const struct cell *v, size_t n,
    struct buf *out);
