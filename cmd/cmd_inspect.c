/* debkit inspect: what the binaries of a package really say. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/intr.h"
#include "../lib/deb/inspect.h"
#include "cmd.h"

static void show(const char *name, const char *value)
{
	if (value && *value)
		printf("%s: %s\n", name, value);
}

static int inspect(const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct inspect_claims c;
	if (inspect_deb(&a, path, &c, err) < 0)
		return -1;
	show("Package", stanza_get(&c.info.control, "Package"));
	show("Version", stanza_get(&c.info.control, "Version"));
	show("Architecture", stanza_get(&c.info.control, "Architecture"));
	show("Sha256", c.info.sha256);
	printf("Libraries: %zu\n", c.n_libraries);
	show("Cuda-Runtime", c.cuda);
	show("Cuda-Archs", c.archs);
	show("Torch", c.torch);
	show("Python", c.python);
	show("Glibc", c.glibc);
	show("Glibcxx", c.glibcxx);
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	for (size_t i = 0; i < operands->n; i++) {
		if (i)
			putchar('\n');
		if (intr_check(err) < 0 || inspect(operands->v[i], err) < 0)
			return -1;
	}
	return 0;
}

static const struct opt opts[] = {{NULL}};

const struct cmd cmd_inspect = {"inspect", "shows what the binaries of packages hold",
    "FILE.deb...",
    "Reads each package wholly and prints, as deb822, what its binaries say whatever its control "
    "fields claim: GPU archs, torches and Pythons of the bindings, the versions of glibc and "
    "libstdc++ they need. debkit verify compares that with the claims.",
    opts, 1, SIZE_MAX, run};
