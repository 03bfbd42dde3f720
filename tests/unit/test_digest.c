#include "unit.h"

#include "../../lib/base/digest.h"

static const struct {
	enum digest_alg alg;
	const char *judge;
	size_t bytes;
} algs[] = {{DIGEST_MD5, "md5sum", 16}, {DIGEST_SHA1, "sha1sum", 20},
    {DIGEST_SHA256, "sha256sum", 32}, {DIGEST_SHA512, "sha512sum", 64}};

/* Makes a file of n bytes, none of them the same for long. */
static const char *make_file(struct unit *u, size_t n)
{
	const char *path = unit_path(u, "f");
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_int_not_equal(putc((int)((i * i + i / 7) & 255), f), EOF);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void files_have_the_sums_of_coreutils(void **state)
{
	/* Around the size of a read, and of a digest's block. */
	static const size_t sizes[] = {0, 1, 64, (1 << 18) - 1, 1 << 18, (1 << 19) + 77};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const char *path = make_file(u, sizes[i]);
		for (size_t k = 0; k < ARRAY_SIZE(algs); k++) {
			char hex[DIGEST_HEX_MAX];
			uint64_t size = 77;
			const char *ask = arena_printf(&u->a, "%s <f", algs[k].judge);
			assert_int_equal(
			    digest_file_hex(algs[k].alg, path, hex, &size, &u->err), 0);
			assert_int_equal(size, sizes[i]);
			assert_int_equal(strlen(hex), 2 * algs[k].bytes);
			assert_string_equal(arena_printf(&u->a, "%s  -", hex), unit_sh(u, ask));
		}
	}
}

static void pieces_give_the_sum_of_the_whole(void **state)
{
	static const char text[] = "The quick brown fox jumps over the lazy dog";
	static const char digits[] = "0123456789abcdef";
	for (size_t k = 0; k < ARRAY_SIZE(algs); k++) {
		char whole[DIGEST_HEX_MAX], hex[DIGEST_HEX_MAX];
		unsigned char raw[64];
		digest_hex(algs[k].alg, text, sizeof text, whole);
		struct digest *d = digest_new(algs[k].alg), *e = digest_new(algs[k].alg);
		for (size_t i = 0; i < sizeof text; i++) {
			digest_update(d, text + i, 1);
			digest_update(e, text + i, 1);
			digest_update(e, NULL, 0);
		}
		digest_finish_hex(d, hex);
		assert_string_equal(hex, whole);
		assert_int_equal(digest_finish_raw(e, raw), algs[k].bytes);
		for (size_t i = 0; i < algs[k].bytes; i++) {
			assert_int_equal(whole[2 * i], digits[raw[i] >> 4]);
			assert_int_equal(whole[2 * i + 1], digits[raw[i] & 15]);
		}
	}
}

static void unreadable_files_are_named(void **state)
{
	struct unit *u = *state;
	const char *none = unit_path(u, "none");
	char hex[DIGEST_HEX_MAX];
	assert_int_equal(digest_file_hex(DIGEST_SHA256, none, hex, NULL, &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(&u->a, "cannot read '%s': No such file or directory", none));
	assert_int_equal(digest_file_hex(DIGEST_SHA256, u->dir, hex, NULL, &u->err), -1);
	unit_error(u, ERR_SYSTEM, arena_printf(&u->a, "cannot read '%s': Is a directory", u->dir));
}

static void running_digest_can_be_dropped(void **state)
{
	struct digest *d = digest_new(DIGEST_SHA512);
	digest_update(d, "x", 1);
	digest_free(d);
	digest_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(files_have_the_sums_of_coreutils),
	    CASE(pieces_give_the_sum_of_the_whole),
	    CASE(unreadable_files_are_named),
	    CASE(running_digest_can_be_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
