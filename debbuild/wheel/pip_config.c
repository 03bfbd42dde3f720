#include "pip_config.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"

#define PIP_TEXT_MAX (1 << 20)

/* pip takes an empty variable for an unset one. */
static const char *env(const char *name)
{
	const char *v = getenv(name);
	return v && *v ? v : NULL;
}

/* Standard output of a Python command; -1 without an error if it failed. */
static int run(const char *const *argv, struct buf *out)
{
	static const char *const set[] = {"COLUMNS=1000", "PYTHONIOENCODING=utf-8", NULL};
	_cleanup_(buf_done) struct buf talk = BUF_INIT(PIP_TEXT_MAX);
	struct proc_spec spec = {
	    .argv = (char *const *)argv, .env = (char *const *)set, .out = out, .errout = &talk};
	struct proc_result res;
	if (proc_run(&spec, &res, NULL) < 0 || res.status != 0)
		return -1;
	return out->failed ? -1 : 0;
}

/* Python's repr of a string: quotes off, backslash escapes of quotes and backslashes undone. */
static char *unquote(const char *s)
{
	size_t n = strlen(s);
	if (n < 2 || (s[0] != '\'' && s[0] != '"') || s[n - 1] != s[0])
		return xstrdup(s);
	char *out = xstrndup(s + 1, n - 2);
	char *to = out;
	for (const char *p = out; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*to = '\0';
	return out;
}

/* The value of "SECTION.KEY='value'" in the lines of `pip config list`, or NULL. */
static char *lookup(const struct strv *lines, const char *key)
{
	size_t n = strlen(key);
	for (size_t i = 0; i < lines->n; i++)
		if (!strncmp(lines->v[i], key, n) && lines->v[i][n] == '=')
			return unquote(lines->v[i] + n + 1);
	return NULL;
}

/* What applies to `pip install`: its own section, then the global one. */
static char *setting(const struct strv *lines, const char *key)
{
	_free_ char *install = xasprintf("install.%s", key);
	_free_ char *global = xasprintf("global.%s", key);
	char *v = lookup(lines, install);
	return v ? v : lookup(lines, global);
}

/* The default of --index-url as pip's own help text states it. */
static char *default_from_help(void)
{
	static const char *const argv[] = {"python3", "-m", "pip", "help", "install", NULL};
	_cleanup_(buf_done) struct buf text = BUF_INIT(PIP_TEXT_MAX);
	if (run(argv, &text) < 0)
		return NULL;
	const char *p = strstr(buf_str(&text), "--index-url");
	p = p ? strstr(p, "(default ") : NULL;
	if (!p)
		return NULL;
	p += strlen("(default ");
	return xstrndup(p, strcspn(p, ") \n"));
}

static char *default_index(void)
{
	static const char *const argv[] = {"python3", "-c",
	    "from pip._internal.models.index import PyPI; print(PyPI.simple_url)", NULL};
	_cleanup_(buf_done) struct buf text = BUF_INIT(PIP_TEXT_MAX);
	if (run(argv, &text) < 0 || !text.len)
		return default_from_help();
	return xstrdup(str_trim(text.data));
}

static int load_from_pip(bool need_index, struct pip_config *out, struct err *err)
{
	static const char *const argv[] = {"python3", "-m", "pip", "config", "list", NULL};
	_cleanup_(buf_done) struct buf text = BUF_INIT(PIP_TEXT_MAX);
	if (run(argv, &text) < 0) {
		if (!need_index)
			return 0;
		return err_set(err, ERR_TOOL,
		    "python3 -m pip not found: install python3-pip or set PIP_INDEX_URL");
	}
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, buf_str(&text), "\n");
	if (!out->cert)
		out->cert = setting(&lines, "cert");
	if (!out->proxy)
		out->proxy = setting(&lines, "proxy");
	if (!need_index)
		return 0;
	out->index_url = setting(&lines, "index-url");
	if (!out->index_url)
		out->index_url = default_index();
	if (!out->index_url)
		return err_set(err, ERR_TOOL,
		    "the installed pip does not tell its package index: set PIP_INDEX_URL");
	return 0;
}

int pip_config_load(const char *url, struct pip_config *out, struct err *err)
{
	static const char *const bundles[] = {
	    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};
	if (!url)
		url = env("PIP_INDEX_URL");
	if (url)
		out->index_url = xstrdup(url);
	if (env("PIP_CERT"))
		out->cert = xstrdup(env("PIP_CERT"));
	if (env("PIP_PROXY"))
		out->proxy = xstrdup(env("PIP_PROXY"));
	bool plain = url && str_starts(url, "http://");
	if ((!url || (!out->cert && !plain)) && load_from_pip(!url, out, err) < 0)
		return -1;
	for (size_t i = 0; !out->cert && i < ARRAY_SIZE(bundles); i++)
		if (env(bundles[i]))
			out->cert = xstrdup(env(bundles[i]));
	return 0;
}

void pip_config_done(struct pip_config *c)
{
	free(c->index_url);
	free(c->cert);
	free(c->proxy);
	c->index_url = c->cert = c->proxy = NULL;
}
