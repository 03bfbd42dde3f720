/* debkit inspect: what the binaries of a package really say. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/intr.h"
#include "../lib/deb/inspect.h"
#include "../lib/deb/kernel_table.h"
#include "cmd.h"

#define TEXT_MAX ((size_t)1 << 30)

static bool kernels, compare;

static void show(const char *name, const char *value)
{
	if (value && *value)
		printf("%s: %s\n", name, value);
}

/* The table of kernels: as a field with one line for each arch, or of all kernels. */
static int print_kernels(const struct kernel_table *t, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	if (!t->n)
		return 0;
	(kernels ? kernel_table_print : kernel_table_print_sums)(t, &text);
	if (buf_check(&text, "the kernels", err) < 0)
		return -1;
	printf("%s%s", kernels ? "" : "Kernels:\n", buf_str(&text));
	return 0;
}

static int inspect(const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct inspect_claims c;
	struct kernel_table t;
	if (inspect_deb_kernels(&a, path, &c, &t, err) < 0)
		return -1;
	if (kernels)
		return print_kernels(&t, err);
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
	return print_kernels(&t, err);
}

static int run_compare(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	struct inspect_claims c[2];
	struct kernel_table t[2];
	if (operands->n != 2 || kernels)
		return err_set(err, ERR_USAGE, "debkit inspect --compare takes two packages");
	for (size_t i = 0; i < 2; i++)
		if (inspect_deb_kernels(&a, operands->v[i], &c[i], &t[i], err) < 0)
			return -1;
	kernel_table_compare(&t[0], &t[1], &text);
	if (buf_check(&text, "the kernels", err) < 0)
		return -1;
	fputs(buf_str(&text), stdout);
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	if (compare)
		return run_compare(operands, err);
	for (size_t i = 0; i < operands->n; i++) {
		if (i && !kernels)
			putchar('\n');
		if (intr_check(err) < 0 || inspect(operands->v[i], err) < 0)
			return -1;
	}
	return 0;
}

static const struct opt opts[] = {
    {"kernels", 0, OPT_FLAG, NULL, "one line for each kernel and arch alone", &kernels},
    {"compare", 0, OPT_FLAG, NULL, "how the kernels of two packages differ", &compare}, {NULL}};

const struct cmd cmd_inspect = {"inspect", "shows what the binaries of packages hold",
    "FILE.deb...",
    "Reads each package wholly and prints, as deb822, what its binaries say whatever its control "
    "fields claim: GPU archs, torches and Pythons of the bindings, the versions of glibc and "
    "libstdc++ they need, and what the kernels for each arch take. --kernels prints, between tabs, "
    "arch, registers, bytes of stack, instructions that access local memory, bytes of static "
    "shared memory and of code, and the name. --compare prints such lines of both packages, after "
    "- and +, where they differ. debkit verify compares the other fields with the claims.",
    opts, 1, SIZE_MAX, run};
