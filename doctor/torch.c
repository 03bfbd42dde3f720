#include "torch.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "../lib/base/arena.h"
#include "../lib/base/strv.h"
#include "probe.h"

#define DISTS_MAX    256
#define METADATA_MAX ((size_t)1 << 20)

static const char *normal_name(struct arena *a, const char *name, size_t n)
{
	char *s = arena_strndup(a, name, n);
	for (char *c = s; *c; c++)
		*c = *c == '-' || *c == '.' ? '_' : (char)tolower((unsigned char)*c);
	return s;
}

bool dist_parse(struct arena *a, const char *folder, struct dist *out)
{
	static const char suffix[] = ".dist-info";
	const char *dash = strchr(folder, '-');
	size_t n = strlen(folder);
	if (!dash || dash == folder || !str_ends(folder, suffix) ||
	    dash + 1 >= folder + n - strlen(suffix))
		return false;
	*out = (struct dist){.name = normal_name(a, folder, (size_t)(dash - folder)),
	    .version = arena_strndup(a, dash + 1, (size_t)(folder + n - strlen(suffix) - dash - 1)),
	    .folder = arena_strdup(a, folder)};
	return true;
}

static bool wanted(const char *name)
{
	static const char *const names[] = {"torch", "triton", "transformers", "kernels",
	    "causal_conv1d", "fla_core", "flash_linear_attention"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return str_starts(name, "nvidia_cuda_runtime");
}

static bool is_whole(struct probe *p, const struct dist *d)
{
	const char *name = arena_printf(p->a, "%s/%s/METADATA", d->site, d->folder);
	struct stat st;
	return probe_stat(p, name, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

void dists_read(struct probe *p, const char *const *sites, size_t n, struct dists *out)
{
	out->v = arena_alloc(p->a, DISTS_MAX * sizeof *out->v);
	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		if (probe_list(p, sites[i], &names) < 0)
			continue;
		for (size_t k = 0; k < names.n && out->n < DISTS_MAX; k++) {
			struct dist d;
			if (!dist_parse(p->a, names.v[k], &d) || !wanted(d.name))
				continue;
			d.site = sites[i];
			d.whole = is_whole(p, &d);
			out->v[out->n++] = d;
		}
	}
}

const struct dist *dists_find(const struct dists *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->v[i].name, name))
			return &d->v[i];
	return NULL;
}

/* The string in a line `name = 'value'`; NULL for anything else. */
static const char *quoted(struct arena *a, char *value)
{
	value = str_trim(value);
	size_t n = strlen(value);
	if (n < 3 || (*value != '\'' && *value != '"') || value[n - 1] != *value)
		return NULL;
	return arena_strndup(a, value + 1, n - 2);
}

void torch_parse_version(struct arena *a, char *text, struct torch *out)
{
	for (char *line; (line = probe_line(&text));) {
		char *eq = strchr(line, '=');
		if (!eq || isspace((unsigned char)*line))
			continue;
		*eq = '\0';
		line[strcspn(line, ":")] = '\0';
		const char *name = str_trim(line), *value = quoted(a, eq + 1);
		if (!strcmp(name, "__version__")) {
			out->version = value;
		} else if (!strcmp(name, "cuda")) {
			out->names_cuda = true;
			out->cuda = value ? probe_minor(a, value) : NULL;
		} else if ((!strcmp(name, "hip") || !strcmp(name, "rocm")) && value) {
			out->rocm = value;
		}
	}
}

const char *torch_parse_triton(struct arena *a, const char *metadata)
{
	static const char field[] = "\nRequires-Dist: triton";
	const char *s = strstr(metadata, field);
	if (!s)
		return NULL;
	s += strlen(field);
	s += strspn(s, " (");
	if (!str_starts(s, "=="))
		return NULL;
	size_t n = strcspn(s + 2, ";),\n ");
	return n ? arena_strndup(a, s + 2, n) : NULL;
}

static int read_abi(struct probe *p, const char *dir)
{
	static const char flag[] = "_GLIBCXX_USE_CXX11_ABI=";
	const char *name = arena_printf(p->a, "%s/share/cmake/Torch/TorchConfig.cmake", dir);
	const char *text = probe_text(p, name, METADATA_MAX);
	const char *at = text ? strstr(text, flag) : NULL;
	return at ? at[strlen(flag)] == '1' : -1;
}

static void read_dir(struct probe *p, const char *dir, struct torch *out)
{
	const char *name = arena_printf(p->a, "%s/version.py", dir);
	const char *text = probe_text(p, name, METADATA_MAX);
	out->dir = dir;
	if (text)
		torch_parse_version(p->a, arena_strdup(p->a, text), out);
	else
		out->broken = arena_printf(p->a, "'%s': %s", name, strerror(errno));
	out->cxx11_abi = read_abi(p, dir);
}

static void read_record(struct probe *p, const struct dists *dists, struct torch *out)
{
	const struct dist *d = dists_find(dists, "torch"), *triton = dists_find(dists, "triton");
	out->triton = triton ? triton->version : NULL;
	if (!d)
		return;
	for (size_t i = 0; i < dists->n; i++)
		out->two |= !strcmp(dists->v[i].name, "torch") && &dists->v[i] != d &&
			    dists->v[i].site == d->site;
	if (!out->version)
		out->version = d->version;
	const char *name = arena_printf(p->a, "%s/%s/METADATA", d->site, d->folder);
	const char *text = probe_text(p, name, METADATA_MAX);
	if (text)
		out->wants_triton = torch_parse_triton(p->a, text);
	else if (!out->broken)
		out->broken = arena_printf(p->a, "'%s': %s", name, strerror(errno));
}

void torch_read(struct probe *p, const char *const *sites, size_t n, const struct dists *dists,
    struct torch *out)
{
	*out = (struct torch){.cxx11_abi = -1};
	for (size_t i = 0; i < n && !out->dir; i++) {
		const char *dir = arena_printf(p->a, "%s/torch", sites[i]);
		if (probe_is_file(p, arena_printf(p->a, "%s/__init__.py", dir)))
			read_dir(p, dir, out);
	}
	read_record(p, dists, out);
	if (out->dir && !out->version)
		out->version = "of unknown version";
}
