#include "unit.h"

#include "../../repo/state/compress.h"
#include "../../repo/state/xz.h"

/* Two pieces of text; the judges are gzip, zstd and xz. */
static const char *const texts[] = {"Package: a\nVersion: 1\n\n", "Package: b\nVersion: 2\n\n"};

static void put(struct unit *u, const char *name, const struct buf *b)
{
	FILE *f = fopen(unit_path(u, name), "we");
	assert_non_null(f);
	assert_int_equal(fwrite(buf_str(b), 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

static void pieces_are_one_file(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf gz = BUF_INIT(1 << 20), zst = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf plain = BUF_INIT(1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(compress_gz(texts[i], strlen(texts[i]), &gz, &u->err), 0);
		assert_int_equal(compress_zst(texts[i], strlen(texts[i]), &zst, &u->err), 0);
	}
	put(u, "x.gz", &gz);
	put(u, "x.zst", &zst);
	const char *both = "Package: a\nVersion: 1\n\nPackage: b\nVersion: 2\n";
	assert_string_equal(unit_sh(u, "gzip -dc x.gz"), both);
	assert_string_equal(unit_sh(u, "zstd -dcq x.zst"), both);
	assert_int_equal(decompress_gz(gz.data, gz.len, &plain, &u->err), 0);
	assert_int_equal(decompress_zst(zst.data, zst.len, &plain, &u->err), 0);
	assert_int_equal(plain.len, 2 * (strlen(texts[0]) + strlen(texts[1])));
}

static void xz_is_one_stream_of_blocks(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	struct xz_index *index = xz_index_new();
	assert_int_equal(xz_header(&out, &u->err), 0);
	assert_int_equal(out.len, XZ_HEADER);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t from = out.len;
		assert_int_equal(xz_block(texts[i], strlen(texts[i]), &out, &u->err), 0);
		assert_int_equal(xz_index_add(index, out.data + from, out.len - from, &u->err), 0);
	}
	assert_int_equal(xz_index_write(index, &out, &u->err), 0);
	xz_index_free(index);
	put(u, "x.xz", &out);
	assert_string_equal(
	    unit_sh(u, "xz -t x.xz && xz --robot -l x.xz | awk '$1 == \"file\" {print $2, $3}'"),
	    "1 2");
	assert_string_equal(unit_sh(u, "xz -dc x.xz | tail -n 2 | head -n 1"), "Version: 2");
}

static void nothing_packs_to_something(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf gz = BUF_INIT(100), zst = BUF_INIT(1000);
	assert_int_equal(compress_gz("", 0, &gz, &u->err), 0);
	assert_int_equal(compress_zst("", 0, &zst, &u->err), 0);
	put(u, "x.gz", &gz);
	put(u, "x.zst", &zst);
	assert_string_equal(unit_sh(u, "gzip -dc x.gz | wc -c && zstd -dcq x.zst | wc -c"), "0\n0");
}

static void damage_is_an_error(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf gz = BUF_INIT(1 << 20), zst = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf plain = BUF_INIT(1 << 20);
	assert_int_equal(compress_gz(texts[0], strlen(texts[0]), &gz, &u->err), 0);
	assert_int_equal(compress_zst(texts[0], strlen(texts[0]), &zst, &u->err), 0);
	for (size_t cut = 1; cut < gz.len; cut++)
		assert_int_equal(decompress_gz(gz.data, gz.len - cut, &plain, &u->err), -1);
	for (size_t cut = 1; cut < zst.len; cut++)
		assert_int_equal(decompress_zst(zst.data, zst.len - cut, &plain, &u->err), -1);
	gz.data[gz.len / 2] ^= 1;
	assert_int_equal(decompress_gz(gz.data, gz.len, &plain, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
}

static void a_maximum_holds(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf zst = BUF_INIT(2 << 20), small = BUF_INIT(100);
	_free_ char *zeros = xcalloc(1, 1 << 20);
	assert_int_equal(compress_zst(zeros, 1 << 20, &zst, &u->err), 0);
	assert_int_equal(decompress_zst(zst.data, zst.len, &small, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(pieces_are_one_file),
	    CASE(xz_is_one_stream_of_blocks),
	    CASE(nothing_packs_to_something),
	    CASE(damage_is_an_error),
	    CASE(a_maximum_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
