#include "machine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/base/err.h"
#include "../lib/deb/stanza.h"
#include "probe.h"

#define REPOSITORY "/usr/share/debkit/repository"
#define WHEELS	   "https://download.pytorch.org/whl/"

/* Written when the debkit package was made: where its own repository is. */
static const char *read_url(struct probe *p)
{
	struct stanza_list list = {0};
	const char *text = probe_text(p, REPOSITORY, 65536);
	if (!text ||
	    stanza_parse(p->a, text, strlen(text), REPOSITORY, STANZA_ONE, &list, NULL) < 0)
		return NULL;
	return stanza_get(&list.v[0], "Url");
}

static int read_envs(struct machine *m, const struct doctor_request *r, struct err *err)
{
	if (r->venv && pyscan_dir(m->p, r->venv, &m->envs, err) < 0)
		return -1;
	if (r->exe && pyscan_exe(m->p, r->exe, &m->envs, err) < 0)
		return -1;
	if (!r->venv && !r->exe)
		pyscan_all(m->p, &m->envs);
	return 0;
}

int machine_read(struct machine *m, struct probe *p, const char *templates,
    const struct doctor_request *r, struct err *err)
{
	*m =
	    (struct machine){.p = p, .templates = templates, .sudo = geteuid() == 0 ? "" : "sudo "};
	if (read_envs(m, r, err) < 0)
		return -1;
	debs_read(p, &m->debs);
	bindings_read(p, &m->bindings);
	gpu_read(p, &m->gpu);
	aptsrc_read(p, &m->sources);
	system_read(p, &m->os);
	compilers_read(p, &m->compilers);
	m->repo_url = read_url(p);
	return 0;
}

static bool is_active(const struct pyenv *e)
{
	const char *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");
	return (venv && !strcmp(venv, e->dir)) || (!venv && conda && !strcmp(conda, e->dir));
}

static bool counts(const struct pyenv *e, const struct doctor_request *r, bool active, bool torch)
{
	if (r->exe || r->venv || r->all)
		return true;
	if (active)
		return is_active(e);
	return torch ? e->torch.version != NULL : !strcmp(e->kind ? e->kind : "", "system");
}

struct pyenv **machine_targets(struct machine *m, const struct doctor_request *r, size_t *n)
{
	struct pyenv **v = arena_alloc(m->p->a, (m->envs.n + 1) * sizeof *v);
	bool active = false, torch = false;
	*n = 0;
	for (size_t i = 0; i < m->envs.n; i++) {
		active |= is_active(&m->envs.v[i]);
		torch |= m->envs.v[i].torch.version != NULL;
	}
	for (size_t i = 0; i < m->envs.n; i++)
		if (counts(&m->envs.v[i], r, active, torch))
			v[(*n)++] = &m->envs.v[i];
	return v;
}

/* With one environment that sees the packages, another that does not may be meant so. */
static bool is_strict(struct pyenv *const *targets, size_t n, const struct pyenv *e)
{
	if (n == 1 || e->enabled_by)
		return true;
	for (size_t i = 0; i < n; i++)
		if (targets[i]->enabled_by && targets[i]->torch.version)
			return false;
	return e->torch.version != NULL;
}

void machine_check(struct machine *m, struct pyenv *const *targets, size_t n, struct findings *out)
{
	if (!m->envs.n) {
		finding_add(
		    out, FINDING_BAD, "python.absent", "the usual places", "no Python 3 was found");
		finding_type(out, FINDING_HERE, "%sapt-get install -y python3-venv", m->sudo);
	}
	for (size_t i = 0; i < n; i++) {
		out->env = n > 1 || m->envs.n > 1 ? targets[i]->dir : NULL;
		check_python(m, targets[i], is_strict(targets, n, targets[i]), out);
	}
	out->env = NULL;
	check_driver(m, targets, n, out);
	check_gpu(m, targets, n, out);
	check_apt(m, out);
	check_withdrawn(m, out);
	check_system(m, out);
	check_compilers(m, targets, n, out);
	findings_sort(out);
}

const char *machine_flavour(struct machine *m, const char *cuda)
{
	char *s = arena_printf(m->p->a, "cu%s", cuda), *to = s;
	for (const char *c = s; *c; c++)
		if (*c != '.')
			*to++ = *c;
	*to = '\0';
	return s;
}

const char *machine_runtime(struct machine *m, const char *cuda)
{
	char *s = arena_printf(m->p->a, "cuda-cudart-%s", cuda);
	for (char *c = s; *c; c++)
		if (*c == '.')
			*c = '-';
	return s;
}

