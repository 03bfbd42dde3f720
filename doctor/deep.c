#include "deep.h"

#include <string.h>

#include "../lib/base/err.h"
#include "../lib/base/proc.h"
#include "../lib/deb/stanza.h"
#include "machine.h"
#include "probe.h"

#define OUT_MAX	  ((size_t)1 << 20)
#define TIMEOUT_S 120

static const char *get(const struct stanza *s, const char *name)
{
	const char *v = stanza_get(s, name);
	return v ? v : "";
}

static void judge_torch(const struct pyenv *e, const struct stanza *s, struct findings *out)
{
	const char *error = stanza_get(s, "Torch-Error");
	if (error)
		finding_add(
		    out, FINDING_BAD, "deep.torch", e->exe, "import torch fails: %s", error);
	else if (!strcmp(get(s, "Cuda"), "yes"))
		finding_add(out, FINDING_GOOD, "deep.torch", e->exe,
		    "torch %s reaches the GPU, compute capability %s; its own archs are %s",
		    get(s, "Torch"), get(s, "Capability"), get(s, "Archs"));
	else
		finding_add(out, FINDING_BAD, "deep.torch", e->exe,
		    "torch %s says that no GPU is available", get(s, "Torch"));
}

static void judge_binding(
    struct machine *m, const struct pyenv *e, const struct stanza *s, struct findings *out)
{
	const char *error = stanza_get(s, "Binding-Error");
	const struct dist *pip = dists_find(&e->dists, "causal_conv1d");
	if (stanza_get(s, "Torch-Error"))
		return;
	if (!error) {
		finding_add(out, FINDING_GOOD, "deep.binding", e->exe, "causal_conv1d_cuda is '%s'",
		    get(s, "Binding"));
		return;
	}
	finding_add(
	    out, FINDING_BAD, "deep.binding", e->exe, "import causal_conv1d_cuda fails: %s", error);
	if (pip && strstr(error, "undefined symbol"))
		finding_type(
		    out, FINDING_HERE, "%s causal-conv1d", machine_pip(m, e, "uninstall -y"));
}

static void judge_transformers(const struct pyenv *e, const struct stanza *s, struct findings *out)
{
	const char *error = stanza_get(s, "Transformers-Error");
	const char *kernels = stanza_get(s, "Kernels");
	if (error)
		finding_add(out, FINDING_BAD, "deep.transformers", e->exe,
		    "import transformers fails: %s", error);
	else if (!stanza_get(s, "Transformers") && !stanza_get(s, "Torch-Error"))
		finding_add(out, FINDING_GOOD, "deep.transformers", e->exe,
		    "transformers is not installed: the functions are those of the packages "
		    "themselves");
	if (kernels)
		finding_add(out, FINDING_GOOD, "deep.hub", e->exe,
		    "the package kernels %s is installed: where a model asks for it, transformers "
		    "takes kernels from the hub before these%s%s",
		    kernels, stanza_get(s, "Use-Hub-Kernels") ? "; USE_HUB_KERNELS is " : "",
		    get(s, "Use-Hub-Kernels"));
}

static void judge_function(
    const struct pyenv *e, const struct stanza *s, const char *transformers, struct findings *out)
{
	const char *state = get(s, "State"), *file = stanza_get(s, "File");
	const char *of = arena_printf(out->a, "%s%s%s", get(s, "Model"),
	    *transformers ? ", transformers " : "", transformers);
	if (!strcmp(state, "fast") || !strcmp(state, "hub"))
		finding_add(out, FINDING_GOOD, "deep.function", e->exe, "%s: %s is %s%s%s", of,
		    get(s, "Function"), !strcmp(state, "hub") ? "a kernel of the hub" : "fast",
		    file ? ", " : "", file ? file : "");
	else if (!strcmp(state, "absent"))
		finding_add(out, FINDING_BAD, "deep.function", e->exe, "%s: there is no %s: %s", of,
		    get(s, "Function"), get(s, "Why"));
	else if (!strcmp(state, "broken"))
		finding_add(out, FINDING_BAD, "deep.model", e->exe,
		    "%s: its code cannot be imported: %s", of, get(s, "Why"));
	else if (!strcmp(state, "fallback"))
		finding_add(out, FINDING_BAD, "deep.function", e->exe,
		    "%s: %s is the slow fallback: %s", of, get(s, "Function"), get(s, "Why"));
	else
		finding_add(out, FINDING_WARNING, "deep.function", e->exe,
		    "%s: nothing tells what %s is: %s", of, get(s, "Function"), get(s, "Why"));
}

void deep_judge(struct machine *m, const struct pyenv *e, const char *text, struct findings *out)
{
	struct stanza_list list = {0};
	struct err err = {0};
	if (stanza_parse(m->p->a, text, strlen(text), "deep.py", 0, &list, &err) < 0 || !list.n) {
		finding_add(out, FINDING_BAD, "deep.python", e->exe,
		    "'%s' ran the question and gave no answer that can be read%s%s", e->exe,
		    *err.msg ? ": " : "", err.msg);
		return;
	}
	const struct stanza *first = &list.v[0];
	judge_torch(e, first, out);
	judge_binding(m, e, first, out);
	judge_transformers(e, first, out);
	for (size_t i = 1; i < list.n; i++)
		judge_function(e, &list.v[i], get(first, "Transformers"), out);
}

/* The last line that a program wrote to its standard error. */
static const char *last_line(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);
	const char *last = "it says nothing";
	for (char *line; (line = probe_line(&copy));)
		if (*str_trim(line))
			last = str_trim(line);
	return last;
}

int deep_check(struct machine *m, const struct pyenv *e, struct findings *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(OUT_MAX), said = BUF_INIT(OUT_MAX);
	struct proc_result r;
	struct err why = {0};
	if (!m->templates)
		return err_set(
		    err, ERR_SYSTEM, "--deep needs templates/doctor/deep.py: reinstall debkit");
	if (!e->exe || e->gone || !e->torch.version)
		return 0;
	const char *script = arena_printf(m->p->a, "%s/doctor/deep.py", m->templates);
	char *argv[] = {(char *)e->exe, "-B", (char *)script, NULL};
	struct proc_spec spec = {
	    .argv = argv, .out = &text, .errout = &said, .timeout_s = TIMEOUT_S};
	probe_note(m->p, script);
	int rc = proc_run(&spec, &r, &why);
	if (rc < 0 && why.code == ERR_INTERRUPT)
		return err_set(err, why.code, "%s", why.msg);
	if (rc < 0 || r.status != 0)
		finding_add(out, FINDING_BAD, "deep.python", e->exe, "'%s' stopped: %s", e->exe,
		    rc < 0 ? why.msg : last_line(m->p->a, buf_str(&said)));
	else
		deep_judge(m, e, buf_str(&text), out);
	return 0;
}
