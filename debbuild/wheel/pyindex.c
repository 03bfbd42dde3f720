#include "pyindex.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "pyindex_int.h"
#include "pip_config.h"

#define RETRIES		4
#define REDIRECTS_MAX	5L
#define CONNECT_TIMEOUT 20L /* seconds */
#define STALL_TIMEOUT	60L /* seconds without a byte */
#define ACCEPT                                                                                     \
	"Accept: application/vnd.pypi.simple.v1+json, "                                            \
	"application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

struct index {
	CURL *curl;
	struct curl_slist *accept;
	char *asked;	       /* address given by the caller, or NULL: pip's */
	char *url, *origin;    /* without user and password; "https://host:port" */
	char *user, *password; /* for origin alone, or NULL */
	struct pip_config pip;
	struct arena arena;
	struct index_project *projects;
	unsigned requests;
	uint64_t bytes;
	char said[CURL_ERROR_SIZE];
};

struct index_project **index_projects(struct index *x)
{
	return &x->projects;
}

struct arena *index_arena(struct index *x)
{
	return &x->arena;
}

char *index_public_url(const char *url)
{
	const char *host = strstr(url, "://");
	host = host ? host + 3 : url;
	const char *at = memrchr(host, '@', strcspn(host, "/?#"));
	return at ? xasprintf("%.*s%s", (int)(host - url), url, at + 1) : xstrdup(url);
}

static void free_url(CURLU **u)
{
	curl_url_cleanup(*u);
}

static char *url_part(CURLU *u, CURLUPart part, unsigned flags)
{
	char *s = NULL;
	if (curl_url_get(u, part, &s, flags) != CURLUE_OK)
		return NULL;
	char *own = xstrdup(s);
	curl_free(s);
	return own;
}

static char *url_origin(CURLU *u)
{
	_free_ char *scheme = url_part(u, CURLUPART_SCHEME, 0);
	_free_ char *host = url_part(u, CURLUPART_HOST, 0);
	_free_ char *port = url_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	return xasprintf("%s://%s:%s", scheme ? scheme : "", host ? host : "", port ? port : "");
}

/* Takes user and password out of the address of the index and keeps them for its origin. */
static int split_url(struct index *x, const char *url, struct err *err)
{
	_free_ char *shown = index_public_url(url);
	_cleanup_(free_url) CURLU *u = curl_url();
	if (!u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    !(str_starts(url, "http://") || str_starts(url, "https://")))
		return err_set(err, ERR_USAGE,
		    "package index '%s' is no http or https address: set PIP_INDEX_URL to one",
		    shown);
	x->user = url_part(u, CURLUPART_USER, CURLU_URLDECODE);
	x->password = url_part(u, CURLUPART_PASSWORD, CURLU_URLDECODE);
	x->origin = url_origin(u);
	x->url = take_ptr(shown);
	for (size_t n = strlen(x->url); n && x->url[n - 1] == '/'; n--)
		x->url[n - 1] = '\0';
	return 0;
}

/* Called by libcurl several times a second: a signal ends the transfer. */
static int on_progress(
    void *arg, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
	return intr_pending();
}

static void set_protocols(CURL *c, bool https_only)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, https_only ? "https" : "http,https");
#else
	curl_easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
	    https_only ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

int index_open(const char *url, struct index **out, struct err *err)
{
	struct index *x = xcalloc(1, sizeof *x);
	x->asked = url ? xstrdup(url) : NULL;
	x->curl = curl_easy_init();
	x->accept = curl_slist_append(NULL, ACCEPT);
	if (!x->curl || !x->accept) {
		index_close(x);
		return err_set(err, ERR_SYSTEM, "cannot start libcurl");
	}
	*out = x;
	return 0;
}

/* Asks pip, once and as late as can be: it takes half a second. */
static int settle(struct index *x, struct err *err)
{
	if (x->url)
		return 0;
	pip_config_done(&x->pip);
	if (pip_config_load(x->asked, &x->pip, err) < 0)
		return -1;
	return split_url(x, x->pip.index_url, err);
}

const char *index_url(struct index *x, struct err *err)
{
	return settle(x, err) < 0 ? NULL : x->url;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	curl_easy_cleanup(x->curl);
	curl_slist_free_all(x->accept);
	pip_config_done(&x->pip);
	arena_done(&x->arena);
	free(x->asked);
	free(x->url);
	free(x->origin);
	free(x->user);
	free(x->password);
	free(x);
}

void index_cost(const struct index *x, unsigned *requests, uint64_t *bytes)
{
	*requests = x->requests;
	*bytes = x->bytes;
}

char *index_resolve(const char *base, const char *ref, struct err *err)
{
	_cleanup_(free_url) CURLU *u = curl_url();
	char *full = NULL;
	if (u && curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
	    curl_url_set(u, CURLUPART_URL, ref, 0) == CURLUE_OK &&
	    curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK)
		full = url_part(u, CURLUPART_URL, 0);
	if (!full || !(str_starts(full, "http://") || str_starts(full, "https://"))) {
		free(full);
		err_set(err, ERR_FORMAT, "'%s' is no http or https address", ref);
		return NULL;
	}
	return full;
}

