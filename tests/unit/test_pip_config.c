#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../debbuild/wheel/pip_config.h"

static const char *const variables[] = {"PIP_INDEX_URL", "PIP_CERT", "PIP_PROXY", "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};
static char work[] = "/tmp/debkit-pip.XXXXXX";
static char *real_path;

/* A python3 that answers from files of the folder, as pip would. */
static const char fake[] = "#!/bin/sh\n"
			   "cd \"${0%/*}\"\n"
			   "case \"$*\" in\n"
			   "'-m pip config list') exec cat config ;;\n"
			   "'-m pip help install') exec cat help ;;\n"
			   "-c*) exec cat default ;;\n"
			   "esac\n"
			   "exit 9\n";

static int setup(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	setenv("PATH", real_path, 1);
	return 0;
}

static void put(const char *name, const char *text, mode_t mode)
{
	_free_ char *path = path_join(work, name);
	struct err err = {0};
	if (outfile_put(path, mode, text, strlen(text), &err) < 0)
		fail_msg("%s", err.msg);
}

/* NULL: the file is not there, the fake fails when it is asked. */
static void fake_pip(const char *config, const char *standard, const char *help)
{
	const char *const names[] = {"config", "default", "help"};
	const char *const texts[] = {config, standard, help};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *path = path_join(work, names[i]);
		unlink(path);
		if (texts[i])
			put(names[i], texts[i], 0644);
	}
	put("python3", fake, 0755);
	_free_ char *search = xasprintf("%s:/usr/bin:/bin", work);
	setenv("PATH", search, 1);
}

static void check(const char *url, const char *index, const char *cert, const char *proxy)
{
	_cleanup_(pip_config_done) struct pip_config c = PIP_CONFIG_INIT;
	struct err err = {0};
	if (pip_config_load(url, &c, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(c.index_url, index);
	assert_string_equal(c.cert ? c.cert : "", cert);
	assert_string_equal(c.proxy ? c.proxy : "", proxy);
}

static void check_error(const char *says)
{
	_cleanup_(pip_config_done) struct pip_config c = PIP_CONFIG_INIT;
	struct err err = {0};
	assert_int_equal(pip_config_load(NULL, &c, &err), -1);
	assert_int_equal(err.code, ERR_TOOL);
	assert_string_equal(err.msg, says);
}

static void test_order(void **state)
{
	fake_pip("", "https://standard.invalid/simple\n", NULL);
	check(NULL, "https://standard.invalid/simple", "", "");
	fake_pip("global.cert='/etc/own.pem'\n"
		 "global.index-url='https://me:it\\'s@own.invalid/simple'\n"
		 "global.index-url-other='https://no.invalid'\n"
		 "global.proxy=\"http://proxy.invalid:3128\"\n",
	    NULL, NULL);
	check(NULL, "https://me:it's@own.invalid/simple", "/etc/own.pem",
	    "http://proxy.invalid:3128");
	fake_pip("global.index-url='https://global.invalid'\n"
		 "install.index-url='https://install.invalid'\n",
	    NULL, NULL);
	check(NULL, "https://install.invalid", "", "");
	setenv("PIP_INDEX_URL", "https://variable.invalid", 1);
	check(NULL, "https://variable.invalid", "", "");
	check("https://argument.invalid", "https://argument.invalid", "", "");
	setenv("PIP_INDEX_URL", "", 1);
	check(NULL, "https://install.invalid", "", "");
}

static void test_default_from_help(void **state)
{
	fake_pip("", NULL,
	    "  -i, --index-url <url>   Base URL of the index (default "
	    "https://help.invalid/simple).\n"
	    "  --extra-index-url <url> Extra URLs (default none)\n");
	check(NULL, "https://help.invalid/simple", "", "");
	fake_pip("", NULL, "  --timeout <sec> (default 15)\n");
	check_error("the installed pip does not tell its package index: set PIP_INDEX_URL");
}

static void test_no_pip(void **state)
{
	static const char says[] =
	    "python3 -m pip not found: install python3-pip or set PIP_INDEX_URL";
	fake_pip(NULL, NULL, NULL);
	check_error(says);
	setenv("PATH", "/nonexistent", 1);
	check_error(says);
	/* With the index known, pip is not needed. */
	check("https://argument.invalid", "https://argument.invalid", "", "");
	setenv("PIP_INDEX_URL", "http://variable.invalid", 1);
	setenv("PIP_PROXY", "http://proxy.invalid", 1);
	check(NULL, "http://variable.invalid", "", "http://proxy.invalid");
}

static void test_certificates(void **state)
{
	static const char *const order[] = {
	    "SSL_CERT_DIR", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"};
	fake_pip("", "https://standard.invalid", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		setenv(order[i], order[i], 1);
		check(NULL, "https://standard.invalid", order[i], "");
	}
	fake_pip("global.cert='/etc/own.pem'\n", "https://standard.invalid", NULL);
	check(NULL, "https://standard.invalid", "/etc/own.pem", "");
	check("https://argument.invalid", "https://argument.invalid", "/etc/own.pem", "");
	setenv("PIP_CERT", "/etc/variable.pem", 1);
	check(NULL, "https://standard.invalid", "/etc/variable.pem", "");
}

/* The machine's real pip, with a configuration file of our own. */
static void test_real_pip(void **state)
{
	_free_ char *path = path_join(work, "pip.conf");
	put("pip.conf",
	    "[global]\nindex-url = https://me:it's@file.invalid/a%20b/simple\n"
	    "cert = /etc/file.pem\n",
	    0644);
	setenv("PIP_CONFIG_FILE", path, 1);
	check(NULL, "https://me:it's@file.invalid/a%20b/simple", "/etc/file.pem", "");
	setenv("PIP_CONFIG_FILE", "/dev/null", 1);
	_cleanup_(pip_config_done) struct pip_config c = PIP_CONFIG_INIT;
	struct err err = {0};
	assert_int_equal(pip_config_load(NULL, &c, &err), 0);
	assert_int_equal(strncmp(c.index_url, "https://", 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_order, setup),
	    cmocka_unit_test_setup(test_default_from_help, setup),
	    cmocka_unit_test_setup(test_no_pip, setup),
	    cmocka_unit_test_setup(test_certificates, setup),
	    cmocka_unit_test_setup(test_real_pip, setup),
	};
	struct err err = {0};
	real_path = xstrdup(getenv("PATH"));
	if (!mkdtemp(work))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (path_remove_tree(work, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
	free(real_path);
	return failed;
}
