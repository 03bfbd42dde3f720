#include "abi_objects.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/stanza.h"
#include "abi.h"
#include "../data/recipe.h"

#define BESIDE_MAX 64
#define CUDART	   "libcudart.so."

/* "cpython-311-" and "-cp311." in a file's name: "3.11"; NULL if it tells no Python. */
static const char *python_of(struct arena *a, const char *name)
{
	static const char *const marks[] = {"cpython-3", "-cp3", ".cp3", "_cp3"};
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = strstr(name, marks[i]);
		if (!at)
			continue;
		at += strlen(marks[i]);
		size_t n = strspn(at, "0123456789");
		if (n)
			return arena_printf(a, "3.%.*s", (int)n, at);
	}
	return NULL;
}

static int read_object(
    struct arena *a, const char *file, const char *shown, struct abi_object *o, struct err *err)
{
	*o = (struct abi_object){.path = arena_strdup(a, shown)};
	o->python = python_of(a, path_base(shown));
	o->beside = arena_alloc(a, BESIDE_MAX * sizeof *o->beside);
	if (elf_read(a, file, &o->elf, err) < 0)
		return -1;
	for (size_t i = 0; i < o->elf.n_needed; i++)
		if (str_starts(o->elf.needed[i], CUDART))
			o->cudart = o->elf.needed[i] + strlen(CUDART);
	return 0;
}

static bool is_beside(const struct abi_object *o, const struct elf_info *e)
{
	for (size_t i = 0; i < o->n_beside; i++)
		if (o->beside[i] == e)
			return true;
	return e == &o->elf;
}

static void add_beside(struct abi_object *o, const struct elf_info *e)
{
	if (o->n_beside < BESIDE_MAX && !is_beside(o, e))
		o->beside[o->n_beside++] = e;
}

/* Those of torch and the CUDA runtime are looked up where torch is; never beside the file. */
static bool is_others(const char *library)
{
	return abi_is_torch_library(library) || str_starts(library, CUDART) ||
	       !path_is_safe_member(library);
}

/* What finds a library by its NEEDED name; *out NULL if it is not there. */
struct finder {
	struct arena *arena;
	const char *dir;		   /* of the file, or */
	const struct abi_objects *objects; /* of a .deb */
};

/* Beside the file, or one folder up, as a RUNPATH of $ORIGIN or $ORIGIN/.. finds it. */
static int find_file(
    const struct finder *f, const char *library, const struct elf_info **out, struct err *err)
{
	_free_ char *here = path_join(f->dir, library);
	_free_ char *up = xasprintf("%s/../%s", f->dir, library);
	const char *path = path_exists(here) ? here : path_exists(up) ? up : NULL;
	if (!path)
		return 0;
	struct elf_info *e = arena_alloc(f->arena, sizeof *e);
	if (elf_read(f->arena, path, e, err) < 0)
		return -1;
	*out = e;
	return 0;
}

static int find_library(
    const struct finder *f, const char *library, const struct elf_info **out, struct err *err)
{
	*out = NULL;
	if (is_others(library))
		return 0;
	if (f->dir)
		return find_file(f, library, out, err);
	for (size_t i = 0; i < f->objects->n && !*out; i++)
		if (str_eq(f->objects->v[i].elf.soname, library))
			*out = &f->objects->v[i].elf;
	return 0;
}

static bool has_soname(const struct abi_object *o, const char *library)
{
	for (size_t i = 0; i < o->n_beside; i++)
		if (str_eq(o->beside[i]->soname, library))
			return true;
	return false;
}

/* What the object needs, what that needs, and so on. */
static int add_needed(const struct finder *f, struct abi_object *o, struct err *err)
{
	for (size_t done = 0; done <= o->n_beside; done++) {
		const struct elf_info *e = done ? o->beside[done - 1] : &o->elf, *found;
		for (size_t i = 0; i < e->n_needed; i++) {
			if (has_soname(o, e->needed[i]))
				continue;
			if (find_library(f, e->needed[i], &found, err) < 0)
				return -1;
			if (found)
				add_beside(o, found);
		}
	}
	return 0;
}