/* "bytes FIRST-LAST/TOTAL", RFC 9110 14.4. */
static void parse_content_range(struct transfer *t, const char *value)
{
	unsigned long long first, last, total = 0;
	if (sscanf(value, " bytes %llu-%llu/%llu", &first, &last, &total) < 2)
		return;
	t->has_range = true;
	t->range_first = first;
	t->range_last = last;
	t->range_total = total;
}

static int fail(struct transfer *t, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct transfer *t, enum err_code code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	t->failed = true;
	return err_set(t->err, code, "'%s': %s", t->shown, text);
}

/* A try that asked for the rest of a whole file and got all of it starts again. */
static int start_again(struct transfer *t)
{
	if (t->got && t->restart(t->arg, t->err) < 0) {
		t->failed = true;
		return -1;
	}
	t->got = 0;
	return 0;
}

static int check_range(struct transfer *t, long status)
{
	uint64_t last = t->offset + t->limit - 1;
	if (status == 200 && !t->ranged)
		return start_again(t);
	if (status != 206)
		return fail(t, ERR_NETWORK,
		    "the server answered %ld with the whole file to a request for a range; use an "
		    "index whose server supports Range",
		    status);
	if (!t->has_range || t->range_first != t->asked || (t->ranged && t->range_last > last)) {
		if (!t->has_range)
			return fail(
			    t, ERR_NETWORK, "the server answered 206 without Content-Range");
		return fail(t, ERR_NETWORK,
		    "the server sent bytes %llu-%llu where %llu-%llu were asked for",
		    (unsigned long long)t->range_first, (unsigned long long)t->range_last,
		    (unsigned long long)t->asked, (unsigned long long)last);
	}
	return 0;
}

/* Looks at status and headers before the body. */
static int check_answer(struct transfer *t, long status)
{
	if (t->ranged || t->asked) {
		if (check_range(t, status) < 0)
			return -1;
	} else if (start_again(t) < 0) {
		return -1;
	}
	if (t->length > t->limit - t->got)
		return fail(t, ERR_NETWORK,
		    "the server announces %llu bytes, at most %llu expected",
		    (unsigned long long)(t->length + t->got), (unsigned long long)t->limit);
	return 0;
}

static long http_status(const struct transfer *t)
{
	long status = 0;
	curl_easy_getinfo(t->x->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* The value of a header line if it is the header of that name ("Content-Length:"), or NULL. */
static const char *header_value(const char *line, const char *name)
{
	return strncasecmp(line, name, strlen(name)) ? NULL : line + strlen(name);
}

/* Called for each line of the headers of each answer: redirects, then the final one. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	_free_ char *line = xstrndup(p, n);
	const char *range = header_value(line, "Content-Range:");
	const char *length = header_value(line, "Content-Length:");
	if (str_starts(line, "HTTP/")) {
		t->has_range = false;
		t->length = 0;
	}
	if (range)
		parse_content_range(t, range);
	if (length)
		t->length = strtoull(length, NULL, 10);
	long status = http_status(t);
	bool last = !strcmp(line, "\r\n") || !strcmp(line, "\n");
	return last && status >= 200 && status <= 299 && check_answer(t, status) < 0 ? 0 : n;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	long status = http_status(t);
	if (status < 200 || status > 299)
		return n; /* the text of an error page is not wanted */
	if (n > t->limit - t->got) {
		fail(t, ERR_NETWORK, "the server sent more than the %llu bytes expected",
		    (unsigned long long)t->limit);
		return 0;
	}
	if (t->write(t->arg, p, n, t->err) < 0) {
		t->failed = true;
		return 0;
	}
	t->got += n;
	return n;
}

static void set_certificates(struct index *x)
{
	if (!x->pip.cert)
		return;
	if (path_is_dir(x->pip.cert))
		curl_easy_setopt(x->curl, CURLOPT_CAPATH, x->pip.cert);
	else
		curl_easy_setopt(x->curl, CURLOPT_CAINFO, x->pip.cert);
}

/* User and password go to the index's own origin alone. */
static void set_user(struct index *x, const char *url)
{
	_cleanup_(free_url) CURLU *u = curl_url();
	if (!x->user || !u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
		return;
	_free_ char *origin = url_origin(u);
	if (strcmp(origin, x->origin))
		return;
	curl_easy_setopt(x->curl, CURLOPT_USERNAME, x->user);
	curl_easy_setopt(x->curl, CURLOPT_PASSWORD, x->password ? x->password : "");
}

static void set_options(struct transfer *t)
{
	struct index *x = t->x;
	CURL *c = x->curl;
	curl_easy_reset(c); /* keeps connections */
	x->said[0] = '\0';
	curl_easy_setopt(c, CURLOPT_URL, t->url);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, x->said);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "debkit/" DEBKIT_VERSION);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, STALL_TIMEOUT);
	curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	set_protocols(c, str_starts(t->url, "https://"));
	set_certificates(x);
	set_user(x, t->url);
	if (x->pip.proxy)
		curl_easy_setopt(c, CURLOPT_PROXY, x->pip.proxy);
	if (t->page) {
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, x->accept);
		curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	}
}

