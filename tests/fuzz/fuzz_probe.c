/* What a doctor reads of a stranger's container: each parser of texts, on the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../doctor/deep.h"
#include "../../doctor/machine.h"
#include "../../doctor/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_python(struct arena *a, const char *text)
{
	struct torch t = {0};
	struct dist d;
	struct bindings b = {0};
	torch_parse_version(a, arena_strdup(a, text), &t);
	(void)!torch_parse_triton(a, text);
	(void)!pyscan_pth_enables(text);
	if (dist_parse(a, text, &d) && (!*d.name || !*d.version))
		abort();
	bindings_parse(a, text, "causal-conv1d-cu128", &b);
	(void)!bindings_words(a, &b);
	const struct binding *near = bindings_nearest(a, &b, "cp311", "12.8");
	const struct binding *fit = bindings_choose(a, &b, "cp311", &t);
	if (!near != !b.n || (fit && strcmp(fit->python, "cp311") != 0))
		abort();
}

static void read_apt(struct arena *a, const char *text, size_t size)
{
	struct apt_sources s = {0};
	struct debs d = {0};
	struct err err = {0};
	for (int deb822 = 0; deb822 < 2; deb822++)
		if (aptsrc_parse(a, text, "fuzz", deb822, &s, &err) < 0 && err.code != ERR_FORMAT)
			abort();
	for (size_t i = 0; i < s.n; i++)
		if (!*s.v[i].uri || !*s.v[i].suite)
			abort();
	(void)!debs_parse(a, text, size, &d);
	for (size_t i = 0; i < d.n; i++)
		if (!debs_wants(d.v[i].name, strlen(d.v[i].name)))
			abort();
	(void)!debs_provider(&d, "cuda-cudart-12-8", true);
}

static void read_system(struct arena *a, const char *text)
{
	const char *version = gpu_parse_version(a, text);
	if (version && !strchr(version, '.'))
		abort();
	(void)!gpu_parse_major(text, "nvidia-uvm");
	(void)!system_parse_noexec(a, text, "/tmp");
	(void)!machine_arch_runs(text, 12, 0);
	(void)!probe_compare(text, "525.60.13");
	(void)!probe_minor(a, text);
}

static void read_answer(struct arena *a, const char *text)
{
	struct probe p;
	probe_init(&p, a, "");
	struct machine m = {.p = &p, .sudo = ""};
	struct pyenv e = {.dir = "/v", .exe = "/v/bin/python", .kind = "venv"};
	struct findings f = {.a = a};
	deep_judge(&m, &e, text, &f);
	(void)!probe_setting(&p, text, "home");
	findings_sort(&f);
	for (size_t i = 1; i < f.n; i++)
		if (f.v[i].grade > f.v[i - 1].grade)
			abort();
	probe_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	const char *text = arena_strndup(&a, (const char *)data, size);
	size_t len = strlen(text);
	read_python(&a, text);
	read_apt(&a, text, len);
	read_system(&a, text);
	read_answer(&a, text);
	return 0;
}
