/* The settings of this machine's pip that matter for fetching: index, CA file, proxy. */
#pragma once
#include "../../lib/base/compat.h"

struct err;

struct pip_config {
	char *index_url; /* never NULL after a load without url */
	char *cert;	 /* a CA file or folder, or NULL */
	char *proxy;	 /* or NULL */
};
#define PIP_CONFIG_INIT                                                                            \
	{                                                                                          \
		NULL, NULL, NULL                                                                   \
	}

/*
 * url NULL: the index as pip would choose it: PIP_INDEX_URL, `pip config list` (install, then
 * global), the default built into the installed pip. cert: PIP_CERT, pip's own setting,
 * REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR. pip is run only if the
 * environment leaves something open; ERR_TOOL if it is needed and not there.
 */
int pip_config_load(const char *url, struct pip_config *out, struct err *err) _must_check_;
void pip_config_done(struct pip_config *c);