const char *machine_quote(struct machine *m, const char *word)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,";
	_cleanup_(buf_done) struct buf out = BUF_INIT(65536);
	if (*word && !word[strspn(word, plain)])
		return word;
	buf_putc(&out, '\'');
	for (const char *s = word; *s; s++)
		buf_puts(&out, *s == '\'' ? "'\\''" : (char[]){*s, '\0'});
	buf_putc(&out, '\'');
	return arena_strdup(m->p->a, buf_str(&out));
}

const char *machine_pip(struct machine *m, const struct pyenv *e, const char *verb)
{
	const char *exe = machine_quote(m, e->exe ? e->exe : "python3");
	bool has_pip = false;
	for (size_t i = 0; i < e->n_sites; i++)
		has_pip |= probe_is_dir(m->p, arena_printf(m->p->a, "%s/pip", e->sites[i]));
	if (!has_pip && !strcmp(e->kind, "uv"))
		return arena_printf(m->p->a, "uv pip %s --python %s", verb, exe);
	return arena_printf(m->p->a, "%s%s%s -m pip %s", has_pip ? "" : exe,
	    has_pip ? "" : " -m ensurepip && ", exe, verb);
}

const char *machine_pip_torch(
    struct machine *m, const struct pyenv *e, const char *torch, const char *cuda)
{
	const char *flavour = machine_flavour(m, cuda);
	const char *have =
	    e->torch.dir && e->torch.version ? probe_minor(m->p->a, e->torch.version) : "";
	const char *again = !strcmp(e->kind, "uv") ? "--reinstall " : "--force-reinstall ";
	if (!strcmp(e->kind, "system"))
		return arena_printf(m->p->a,
		    "python%s -m venv /opt/venv && /opt/venv/bin/pip install \"torch%s%s%s\" "
		    "--index-url " WHEELS "%s && debkit enable --venv /opt/venv",
		    e->version, torch ? "==" : "", torch ? torch : "", torch ? ".*" : "", flavour);
	/* pip takes another build of the same version for the wanted one unless it is forced. */
	return arena_printf(m->p->a, "%s %s\"torch%s%s%s\" --index-url " WHEELS "%s",
	    machine_pip(m, e, "install"), !torch || !strcmp(torch, have) ? again : "",
	    torch ? "==" : "", torch ? torch : "", torch ? ".*" : "", flavour);
}

static bool is_tegra(int major, int minor)
{
	return (major == 8 && minor == 7) || (major == 10 && minor == 1) ||
	       (major == 11 && minor == 0);
}

static bool word_runs(const char *word, int major, int minor)
{
	char *end;
	long x = strtol(word, &end, 10);
	long y = *end == '.' ? strtol(end + 1, &end, 10) : 0;
	if (*end == 'a')
		return x == major && y == minor;
	if (str_starts(end, "+PTX"))
		return x < major || (x == major && y <= minor);
	if (*end == 'f' || is_tegra(major, minor) || is_tegra((int)x, (int)y))
		return x == major && (*end == 'f' ? y <= minor : y == minor);
	return x == major && y <= minor;
}

bool machine_arch_runs(const char *archs, int major, int minor)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	strv_split(&words, archs, " ");
	for (size_t i = 0; i < words.n; i++)
		if (isdigit((unsigned char)words.v[i][0]) && word_runs(words.v[i], major, minor))
			return true;
	return false;
}

const char *machine_torch_archs(struct machine *m, const char *cuda)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(4096);
	struct stanza_list list = {0};
	const char *name = m->templates ? arena_printf(m->p->a, "%s/archs", m->templates) : NULL;
	if (!name || stanza_parse_file(m->p->a, name, STANZA_COMMENTS, &list, NULL) < 0)
		return "";
	probe_note(m->p, name);
	for (size_t i = 0; i < list.n; i++) {
		const char *torch = stanza_get(&list.v[i], "Torch");
		const char *arch = stanza_get(&list.v[i], "Arch");
		if (torch && arch && debs_has_word(torch, cuda))
			buf_printf(&out, "%s%s", out.len ? " " : "", arch);
	}
	return arena_strdup(m->p->a, buf_str(&out));
}

const char *machine_driver_floor(const char *cuda)
{
	return str_starts(cuda, "12.") ? "525.60.13" : str_starts(cuda, "13.") ? "580.65.06" : NULL;
}
