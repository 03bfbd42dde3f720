#include "abi.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/elf.h"
#include "exports.h"

#define CUDART "libcudart.so."

static bool stands_in(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return true;
	return false;
}

bool abi_is_torch_library(const char *soname)
{
	static const char *const names[] = {"libc10.so", "libc10_cuda.so", "libtorch.so",
	    "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so", NULL};
	return stands_in(names, soname);
}

/* One judgement under way. */
struct judge {
	struct arena *arena;
	const struct elf_info *elf;
	const struct abi_world *world;
	struct abi_verdict *out;
	bool unknown; /* it needs a library of which it is not known what it defines */
};

/* Names of the C++ ABI: a length, then the namespace. */
bool abi_is_torch_name(const char *name)
{
	static const char *const marks[] = {"3c10", "2at", "5torch", "6caffe2"};
	if (str_starts(name, "aoti_torch_") || str_starts(name, "THP"))
		return true;
	if (!str_starts(name, "_Z"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = name;
		while ((at = strstr(at + 1, marks[i])))
			if (at[-1] < '0' || at[-1] > '9')
				return true;
	}
	return false;
}

static const struct elf_info *find_beside(const struct judge *j, const char *library)
{
	for (size_t i = 0; i < j->world->n_beside; i++)
		if (str_eq(j->world->beside[i]->soname, library))
			return j->world->beside[i];
	return NULL;
}

/* Is it known what the library of that NEEDED entry defines? */
static bool is_judged(const struct judge *j, const char *library)
{
	static const char *const system[] = {"libc.so.6", "libm.so.6", "libstdc++.so.6",
	    "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1",
	    "libutil.so.1", NULL};
	if (abi_is_torch_library(library))
		return j->world->torch != NULL;
	if (str_starts(library, CUDART))
		return j->world->cudart != NULL;
	if (str_starts(library, "libpython3"))
		return j->world->python != NULL;
	return stands_in(system, library) || find_beside(j, library);
}

static void add_missing(struct judge *j, const struct elf_symbol *s, const char *library)
{
	j->out->missing[j->out->n_missing++] = (struct abi_missing){s->name, library};
}

static bool defines(const struct elf_info *e, const char *name)
{
	for (size_t k = 0; k < e->n_defined; k++)
		if (!strcmp(e->defined[k].name, name))
			return true;
	return false;
}

/* The library that a version belongs to, as the object's version needs say. */
static const char *library_of(const struct judge *j, const char *version)
{
	for (size_t i = 0; i < j->elf->n_needs; i++)
		if (!strcmp(j->elf->needs[i].version, version))
			return j->elf->needs[i].library;
	return "a library";
}

static bool any_suite_has(const struct judge *j, const char *version)
{
	for (size_t i = 0; i < j->world->data->n_suites; i++)
		if (abi_suite_has(&j->world->data->suites[i], version))
			return true;
	return false;
}

/* A symbol bound to a version says itself which library it is of. */
static void judge_versioned(struct judge *j, const struct elf_symbol *s)
{
	const char *library = library_of(j, s->version);
	if (str_starts(s->version, CUDART) && j->world->cudart) {
		const struct exports_library *l = exports_find(j->world->cudart, s->name);
		if (!l || strcmp(l->name, s->version))
			add_missing(j, s, library);
	} else if (!abi_is_system_version(s->version)) {
		const struct elf_info *beside = find_beside(j, library);
		if (!beside)
			j->out->n_unjudged++;
		else if (!defines(beside, s->name))
			add_missing(j, s, library);
	} else if (!any_suite_has(j, s->version)) {
		add_missing(j, s, arena_printf(j->arena, "%s (%s)", library, s->version));
	}
}

/*
 * Namespace std: a reference without version, as compilers with an own newer part of libstdc++
 * leave it, binds to what the system's libstdc++ has, which is not known by name.
 */
static bool is_std_name(const char *name)
{
	static const char *const tables[] = {"TI", "TS", "TV", "TT", "GV"};
	if (!str_starts(name, "_Z"))
		return false;
	name += 2;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (str_starts(name, tables[i])) {
			name += 2;
			break;
		}
	if (*name == 'N')
		name += 1 + strspn(name + 1, "KVOR");
	return name[0] == 'S' && name[1] && strchr("tabsiod", name[1]);
}

static bool needs(const struct judge *j, const char *library)
{
	for (size_t i = 0; i < j->elf->n_needed; i++)
		if (!strcmp(j->elf->needed[i], library))
			return true;
	return false;
}

static void leave_to_libstdcxx(struct judge *j)
{
	static const char library[] = "libstdc++.so.6";
	struct abi_verdict *v = j->out;
	v->n_unjudged++;
	if (!v->n_outside || strcmp(v->outside[v->n_outside - 1], library))
		v->outside[v->n_outside++] = library;
}

static bool is_python_name(const char *name)
{
	return str_starts(name, "Py") || str_starts(name, "_Py");
}

/* One without a version may be of any library that the object needs. */
static void judge_plain(struct judge *j, const struct elf_symbol *s)
{
	const struct abi_world *w = j->world;
	for (size_t i = 0; i < w->n_beside; i++)
		if (defines(w->beside[i], s->name))
			return;
	if ((w->torch && exports_find(w->torch, s->name)) ||
	    (w->cudart && exports_find(w->cudart, s->name)) ||
	    (w->python && abi_python_has(w->python, s->name)))
		return;
	if (is_python_name(s->name)) {
		if (w->python)
			add_missing(j, s, arena_printf(j->arena, "CPython %s", w->python->version));
		else
			j->out->n_unjudged++;
	} else if (abi_is_torch_name(s->name)) {
		if (w->torch)
			add_missing(j, s, "torch");
		else
			j->out->n_unjudged++;
	} else if (is_std_name(s->name) && needs(j, "libstdc++.so.6")) {
		leave_to_libstdcxx(j);
	} else if (j->unknown) {
		j->out->n_unjudged++;
	} else {
		add_missing(j, s, "none of its libraries");
	}
}

static void find_outside(struct judge *j)
{
	j->out->outside = arena_alloc(j->arena, (j->elf->n_needed + 2) * sizeof(char *));
	for (size_t i = 0; i < j->elf->n_needed; i++)
		if (!is_judged(j, j->elf->needed[i]))
			j->out->outside[j->out->n_outside++] = j->elf->needed[i];
	j->unknown = j->out->n_outside > 0;
}

static int by_name(const void *a, const void *b)
{
	const struct abi_missing *x = a, *y = b;
	return strcmp(x->name, y->name);
}

void abi_judge(
    struct arena *a, const struct elf_info *e, const struct abi_world *w, struct abi_verdict *out)
{
	*out = (struct abi_verdict){
	    .missing = arena_alloc(a, (e->n_undefined + 1) * sizeof *out->missing)};
	struct judge j = {.arena = a, .elf = e, .world = w, .out = out};
	find_outside(&j);
	for (size_t i = 0; i < e->n_undefined; i++) {
		const struct elf_symbol *s = &e->undefined[i];
		if (s->weak)
			continue;
		out->n_undefined++;
		if (s->version)
			judge_versioned(&j, s);
		else
			judge_plain(&j, s);
	}
	qsort(out->missing, out->n_missing, sizeof *out->missing, by_name);
}
