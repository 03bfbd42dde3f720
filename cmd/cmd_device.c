/* debkit device: the parts of device code that debkit makes itself, as steps run them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../debbuild/make/nvrtc.h"
#include "../lib/base/compat.h"
#include "../lib/base/err.h"
#include "cmd.h"

static const char *library, *host, *output, *max_stack;

static const struct opt opts[] = {
    {"library", 0, OPT_STRING, "FILE", "ptx: NVRTC, libnvrtc.so.12", &library},
    {"host", 0, OPT_STRING, "FILE", "the host object that launches the kernels", &host},
    {"max-stack", 0, OPT_STRING, "BYTES", "match: no kernel may take more local memory",
	&max_stack},
    {"output", 0, OPT_STRING, "FILE", "the file that is made", &output},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static int run_ptx(const struct strv *operands, struct err *err)
{
	const struct strv options = {operands->v + 2, operands->n - 2};
	_free_ char *log = NULL;
	if (!library)
		return err_set(err, ERR_USAGE, "debkit device ptx needs --library");
	const struct nvrtc_job job = {.library = library,
	    .source = operands->v[1],
	    .host = host,
	    .out = output,
	    .options = &options};
	int rc = nvrtc_compile(&job, &log, err);
	/* Before the error line, so that the first error of the text is NVRTC's own, with its line.
	 */
	if (log)
		fputs(log, stdout);
	fflush(stdout);
	return rc;
}

static int run(const struct strv *operands, struct err *err)
{
	if (!host || !output)
		return err_set(err, ERR_USAGE, "debkit device needs --host and --output");
	if (!strcmp(operands->v[0], "ptx"))
		return run_ptx(operands, err);
	if (!strcmp(operands->v[0], "match")) {
		const struct strv cubins = {operands->v + 1, operands->n - 1};
		unsigned long long stack = UINT32_MAX;
		if (max_stack && str_parse_u64(max_stack, UINT32_MAX, &stack) < 0)
			return err_set(err, ERR_USAGE,
			    "--max-stack is '%s', expected a number of bytes", max_stack);
		return nvrtc_match(host, &cubins, (uint32_t)stack, output, err);
	}
	return err_set(err, ERR_USAGE, "no 'device %s'; there are ptx and match", operands->v[0]);
}

const struct cmd cmd_device = {"device", "make device code by NVRTC (used by ninja)",
    "ptx SOURCE -- OPTION... | match CUBIN...",
    "ptx compiles a .cu file by NVRTC: each kernel that the host object launches becomes PTX. "
    "match makes sure that the kernels which the host object launches are those of each cubin, "
    "and lists them. `debkit build` writes these calls into its build.ninja.",
    opts, 2, SIZE_MAX, run};
