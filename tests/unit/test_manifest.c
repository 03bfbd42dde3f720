/* Manifests of stores of Triton kernels, alone and in a package that claims what they say. */
#include "unit.h"

#include "../../lib/deb/deb.h"
#include "../../lib/deb/inspect.h"
#include "../../lib/deb/manifest.h"
#include "../../lib/deb/stanza.h"

#define DIR "usr/lib/x86_64-linux-gnu/debkit/fla/cu128"

static void names(void **state)
{
	assert_true(manifest_is(DIR "/triton-3.6.0/manifest"));
	static const char *const others[] = {DIR "/manifest", DIR "/triton-3.6.0/x/manifest",
	    DIR "/triton-3.6.0/manifest.x", "usr/share/debkit/triton-3.6.0/manifest",
	    "usr/lib/x/triton-3.6.0/manifest", DIR "/triton-3.6.0", ""};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (manifest_is(others[i]))
			fail_msg("'%s' is taken for a manifest", others[i]);
}

static int add(struct manifest_claims *m, const char *path, const char *text, struct err *err)
{
	return manifest_add(m, path, text, strlen(text), err);
}

static void expect_words(const struct strv *v, const char *want)
{
	_free_ char *text = strv_join(v, " ");
	assert_string_equal(text, want);
}

static void manifests_add_up(void **state)
{
	struct unit *u = *state;
	_cleanup_(manifest_done) struct manifest_claims m = {0};
	if (add(&m, DIR "/triton-3.6.0/manifest",
		"Triton: 3.6.0\nPython: 3.9 3.10\nArchs: 9.0 10.0\nProfiles: b a\nRefused: b\n",
		&u->err) < 0 ||
	    add(&m, DIR "/triton-3.5.1/manifest",
		"Triton: 3.5.1\nPython: 3.10\nArchs: 8.0 9.0\nProfiles: a\n", &u->err) < 0)
		fail_msg("%s", u->err.msg);
	manifest_sort(&m);
	expect_words(&m.tritons, "3.5.1 3.6.0");
	expect_words(&m.pythons, "3.9 3.10");
	expect_words(&m.archs, "8.0 9.0 10.0");
	expect_words(&m.profiles, "a b");
}

