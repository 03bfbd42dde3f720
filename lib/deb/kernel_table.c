#include "kernel_table.h"

#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "fatbin.h"
#include "version.h"

#define IMAGE_MAX ((size_t)1 << 30)
/* Of a damaged package: what no real one comes near. */
#define ROWS_MAX ((size_t)4 << 20)

static void add_rows(struct kernel_table *t, const char *arch, const struct cubin *c)
{
	if (t->n + c->n > t->room) {
		size_t room = 2 * (t->n + c->n);
		struct kernel_row *v = arena_alloc(t->a, room * sizeof *v);
		if (t->n)
			memcpy(v, t->v, t->n * sizeof *v);
		t->v = v;
		t->room = room;
	}
	for (size_t i = 0; i < c->n; i++)
		t->v[t->n++] = (struct kernel_row){arch, c->abi, c->v[i]};
}

static int add_entry(
    struct kernel_table *t, const char *path, const struct fatbin_entry *e, struct err *err)
{
	_cleanup_(buf_done) struct buf image = BUF_INIT(IMAGE_MAX);
	struct cubin c;
	if (fatbin_image(path, e, &image, err) < 0 ||
	    cubin_read_mem(t->a, buf_str(&image), image.len, path, &c, err) < 0)
		return -1;
	if (t->n + c.n > ROWS_MAX)
		return err_set(err, ERR_FORMAT, "'%s': more kernels than a package has", path);
	char suffix[] = {e->suffix, '\0'};
	add_rows(t, arena_printf(t->a, "%u.%u%s", e->arch / 10, e->arch % 10, suffix), &c);
	return 0;
}

int kernel_table_add(
    struct kernel_table *t, const char *path, const struct fatbin_info *f, struct err *err)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].kind == FATBIN_ELF && add_entry(t, path, &f->v[i], err) < 0)
			return -1;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct kernel_row *x = a, *y = b;
	int c = version_compare(x->arch, y->arch);
	return c ? c : strcmp(x->k.name, y->k.name);
}

void kernel_table_sort(struct kernel_table *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof *t->v, compare_rows);
}

static void add_up(struct kernel_sum *s, const struct cubin_kernel *k)
{
	s->n++;
	s->stacked += k->stack > 0;
	s->registers += k->registers;
	s->stack += k->stack;
	s->max_stack = k->stack > s->max_stack ? k->stack : s->max_stack;
	s->local += k->local;
	s->code += k->code;
}

struct kernel_sum *kernel_table_sums(const struct kernel_table *t, size_t *n)
{
	size_t archs = 0;
	for (size_t i = 0; i < t->n; i++)
		archs += !i || strcmp(t->v[i].arch, t->v[i - 1].arch) != 0;
	struct kernel_sum *sums = arena_alloc(t->a, (archs + 1) * sizeof *sums);
	*n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (!i || strcmp(t->v[i].arch, t->v[i - 1].arch))
			sums[(*n)++].arch = t->v[i].arch;
		add_up(&sums[*n - 1], &t->v[i].k);
	}
	return sums;
}

static void print_sum(const struct kernel_sum *s, struct buf *out)
{
	buf_printf(out,
	    "%s: %zu kernels, %.1f registers on average, %zu with a stack (%llu bytes, at most "
	    "%llu), %llu accesses to local memory, %llu bytes of code\n",
	    s->arch, s->n, (double)s->registers / (double)s->n, s->stacked,
	    (unsigned long long)s->stack, (unsigned long long)s->max_stack,
	    (unsigned long long)s->local, (unsigned long long)s->code);
}

void kernel_table_print_sums(const struct kernel_table *t, struct buf *out)
{
	size_t n;
	const struct kernel_sum *sums = kernel_table_sums(t, &n);
	for (size_t i = 0; i < n; i++) {
		buf_putc(out, ' ');
		print_sum(&sums[i], out);
	}
}

static void print_row(const struct kernel_row *r, struct buf *out)
{
	const struct cubin_kernel *k = &r->k;
	buf_printf(out, "%s\t%u\t%u\t%u\t%llu\t%llu\t%s\n", r->arch, k->registers, k->stack,
	    k->local, (unsigned long long)k->shared, (unsigned long long)k->code, k->name);
}

void kernel_table_print(const struct kernel_table *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++)
		print_row(&t->v[i], out);
}

static bool same_row(const struct kernel_row *a, const struct kernel_row *b)
{
	return a->k.registers == b->k.registers && a->k.stack == b->k.stack &&
	       a->k.local == b->k.local && a->k.shared == b->k.shared && a->k.code == b->k.code;
}

static void put_side(char sign, const struct kernel_row *r, struct buf *out)
{
	buf_putc(out, sign);
	print_row(r, out);
}

/* Two sorted tables at once. */
static void compare_all(
    const struct kernel_table *one, const struct kernel_table *other, struct buf *out)
{
	for (size_t i = 0, j = 0; i < one->n || j < other->n;) {
		int c = i == one->n	? 1
			: j == other->n ? -1
					: compare_rows(&one->v[i], &other->v[j]);
		if (!c && same_row(&one->v[i], &other->v[j])) {
			i++;
			j++;
			continue;
		}
		if (c <= 0)
			put_side('-', &one->v[i++], out);
		if (c >= 0)
			put_side('+', &other->v[j++], out);
	}
}

static void put_sums(char sign, const struct kernel_table *t, struct buf *out)
{
	size_t n;
	const struct kernel_sum *sums = kernel_table_sums(t, &n);
	for (size_t i = 0; i < n; i++) {
		buf_putc(out, sign);
		print_sum(&sums[i], out);
	}
}

void kernel_table_compare(
    const struct kernel_table *one, const struct kernel_table *other, struct buf *out)
{
	_cleanup_(buf_done) struct buf rows = BUF_INIT(IMAGE_MAX);
	compare_all(one, other, &rows);
	if (!rows.len)
		return;
	put_sums('-', one, out);
	put_sums('+', other, out);
	buf_append(out, buf_str(&rows), rows.len);
}

int kernel_table_check_abi(const struct kernel_table *t, const char *cuda, struct err *err)
{
	if (version_compare(cuda, "13.0") >= 0)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct kernel_row *r = &t->v[i];
		if (r->abi > 7 && version_compare(r->arch, "10.0") < 0)
			return err_set(err, ERR_FORMAT,
			    "kernel '%s' for %s is of cubin ABI %u, and drivers of CUDA 12 read 7: "
			    "it needs ptxas 12.x",
			    r->k.name, r->arch, r->abi);
	}
	return 0;
}
