/* Driver, loader, packages, sources and keys, as their files tell. */
#include "unit.h"

#include "../../doctor/deep.h"
#include "../../doctor/machine.h"
#include "../../doctor/probe.h"

static void versions_of_the_driver(void **state)
{
	struct unit *u = *state;
	assert_string_equal(
	    gpu_parse_version(&u->a,
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\n"
		"GCC version:  gcc version 12.2.0\n"),
	    "535.183.01");
	assert_string_equal(
	    gpu_parse_version(&u->a,
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release\n"),
	    "570.124.06");
	assert_null(gpu_parse_version(&u->a, "NVRM version: nothing\n570.1"));
	assert_null(gpu_parse_version(&u->a, "GCC version 12.2.0\n"));
	assert_null(gpu_parse_version(&u->a, "NVRM version:"));
}

static void numbers_of_devices(void **state)
{
	static const char text[] = "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n"
				   "511 nvidia-uvm\n\nBlock devices:\n  8 sd\n259 blkext\n";
	assert_int_equal(gpu_parse_major(text, "nvidia-uvm"), 511);
	assert_int_equal(gpu_parse_major(text, "nvidia"), 195);
	assert_int_equal(gpu_parse_major(text, "sd"), 0);
	assert_int_equal(gpu_parse_major(text, "mem"), 1);
	assert_int_equal(gpu_parse_major("", "mem"), 0);
}

/* ldconfig makes a cache of a library, and says itself what is in it. */
static void the_loaders_cache(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
	struct ldcache cache;
	unit_sh(u, "mkdir -p r/lib r/etc && echo 'int x;' | gcc -shared "
		   "-Wl,-soname,libcudart.so.12 -x c - "
		   "-o r/lib/libcudart.so.12.8.90 && echo 'int y;' | gcc -shared "
		   "-Wl,-soname,libother.so.1 "
		   "-x c - -o r/lib/libother.so.1 && ldconfig -r r");
	assert_int_equal(path_read(unit_path(u, "r/etc/ld.so.cache"), &text, &u->err), 0);
	assert_int_equal(ldcache_parse(&u->a, text.data, text.len, &cache, &u->err), 0);
	assert_int_equal(cache.n, 1);
	assert_string_equal(cache.v[0].soname, "libcudart.so.12");
	assert_string_equal(arena_printf(&u->a, "%s", cache.v[0].path),
	    unit_sh(u, "ldconfig -r r -p | sed -n 's/.*libcudart.* => //p'"));
	for (size_t n = 0; n < text.len; n += 7) {
		struct err err = {0};
		if (ldcache_parse(&u->a, text.data, n, &cache, &err) < 0)
			assert_int_equal(err.code, ERR_FORMAT);
	}
}

static void a_link_is_followed_to_its_version(void **state)
{
	struct unit *u = *state;
	struct probe p;
	struct loader_hits hits;
	probe_init(&p, &u->a, u->dir);
	unit_put(u, "usr/lib/x86_64-linux-gnu/libcuda.so.570.1", "x");
	assert_int_equal(
	    symlink("libcuda.so.570.1", unit_path(u, "usr/lib/x86_64-linux-gnu/libcuda.so.1")), 0);
	loader_search(&p, "libcuda.so.1", &hits);
	assert_int_equal(hits.n, 1);
	assert_string_equal(hits.v[0].real, "/usr/lib/x86_64-linux-gnu/libcuda.so.570.1");
	assert_int_equal(hits.v[0].via, LOADER_DEFAULT);
	probe_done(&p);
}

static void packages_installed_and_on_offer(void **state)
{
	struct unit *u = *state;
	struct probe p;
	struct debs d;
	probe_init(&p, &u->a, u->dir);
	unit_put(u, "var/lib/dpkg/status",
	    "Package: debkit-cudart-12-8\nStatus: install ok installed\nVersion: 12.8.90-1\n"
	    "Provides: cuda-cudart-12-8 (= 12.8.90)\n\n"
	    "Package: python3-causal-conv1d-cu128\nStatus: install ok half-configured\nVersion: "
	    "1.7.0-1\n\n"
	    "Package: python3-causal-conv1d\nStatus: deinstall ok config-files\nVersion: "
	    "1.7.0-1\n\n"
	    "Package: debkit\nthis is no field\n\nPackage: vim\nStatus: install ok "
	    "installed\nVersion: 1\n");
	unit_put(u, "var/lib/apt/lists/r_dists_stable_InRelease",
	    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nOrigin: debkit\n"
	    "Valid-Until: Mon, 30 Nov 2026 07:00:00 UTC\nX-Debkit-Withdrawn:\n"
	    " python3-causal-conv1d-cu128 1.7.0-10 it computes: nonsense\n vim 1 no matter\n"
	    " debkit-cudart-12-8\n debkit 2\nSHA256:\n debkit 3 x\n"
	    "-----BEGIN PGP SIGNATURE-----\nOrigin: x\n");
	unit_put(u, "var/lib/apt/lists/r_dists_stable_main_binary-amd64_Packages",
	    "Package: python3-causal-conv1d-cu128\nVersion: 1.7.0-10\n\n"
	    "Package: python3-causal-conv1d-cu128\nVersion: 1.7.0-9\n\nPackage: debkit\nVersion: "
	    "1\n");
	unit_put(u, "var/lib/apt/lists/d_dists_x_InRelease", "Origin: Debian\n");
	unit_put(u, "var/lib/apt/lists/d_dists_x_main_binary-amd64_Packages",
	    "Package: debkit\nVersion: 99\n");
	unit_put(u, "etc/apt/preferences.d/p",
	    "Package: debk*\nPin: release o=debkit\nPin-Priority: -5\n");
	debs_read(&p, &d);
	assert_int_equal(d.n_damaged, 1);
	assert_true(debs_installed(&d, "debkit-cudart-12-8")->installed);
	assert_true(debs_installed(&d, "python3-causal-conv1d-cu128")->broken);
	assert_null(debs_installed(&d, "python3-causal-conv1d"));
	assert_null(debs_installed(&d, "vim"));
	/* 1.7.0-10 was withdrawn. */
	assert_string_equal(debs_candidate(&d, "python3-causal-conv1d-cu128")->version, "1.7.0-9");
	assert_int_equal(d.releases[1].n_withdrawn, 2);
	assert_string_equal(
	    debs_withdrawn(&d, "python3-causal-conv1d-cu128", "1.7.0-10", NULL)->reason,
	    "it computes: nonsense");
	assert_string_equal(debs_withdrawn(&d, "debkit", "2", NULL)->reason, "");
	assert_null(debs_withdrawn(&d, "debkit", "3", NULL));
	assert_null(debs_withdrawn(&d, "python3-causal-conv1d-cu128", "1.7.0-9", NULL));
	assert_string_equal(debs_candidate(&d, "python3-causal-conv1d-cu128")->origin, "debkit");
	assert_null(debs_candidate(&d, "debkit")); /* a pin forbids the one, Debian's is not read */
	assert_string_equal(
	    debs_provider(&d, "cuda-cudart-12-8", true)->name, "debkit-cudart-12-8");
	assert_null(debs_provider(&d, "cuda-cudart-12-8", false));
	assert_string_equal(d.releases[1].valid_until, "Mon, 30 Nov 2026 07:00:00 UTC");
	assert_true(debs_has_word("2.10 2.11", "2.11"));
	assert_false(debs_has_word("2.10 2.11", "2.1"));
	probe_done(&p);
}

/* Pin: origin names a whole host (apt_preferences(5)), with or without quotes; a port is no part.
 */
static void pins_are_of_whole_hosts(void **state)
{
	static const struct {
		const char *pin;
		bool forbids;
	} cases[] = {{"\"10.0.0.1\"", false}, {"10.0.0.1", false}, {"10.0.0.100", false},
	    {"\"10.0.0.10\"", true}, {"10.0.0.10", true}, {"10.0.0.*", true}, {"\"\"", true}};
	struct unit *u = *state;
	unit_put(u, "var/lib/apt/lists/10.0.0.10:8080_apt_dists_s_InRelease", "Origin: debkit\n");
	unit_put(u, "var/lib/apt/lists/10.0.0.10:8080_apt_dists_s_main_binary-amd64_Packages",
	    "Package: debkit\nVersion: 1\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe p;
		struct debs d;
		probe_init(&p, &u->a, u->dir);
		unit_put(u, "etc/apt/preferences.d/p",
		    arena_printf(
			&u->a, "Package: *\nPin: origin %s\nPin-Priority: -5\n", cases[i].pin));
		debs_read(&p, &d);
		if (!debs_candidate(&d, "debkit") != cases[i].forbids)
			fail_msg("%s", cases[i].pin);
		probe_done(&p);
	}
}

static void both_forms_of_sources(void **state)
{
	struct unit *u = *state;
	struct apt_sources s = {0};
	assert_int_equal(
	    aptsrc_parse(&u->a,
		"# c\ndeb [ signed-by=/k arch=amd64 ] https://a/x/ / # c\ndeb-src http://b c d\n"
		"deb http://b stable main\n",
		"/l", false, &s, &u->err),
	    0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.v[0].signed_by, "/k");
	assert_string_equal(s.v[0].uri, "https://a/x/");
	assert_int_equal(s.v[1].line, 4);
	assert_int_equal(
	    aptsrc_parse(&u->a,
		"Types: deb deb-src\nURIs: http://a http://b\nSuites: x y\nComponents: m\n"
		"Signed-By: /k\n\nTypes: deb\nURIs: http://c\nSuites: x\nEnabled: no\n",
		"/s", true, &s, &u->err),
	    0);
	assert_int_equal(s.n, 6);
	assert_string_equal(s.v[5].suite, "y");
	assert_int_equal(aptsrc_parse(&u->a, "deb x\n", "/l", false, &s, &u->err), -1);
	unit_error(u, ERR_FORMAT, "/l:1: expected 'deb [options] URI SUITE COMPONENT'");
	assert_true(aptsrc_same_uri("http://a/b/", "http://a/b"));
	assert_false(aptsrc_same_uri("http://a/b", "http://a/bc"));
}

/* gpg makes the keys, and says when they end. */
static void keys_as_gpg_says(void **state)
{
	struct unit *u = *state;
	struct apt_key *k;
	size_t n;
	unit_sh(u,
	    "mkdir -m 700 h; export GNUPGHOME=$PWD/h; g() { gpg --batch -q --passphrase '' \"$@\"; "
	    "}; "
	    "g --quick-gen-key a@t ed25519 sign 2y; g --quick-gen-key b@t rsa1024 sign never; "
	    "g --cert-digest-algo SHA1 --quick-gen-key c@t rsa2048 sign never; "
	    "f=$(gpg --batch --with-colons -k a@t | awk -F: '/^fpr/ { print $10; exit }'); "
	    "g --quick-add-key $f ed25519 sign 1y; g --quick-add-key $f ed25519 sign 6m; "
	    "g --quick-add-key $f cv25519 encr never; "
	    "g --export >bin; g --export --armor >asc; gpgconf --kill all");
	for (int armored = 0; armored < 2; armored++) {
		_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
		assert_int_equal(
		    path_read(unit_path(u, armored ? "asc" : "bin"), &text, &u->err), 0);
		assert_int_equal(aptkey_parse(&u->a, text.data, text.len, &k, &n, &u->err), 0);
		assert_int_equal(n, 3);
		assert_string_equal(arena_printf(&u->a, "%s %u", k[0].fpr, k[0].expires),
		    unit_sh(u, "GNUPGHOME=$PWD/h gpg --batch --with-colons -k a@t | "
			       "awk -F: '/^pub/ { e = $7 } /^fpr/ { print $10, e; exit }'"));
		/* Of two signing subkeys the later end counts. */
		assert_string_equal(arena_printf(&u->a, "%u", k[0].signs_until),
		    unit_sh(u, "GNUPGHOME=$PWD/h gpg --batch --with-colons -k a@t | "
			       "awk -F: '/^sub/ && $12 == \"s\" && $7 > m { m = $7 } "
			       "END { print m }'"));
		assert_int_equal(k[1].signs_until, 0);
		assert_false(k[0].sha1);
		assert_null(k[0].weak);
		assert_string_equal(k[1].weak, "rsa1024");
		assert_int_equal(k[1].expires, 0);
		assert_true(k[2].sha1);
		assert_null(k[2].weak);
	}
	assert_int_equal(aptkey_parse(&u->a, "nothing", 7, &k, &n, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
	assert_string_equal(aptkey_date(&u->a, 86400), "1970-01-02");
}

static const struct finding *finding_of(const struct findings *f, const char *id)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].id, id))
			return &f->v[i];
	fail_msg("no finding %s", id);
	return NULL;
}

