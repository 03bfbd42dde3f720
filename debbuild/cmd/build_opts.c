#include "build_opts.h"

#include "../base/err.h"

int build_opts_request(const struct build_opts *b, struct pipeline_request *out, struct err *err)
{
	if (!b->cuda)
		return err_set(err, ERR_USAGE, "name the CUDA to build for, such as --cuda 12.8");
	*out = (struct pipeline_request){.recipe = b->recipe ? b->recipe : "causal-conv1d",
	    .selection = {.cuda = b->cuda,
		.torches = &b->torches,
		.pythons = &b->pythons,
		.archs = &b->archs,
		.jobs = b->jobs},
	    .sign_key = b->sign_key,
	    .repo_url = b->repo_url};
	return host_parse_toolchain(b->toolchain, &out->toolchain, err);
}