static void bad_manifests(void **state)
{
	static const char *const cases[][2] = {{"", "found no field"},
	    {"Triton: 3.6.0\nPython: 3.10\nArchs: 9.0\n", "Profiles is missing"},
	    {"Python: 3.10\nArchs: 9.0\nProfiles: a\n", "Triton is missing"},
	    {"Triton: 3.5.1\nPython: 3.10\nArchs: 9.0\nProfiles: a\n",
		"it is the manifest of Triton '3.5.1'"},
	    {"Triton: 3.6.0\nPython\n", "without a colon"},
	    {"Triton: 3.6.0\n\nTriton: 3.6.0\n", "found a second stanza"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(manifest_done) struct manifest_claims m = {0};
		err_clear(&u->err);
		assert_int_equal(add(&m, DIR "/triton-3.6.0/manifest", cases[i][0], &u->err), -1);
		assert_int_equal(u->err.code, ERR_FORMAT);
		if (!strstr(u->err.msg, cases[i][1]) ||
		    !strstr(u->err.msg, "triton-3.6.0/manifest"))
			fail_msg("case %zu: %s", i, u->err.msg);
	}
}

#define CONTROL                                                                                    \
	"Package: python3-fla-cu128\nVersion: 1-1\nArchitecture: amd64\n"                          \
	"Maintainer: Demo <demo@example.org>\nDescription: demonstration\n"
#define MANIFEST "Triton: 3.6.0\nPython: 3.10 3.11\nArchs: 8.0 9.0\nProfiles: large small\n"
#define CLAIMS                                                                                     \
	"Debkit-Triton: 3.6.0\nDebkit-Python: 3.10 3.11\nDebkit-Cuda-Archs: 8.0 9.0\n"             \
	"Debkit-Profiles: large small\n"

/* What inspect_check says of a package with one store; "" if all is true. */
static const char *inspect(struct unit *u, const char *control, const char *files_field)
{
	struct stanza_list list = {0};
	struct inspect_claims c;
	const char *deb = unit_path(u, "x.deb");
	static const char *const files[] = {
	    "sm_80.pack", "sm_90.pack", "sm_80.cp310.keys", "sm_90.cp311.keys", "sm_90.index"};
	err_clear(&u->err);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unit_put(u, arena_printf(&u->a, "s/" DIR "/triton-3.6.0/%s", files[i]), "data");
	unit_put(
	    u, "s/" DIR "/triton-3.6.0/manifest", arena_printf(&u->a, MANIFEST "%s", files_field));
	if (stanza_parse(&u->a, control, strlen(control), "control", STANZA_ONE, &list, &u->err) <
	    0)
		fail_msg("%s", u->err.msg);
	struct deb_spec spec = {
	    .control = &list.v[0], .stage = unit_path(u, "s"), .mtime = 1700000000};
	if (deb_write(&spec, deb, &u->err) < 0 || inspect_deb(&u->a, deb, &c, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	assert_string_equal(c.triton, "3.6.0");
	return inspect_check(&c, &u->err) < 0 ? u->err.msg : "";
}

static void packages_claim_what_they_hold(void **state)
{
	static const char *const cases[][2] = {{CONTROL CLAIMS, ""},
	    {CONTROL, "the field Debkit-Cuda-Archs is missing"},
	    {CONTROL "Debkit-Triton: 3.6.0 3.7.1\nDebkit-Python: 3.10 3.11\n"
		     "Debkit-Cuda-Archs: 8.0 9.0\nDebkit-Profiles: large small\n",
		"Debkit-Triton claims '3.6.0 3.7.1', but the files hold '3.6.0'"},
	    {CONTROL "Debkit-Triton: 3.6.0\nDebkit-Python: 3.10 3.11\n"
		     "Debkit-Cuda-Archs: 8.0 9.0\nDebkit-Profiles: huge\n",
		"Debkit-Profiles claims 'huge', but the files hold 'large small'"},
	    {CONTROL CLAIMS "Debkit-Cuda: 12.8\n", "Debkit-Cuda claims '12.8'"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *said = inspect(u, cases[i][0], "");
		if (*cases[i][1] ? !strstr(said, cases[i][1]) : *said)
			fail_msg("case %zu: '%s'", i, said);
	}
}

/* SHA-256 of "data", which all files hold. */
#define DATA "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"

static void hashes_are_held_against_files(void **state)
{
	static const char *const cases[][2] = {{"Files:\n " DATA " sm_90.pack\n", ""},
	    {"Files:\n " DATA " sm_90.index\n " DATA " sm_80.pack\n", ""},
	    {"Files: \n " DATA " sm_70.pack\n", "does not hold: Triton 3.6.0: " DATA " sm_70.pack"},
	    {"Files:\n 00 sm_90.pack\n", "does not hold: Triton 3.6.0: 00 sm_90.pack"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *said = inspect(u, CONTROL CLAIMS, cases[i][0]);
		if (*cases[i][1] ? !strstr(said, cases[i][1]) : *said)
			fail_msg("case %zu: '%s'", i, said);
	}
}

static const char *check(struct unit *u, const char *const *files)
{
	_cleanup_(manifest_done) struct manifest_claims m = {0};
	err_clear(&u->err);
	if (add(&m, DIR "/triton-3.6.0/manifest",
		"Triton: 3.6.0\nPython: 3.10 3.11\nArchs: 8.0 10.0\nProfiles: a\n", &u->err) < 0)
		fail_msg("%s", u->err.msg);
	for (; *files; files++)
		if (manifest_covers(*files))
			manifest_note_file(&m, *files, "00");
	return manifest_check(&m, &u->err) < 0 ? u->err.msg : "";
}

static void manifests_are_held_against_files(void **state)
{
	struct unit *u = *state;
	const char *files[] = {DIR "/triton-3.6.0/sm_80.pack", DIR "/triton-3.6.0/sm_100.pack",
	    DIR "/triton-3.6.0/sm_100.cp310.keys", DIR "/triton-3.6.0/sm_80.cp311.keys",
	    DIR "/triton-3.6.0/stubs/sm_90.pack", "usr/share/sm_90.pack", NULL};
	assert_string_equal(check(u, files), "");
	files[4] = DIR "/triton-3.6.0/sm_90.pack";
	assert_non_null(strstr(check(u, files), "a file for Triton 3.6.0: arch 9.0"));
	files[4] = DIR "/triton-3.7.1/sm_80.pack";
	assert_non_null(strstr(check(u, files), "a file for Triton 3.7.1: arch 8.0"));
	files[4] = NULL;
	files[1] = DIR "/triton-3.6.0/sm_100.index";
	assert_non_null(strstr(check(u, files), "names Triton 3.6.0: arch 10.0"));
	files[1] = DIR "/triton-3.6.0/sm_100.pack";
	files[3] = DIR "/triton-3.6.0/sm_80.cp31.keys";
	assert_non_null(strstr(check(u, files), "names Triton 3.6.0: Python 3.11"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(names),
	    CASE(manifests_add_up),
	    CASE(bad_manifests),
	    CASE(manifests_are_held_against_files),
	    CASE(packages_claim_what_they_hold),
	    CASE(hashes_are_held_against_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
