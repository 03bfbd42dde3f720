#include "unit.h"

#include "../../debbuild/data/licences.h"
#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/make/pack.h"
#include "../../debbuild/make/papers.h"
#include "../../debbuild/plan/plan.h"
#include "../../debbuild/data/recipe.h"
#include "../../debbuild/make/stage.h"
#include "../../lib/deb/stanza.h"
#include "planhost.h"

#define TEMPLATES "tests/data/templates"

/* The papers of a package that was never made: what the plan says is all they need. */
struct desk {
	struct recipe recipe;
	struct matrix matrix;
	struct lockfile lock;
	struct host host;
	struct selection sel;
	struct plan plan;
	struct stage_context c;
	struct pack_result res;
	struct licences licences;
	struct stanza env;
	struct papers_facts facts;
};

static struct desk *prepare(struct unit *u, const char *kind)
{
	struct desk *d = arena_alloc(&u->a, sizeof *d);
	d->sel.cuda = "12.8";
	planhost_clang(&d->host);
	if (recipe_load(&u->a, TEMPLATES, "demo-conv", &d->recipe, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &d->matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, TEMPLATES "/lock", &d->lock, &u->err) < 0 ||
	    licences_load(&u->a, "templates", &d->licences, &u->err) < 0 ||
	    plan_make(
		&u->a, &d->recipe, &d->matrix, &d->lock, &d->host, &d->sel, &d->plan, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	d->c = (struct stage_context){.plan = &d->plan,
	    .templates = u->dir,
	    .sign_key = "0123456789ABCDEF0123456789ABCDEF01234567",
	    .date = 1796022000};
	memset(d->res.sha256, 'a', SHA256_HEX - 1);
	memset(d->res.key, 'b', SHA256_HEX - 1);
	d->res.size = 1234;
	stanza_set(&u->a, &d->env, "Build-Origin", "Debian");
	stanza_set(&u->a, &d->env, "Build-Architecture", "amd64");
	stanza_set(&u->a, &d->env, "Build-Date", "Mon, 30 Nov 2026 07:00:00 +0000");
	stanza_set(&u->a, &d->env, "Installed-Build-Depends", "\ng++ (= 4:12.2.0-3)");
	d->facts = (struct papers_facts){.c = &d->c,
	    .res = &d->res,
	    .source = "demo-conv",
	    .unsigned_size = 1000,
	    .licences = &d->licences,
	    .env = &d->env};
	memset(d->facts.unsigned_sha256, 'c', SHA256_HEX - 1);
	for (size_t i = 0; i < d->plan.n_packages; i++)
		if (!strcmp(d->plan.packages[i].kind, kind))
			d->facts.pkg = &d->plan.packages[i];
	assert_non_null(d->facts.pkg);
	d->facts.stem = arena_printf(
	    &u->a, "%s_%s_%s", d->facts.pkg->name, d->facts.pkg->version, d->facts.pkg->arch);
	materials_find(&u->a, &d->plan, d->facts.pkg, &d->facts.materials);
	unit_put(u, arena_printf(&u->a, "%s/copyright.in", d->facts.pkg->template),
	    "Upstream-Name: demo\n\nFiles: *\nCopyright: 2026 demo\nLicense: BSD-3-Clause\n\n"
	    "Files: x\nCopyright: 2026 demo\nLicense: own\n Do what you like.\n");
	return d;
}

static const char *put(struct unit *u, const char *name, const struct buf *b)
{
	return unit_put(u, name, buf_str(b));
}

/* dpkg's own parser knows the file's fields. */
static void buildinfo_is_read_by_dpkg(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct desk *d = prepare(u, "flavour");
	buildinfo_write(&u->a, &d->facts, &b);
	put(u, "x.buildinfo", &b);
	assert_string_equal(
	    unit_sh(u,
		"perl -MDpkg::Control -MDpkg::Checksums -e '"
		"my $c = Dpkg::Control->new(type => CTRL_FILE_BUILDINFO);"
		"$c->load(\"x.buildinfo\") or die; my $s = Dpkg::Checksums->new();"
		"$s->add_from_control($c); print join(\" \", $c->{Source}, $c->{Binary}, "
		"$s->get_files(), $s->get_size(($s->get_files())[0]), $c->{\"Debkit-Cuda\"})'"),
	    arena_printf(
		&u->a, "demo-conv %s %s.deb 1234 12.8", d->facts.pkg->name, d->facts.stem));
}

/* Every file that the plan takes from the lock for the package, and no other. */
static void inputs_are_those_of_the_plan(void **state)
{
	struct unit *u = *state;
	struct desk *d = prepare(u, "flavour");
	size_t headers = 0, sources = 0, toolkit = 0;
	for (size_t i = 0; i < d->facts.materials.n; i++) {
		headers += d->facts.materials.v[i].role == MATERIAL_HEADERS;
		sources += d->facts.materials.v[i].role == MATERIAL_SOURCE;
		toolkit += d->facts.materials.v[i].role == MATERIAL_TOOLKIT;
	}
	assert_int_equal(sources, 1);
	assert_int_equal(headers, d->plan.n_torches);
	assert_true(toolkit > 0);
	struct desk *all = prepare(u, "python");
	assert_int_equal(all->facts.materials.n, 1);
	struct desk *runtime = prepare(u, "cudart");
	assert_int_equal(runtime->facts.materials.n, 1);
	assert_ptr_equal(runtime->facts.materials.v[0].file, runtime->plan.runtime);
}

static void sbom_names_licences(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct desk *d = prepare(u, "flavour");
	if (sbom_write(&u->a, &d->facts, &b, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	put(u, "x.json", &b);
	assert_string_equal(
	    unit_sh(u,
		"python3 -c '\nimport json\nd = json.load(open(\"x.json\"))\n"
		"ids = {p[\"SPDXID\"] for p in d[\"packages\"]} | {\"SPDXRef-DOCUMENT\"}\n"
		"assert len(ids) == len(d[\"packages\"]) + 1\n"
		"for r in d[\"relationships\"]:\n"
		"    assert {r[\"spdxElementId\"], r[\"relatedSpdxElement\"]} <= ids\n"
		"print(d[\"spdxVersion\"], d[\"packages\"][0][\"licenseDeclared\"],\n"
		"    [x[\"extractedText\"] for x in d[\"hasExtractedLicensingInfos\"]][0])'"),
	    "SPDX-2.3 BSD-3-Clause AND LicenseRef-own Do what you like.");
}

static void statement_names_the_files(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct desk *d = prepare(u, "flavour");
	struct papers_file v[2] = {{.name = "a.deb"}, {.name = "a.spdx.json"}};
	memset(v[0].sha256, '1', SHA256_HEX - 1);
	memset(v[1].sha256, '2', SHA256_HEX - 1);
	provenance_write(&d->facts, v, 2, &b);
	put(u, "x.json", &b);
	assert_string_equal(
	    unit_sh(u, "python3 -c 'import json; d = json.load(open(\"x.json\")); "
		       "print([s[\"name\"] for s in d[\"subject\"]], d[\"_type\"], "
		       "len(d[\"predicate\"][\"buildDefinition\"][\"resolvedDependencies\"]))'"),
	    arena_printf(&u->a, "['a.deb', 'a.spdx.json'] https://in-toto.io/Statement/v1 %zu",
		d->facts.materials.n));
}

static void longest_name_gives_the_licence(void **state)
{
	struct unit *u = *state;
	struct licences l;
	assert_int_equal(licences_load(&u->a, "templates", &l, &u->err), 0);
	assert_string_equal(licences_find(&l, "torch"), "BSD-3-Clause");
	assert_null(licences_find(&l, "torchvision"));
	assert_string_equal(licences_find(&l, "nvidia-curand-cu12"), "LicenseRef-NVIDIA-CUDA-EULA");
	assert_true(str_starts(licences_find(&l, "nvidia-cuda-cccl-cu12"), "Apache-2.0 "));
	assert_string_equal(licences_find(&l, "libpython3.11-dev"), "PSF-2.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(buildinfo_is_read_by_dpkg),
	    CASE(inputs_are_those_of_the_plan), CASE(sbom_names_licences),
	    CASE(statement_names_the_files), CASE(longest_name_gives_the_licence)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
