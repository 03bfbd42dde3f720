#include "build_opts.h"

#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "../lib/base/xalloc.h"

static const char usual[] = "causal-conv1d";

static int find_recipes(struct strv *out, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	_free_ char *templates = path_templates_dir(err);
	if (!templates || path_list(templates, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *path = xasprintf("%s/%s/recipe", templates, names.v[i]);
		if (path_exists(path))
			strv_add(out, names.v[i]);
	}
	return 0;
}

int build_opts_recipes(const struct build_opts *b, struct strv *out, struct err *err)
{
	_cleanup_(strv_done) struct strv known = STRV_INIT;
	if (!b->recipes.n) {
		strv_add(out, usual);
		return 0;
	}
	if (find_recipes(&known, err) < 0)
		return -1;
	bool all = strv_has(&b->recipes, "all");
	if (b->packages.n && (all || b->recipes.n > 1))
		return err_set(err, ERR_USAGE, "--package goes with one --recipe");
	for (size_t i = 0; i < known.n; i++)
		if (all || strv_has(&b->recipes, known.v[i]))
			strv_add(out, known.v[i]);
	_free_ char *list = strv_join(&known, " ");
	for (size_t i = 0; i < b->recipes.n; i++)
		if (!strv_has(&known, b->recipes.v[i]) && !str_eq(b->recipes.v[i], "all"))
			return err_set(err, ERR_USAGE, "no recipe '%s'; known are: %s, or all",
			    b->recipes.v[i], list);
	return 0;
}

int build_opts_request(
    const struct build_opts *b, const char *recipe, struct pipeline_request *out, struct err *err)
{
	if (!b->cuda)
		return err_set(err, ERR_USAGE, "name the CUDA to build for, such as --cuda 12.8");
	*out = (struct pipeline_request){.recipe = recipe,
	    .selection = {.cuda = b->cuda,
		.torches = &b->torches,
		.pythons = &b->pythons,
		.archs = &b->archs,
		.profiles = &b->profiles,
		.packages = &b->packages,
		.jobs = b->jobs},
	    .sign_key = b->sign_key,
	    .repo_url = b->repo_url};
	return host_parse_toolchain(b->toolchain, &out->toolchain, err);
}