static int load_file(struct arena *a, const char *path, struct abi_objects *out, struct err *err)
{
	_free_ char *dir = path_dir(path);
	struct finder f = {.arena = a, .dir = dir};
	out->v = arena_alloc(a, sizeof *out->v);
	if (read_object(a, path, path, out->v, err) < 0)
		return -1;
	out->n = 1;
	return add_needed(&f, out->v, err);
}

/* A library that calls back into its user, as a kernel library does, is judged as with one user. */
static void add_user(struct abi_objects *all, struct abi_object *o)
{
	for (size_t i = 0; o->elf.soname && i < all->n; i++) {
		const struct abi_object *user = &all->v[i];
		if (user == o || !has_soname(user, o->elf.soname))
			continue;
		add_beside(o, &user->elf);
		o->python = o->python ? o->python : user->python;
		o->claims = o->claims ? o->claims : user->claims;
		for (size_t k = 0; k < user->n_beside; k++)
			add_beside(o, user->beside[k]);
		return;
	}
}

/* The table that the selector reads: which binding is for which Python and torches. */
static int read_table(
    struct arena *a, const char *root, const char *name, struct abi_objects *all, struct err *err)
{
	_free_ char *path = path_join(root, name);
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, 0, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		const char *file = stanza_get(&list.v[i], "File");
		const char *python = stanza_get(&list.v[i], "Python");
		const char *torch = stanza_get(&list.v[i], "Torch");
		if (!file || !python || !torch)
			return err_set(err, ERR_FORMAT, "%s:%u: expected File, Python and Torch",
			    name, list.v[i].line);
		_free_ char *dir = path_dir(name);
		_free_ char *full = path_join(dir, file);
		_free_ char *marked = xasprintf("-%s", python);
		for (size_t k = 0; k < all->n; k++)
			if (!strcmp(all->v[k].path, full)) {
				all->v[k].python = python_of(a, marked);
				all->v[k].claims = recipe_words(a, torch);
			}
	}
	return 0;
}

static bool is_library(const char *path)
{
	unsigned char head[ELF_HEAD_LEN];
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd >= 0 && read(fd, head, sizeof head) == sizeof head && elf_is_library(head);
}

static int read_objects(
    struct arena *a, const struct strv *files, struct abi_objects *out, struct err *err)
{
	out->v = arena_alloc(a, (files->n + 1) * sizeof *out->v);
	for (size_t i = 0; i < files->n; i++) {
		_free_ char *full = path_join(out->tmp, files->v[i]);
		if (is_library(full) &&
		    read_object(a, full, files->v[i], &out->v[out->n++], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(path_base(files->v[i]), "bindings") &&
		    read_table(a, out->tmp, files->v[i], out, err) < 0)
			return -1;
	return 0;
}

static int load_deb(struct arena *a, const char *path, struct abi_objects *out, struct err *err)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	struct finder f = {.arena = a, .objects = out};
	const char *dir = getenv("TMPDIR");
	out->tmp = xasprintf("%s/debkit-abi.XXXXXX", dir && *dir ? dir : "/var/tmp");
	if (!mkdtemp(out->tmp)) {
		err_sys(err, "cannot create '%s'", out->tmp);
		free(take_ptr(out->tmp));
		return -1;
	}
	if (deb_unpack(path, out->tmp, err) < 0 || path_walk(out->tmp, &files, err) < 0 ||
	    read_objects(a, &files, out, err) < 0)
		return -1;
	for (size_t i = 0; i < out->n; i++)
		if (add_needed(&f, &out->v[i], err) < 0)
			return -1;
	for (size_t i = 0; i < out->n; i++)
		add_user(out, &out->v[i]);
	if (!out->n)
		return err_set(err, ERR_FORMAT, "'%s' holds no shared object", path);
	return 0;
}

int abi_objects_load(struct arena *a, const char *path, struct abi_objects *out, struct err *err)
{
	static const char magic[] = "!<arch>\n";
	char head[sizeof magic - 1];
	*out = (struct abi_objects){0};
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, "cannot read '%s'", path);
	if (read(fd, head, sizeof head) == sizeof head && !memcmp(head, magic, sizeof head))
		return load_deb(a, path, out, err);
	return load_file(a, path, out, err);
}

void abi_objects_done(struct abi_objects *o)
{
	if (o->tmp)
		(void)!path_remove_tree(o->tmp, NULL);
	free(take_ptr(o->tmp));
}