static void answers_of_a_python(void **state)
{
	struct unit *u = *state;
	struct probe p;
	struct pyenv e = {.dir = "/v", .exe = "/v/bin/python", .kind = "venv"};
	probe_init(&p, &u->a, u->dir);
	struct machine m = {.p = &p, .sudo = ""};
	struct findings f = {.a = &u->a}, broken = {.a = &u->a}, none = {.a = &u->a};
	deep_judge(&m, &e,
	    "Torch: 2.10.0\nCuda: yes\nCapability: 12.0\nArchs: sm_120\nBinding: /b.so\n"
	    "Transformers: 5.2.0\nKernels: 0.17\n\nModel: Q\nFunction: f\nState: fast\nFile: /f\n\n"
	    "Model: Q\nFunction: g\nState: fallback\nWhy: no fla\n",
	    &f);
	assert_int_equal(findings_count(&f, FINDING_BAD), 1);
	assert_string_equal(
	    f.v[f.n - 1].found, "Q, transformers 5.2.0: g is the slow fallback: no fla");
	assert_int_equal(finding_of(&f, "deep.hub")->grade, FINDING_GOOD);
	deep_judge(&m, &e, "Torch-Error: OSError: x\n", &broken);
	assert_int_equal(broken.n, 1);
	assert_string_equal(broken.v[0].found, "import torch fails: OSError: x");
	deep_judge(&m, &e, "garbage", &none);
	assert_int_equal(finding_of(&none, "deep.python")->grade, FINDING_BAD);
	probe_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(versions_of_the_driver),
	    CASE(numbers_of_devices),
	    CASE(the_loaders_cache),
	    CASE(a_link_is_followed_to_its_version),
	    CASE(packages_installed_and_on_offer),
	    CASE(pins_are_of_whole_hosts),
	    CASE(both_forms_of_sources),
	    CASE(keys_as_gpg_says),
	    CASE(answers_of_a_python),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
