/* What the plans of both kinds of recipes share. */
#pragma once
#include "../../lib/base/compat.h"
#include "plan.h"

/* True if the list is empty or NULL, or has one of both. */
bool plan_wanted(const struct strv *list, const char *a, const char *b) _must_check_;
const struct host_python *plan_find_python(const struct host *h, const char *version) _must_check_;
/* Fills p->archs: those that are named, else the defaults (each a matrix entry), by number. */
int plan_choose_archs(struct arena *a, const struct matrix *m, const struct selection *sel,
    const struct gpu_arch **defaults, size_t n_defaults, struct plan *p,
    struct err *err) _must_check_;
/* Fills p->jobs and p->heavy_jobs, of which each takes up to so many bytes. */
void plan_choose_jobs(const struct selection *sel, uint64_t heavy_bytes, struct plan *p);
/* ERR_USAGE for a named torch that is none of that CUDA's. */
int plan_check_torches(const struct matrix *m, const struct selection *sel, const struct plan *p,
    struct err *err) _must_check_;
/* Completes a plan whose recipe, host, CUDA and flavour are set. */
int plan_make_triton(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct selection *sel, struct plan *p, struct err *err) _must_check_;
/* The parts of what plan_print and plan_print_json write that are the same for all recipes. */
void plan_print_apt(const struct plan *p, struct buf *out);  /* headers of Pythons, from apt */
void plan_print_tail(const struct plan *p, struct buf *out); /* what is left out, steps, packages */
void plan_json_head(const struct plan *p, struct buf *out);
void plan_json_archs(const struct plan *p, struct buf *out);
void plan_json_wheel(struct buf *out, const struct lock_entry *e, const char *what);
void plan_json_apt(const struct plan *p, struct buf *out); /* ends the list of what is fetched */
void plan_json_tail(const struct plan *p, struct buf *out);
/* A pair, with a comma unless it is the last; a list of words. */
void plan_json_pair(struct buf *out, const char *name, const char *value, bool last);
void plan_json_words(struct buf *out, const char *name, char *const *words);
const char *plan_json_comma(size_t i, size_t n) _must_check_;
void plan_print_triton(const struct plan *p, struct buf *out);
void plan_print_triton_json(const struct plan *p, struct buf *out);
