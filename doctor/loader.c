#include "loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/err.h"
#include "probe.h"

#define CACHE	   "/etc/ld.so.cache"
#define CACHE_MAX  ((size_t)32 << 20)
#define HEADER_LEN 48u
#define ENTRY_LEN  24u
#define HITS_MAX   32

/* Flags of an entry: an ELF library of libc 6, and the processor. */
#if defined(__aarch64__)
#define OWN_FLAGS 0x0a03u
#else
#define OWN_FLAGS 0x0303u
#endif

static uint32_t u32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The NUL-terminated string at an offset, in the arena; NULL if it does not end inside. */
static const char *string_at(struct arena *a, const unsigned char *p, size_t n, uint32_t at)
{
	const unsigned char *end = at < n ? memchr(p + at, '\0', n - at) : NULL;
	return end ? arena_strndup(a, (const char *)p + at, (size_t)(end - p - at)) : NULL;
}

int ldcache_parse(struct arena *a, const void *data, size_t n, struct ldcache *out, struct err *err)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	const unsigned char *p = n ? memmem(data, n, magic, strlen(magic)) : NULL;
	if (!p)
		return err_set(err, ERR_FORMAT, "no '%s' in it: run ldconfig", magic);
	n -= (size_t)(p - (const unsigned char *)data);
	uint32_t count = n >= HEADER_LEN ? u32(p + 20) : 0;
	if (n < HEADER_LEN || count > (n - HEADER_LEN) / ENTRY_LEN)
		return err_set(err, ERR_FORMAT, "it is cut short: run ldconfig");
	out->v = arena_alloc(a, ((size_t)count + 1) * sizeof *out->v);
	out->n = 0;
	for (uint32_t i = 0; i < count; i++) {
		const unsigned char *e = p + HEADER_LEN + (size_t)i * ENTRY_LEN;
		uint32_t key = u32(e + 4);
		/* Names that matter here all begin so; the rest is not copied. */
		if (u32(e) != OWN_FLAGS || key >= n || n - key < 8 ||
		    memcmp(p + key, "libcuda", 7) != 0)
			continue;
		struct ldcache_entry x = {string_at(a, p, n, key), string_at(a, p, n, u32(e + 8))};
		if (x.soname && x.path)
			out->v[out->n++] = x;
	}
	return 0;
}

static void add_hit(struct probe *p, const char *path, enum loader_via via, struct loader_hits *out)
{
	if (out->n == HITS_MAX || !probe_is_file(p, path))
		return;
	for (size_t i = 0; i < out->n; i++)
		if (!strcmp(out->v[i].path, path))
			return;
	const char *real = probe_real(p, path);
	out->v[out->n++] = (struct loader_hit){path, real ? real : path, via};
}

static void search_env(struct probe *p, const char *soname, struct loader_hits *out)
{
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	const char *path = getenv("LD_LIBRARY_PATH");
	strv_split(&dirs, path ? path : "", ":;");
	for (size_t i = 0; i < dirs.n; i++)
		add_hit(p, arena_printf(p->a, "%s/%s", dirs.v[i], soname), LOADER_ENV, out);
}

static void search_cache(struct probe *p, const char *soname, struct loader_hits *out)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CACHE_MAX);
	struct ldcache cache;
	if (probe_read(p, CACHE, &text) < 0 ||
	    ldcache_parse(p->a, buf_str(&text), text.len, &cache, NULL) < 0)
		return;
	for (size_t i = 0; i < cache.n; i++)
		if (!strcmp(cache.v[i].soname, soname))
			add_hit(p, cache.v[i].path, LOADER_CACHE, out);
}

void loader_search(struct probe *p, const char *soname, struct loader_hits *out)
{
	static const char *const dirs[] = {"/lib/" PROBE_TRIPLET, "/usr/lib/" PROBE_TRIPLET,
	    "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
	out->v = arena_alloc(p->a, HITS_MAX * sizeof *out->v);
	out->n = 0;
	search_env(p, soname, out);
	search_cache(p, soname, out);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		add_hit(p, arena_printf(p->a, "%s/%s", dirs[i], soname), LOADER_DEFAULT, out);
}

const char *loader_via_name(enum loader_via via)
{
	static const char *const names[] = {[LOADER_ENV] = "LD_LIBRARY_PATH",
	    [LOADER_CACHE] = "ld.so.cache",
	    [LOADER_DEFAULT] = "the default folders"};
	return names[via];
}