static CURLcode try_once(struct transfer *t)
{
	curl_off_t received = 0;
	long redirects = 0;
	char range[64];
	set_options(t);
	t->has_range = false;
	t->length = 0;
	t->asked = t->page ? 0 : t->offset + t->got;
	if (t->ranged)
		snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)t->asked,
		    (unsigned long long)(t->offset + t->limit - 1));
	else
		snprintf(range, sizeof range, "%llu-", (unsigned long long)t->asked);
	if (t->ranged || t->asked)
		curl_easy_setopt(t->x->curl, CURLOPT_RANGE, range);
	CURLcode rc = curl_easy_perform(t->x->curl);
	curl_easy_getinfo(t->x->curl, CURLINFO_SIZE_DOWNLOAD_T, &received);
	curl_easy_getinfo(t->x->curl, CURLINFO_REDIRECT_COUNT, &redirects);
	t->x->requests += 1 + (unsigned)redirects;
	t->x->bytes += (uint64_t)received;
	return rc;
}

static bool is_passing(CURLcode rc, long status)
{
	switch (rc) {
	case CURLE_OK:
		return status >= 500 || status == 429;
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return true;
	default:
		return false;
	}
}

static const char *hint(const struct index *x, CURLcode rc)
{
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		return x->asked ? " (check the network)"
				: " (check the network, or set PIP_INDEX_URL to an index within "
				  "reach)";
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return " (set PIP_CERT to the file of the certificate authority)";
	default:
		return "";
	}
}

/* The final word on the last try: 0 if all of it came. */
static int judge(struct transfer *t, CURLcode rc, long status)
{
	if (rc == CURLE_ABORTED_BY_CALLBACK)
		return intr_check(t->err);
	if (t->failed)
		return -1;
	if (rc == CURLE_TOO_MANY_REDIRECTS)
		return fail(
		    t, ERR_NETWORK, "more than %ld redirects, one after the other", REDIRECTS_MAX);
	if (rc == CURLE_UNSUPPORTED_PROTOCOL)
		return fail(
		    t, ERR_NETWORK, "the server redirects to an address that may not be followed");
	const char *why = t->x->said[0] ? t->x->said : curl_easy_strerror(rc);
	if (is_passing(rc, status) && rc != CURLE_OK)
		return fail(t, ERR_NETWORK, "the connection broke in each of %d tries: %s",
		    RETRIES + 1, why);
	if (rc != CURLE_OK)
		return fail(t, ERR_NETWORK, "%s%s", why, hint(t->x, rc));
	if (status >= 500)
		return fail(t, ERR_NETWORK,
		    "the server answered %ld in each of %d tries; try again later", status,
		    RETRIES + 1);
	if (status == 401 || status == 403)
		return fail(t, ERR_NETWORK,
		    "the server answered %ld: give PIP_INDEX_URL a user and password that may read "
		    "it",
		    status);
	if (status < 200 || status > 299)
		return fail(t, ERR_NETWORK, "the server answered %ld", status);
	if (t->ranged && t->got < t->limit)
		return fail(t, ERR_NETWORK, "the server sent %llu of the %llu bytes asked for",
		    (unsigned long long)t->got, (unsigned long long)t->limit);
	return 0;
}

/* Waits before the next try; a signal ends the wait. */
static int pause_before(unsigned attempt, struct err *err)
{
	struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
	for (unsigned i = 0; i < 4u << attempt; i++) {
		if (intr_check(err) < 0)
			return -1;
		nanosleep(&step, NULL);
	}
	return 0;
}

static void note_answer(struct transfer *t)
{
	char *text = NULL;
	t->status = http_status(t);
	curl_easy_getinfo(t->x->curl, CURLINFO_CONTENT_TYPE, &text);
	snprintf(t->type, sizeof t->type, "%s", text ? text : "");
}

int index_receive(struct transfer *t, struct err *err)
{
	_free_ char *shown = index_public_url(t->url);
	t->shown = shown;
	t->err = err;
	if (settle(t->x, err) < 0)
		return -1;
	for (unsigned attempt = 0;; attempt++) {
		if (intr_check(err) < 0)
			return -1;
		CURLcode rc = try_once(t);
		note_answer(t);
		if (!t->failed && t->got == t->limit)
			return 0;
		if (t->failed || attempt == RETRIES || !is_passing(rc, t->status))
			return judge(t, rc, t->status);
		if (pause_before(attempt, err) < 0)
			return -1;
	}
}

char *index_final_url(struct index *x)
{
	char *text = NULL;
	curl_easy_getinfo(x->curl, CURLINFO_EFFECTIVE_URL, &text);
	return index_public_url(text ? text : "");
}
