#include "unit.h"

#include "../../repo/index/piece.h"
#include "../../repo/state/compress.h"

static const char text[] =
    "Package: a\nVersion: 1\nArchitecture: all\nDescription: x\n Version: 9\n\n"
    "Package: b\nVersion: 1\nArchitecture: amd64\n\n"
    "Package: b\nVersion: 10\nArchitecture: amd64\n\n";

static void stanzas_and_fields(void **state)
{
	size_t len, n = piece_stanza(text, sizeof text - 1);
	assert_int_equal(n, strstr(text, "Package: b") - text);
	const char *v = piece_field(text, n, "Version", &len);
	assert_int_equal(len, 1);
	assert_memory_equal(v, "1", 1);
	assert_null(piece_field(text, n, "Vers", &len));
	assert_null(piece_field(text, n, "Filename", &len));
	assert_int_equal(piece_stanza(text, 0), 0);
	/* The last stanza may lack the empty line, and its last line the newline. */
	assert_int_equal(piece_stanza("Package: a", 10), 10);
	assert_non_null(piece_field("Package: a", 10, "Package", &len));
	assert_int_equal(len, 1);
}

/* A file with the packed text at offset 3, and what piece_make makes of it. */
static void make(struct unit *u, struct piece_job *job)
{
	static struct piece old;
	static struct piece_source source;
	_cleanup_(buf_done) struct buf zst = BUF_INIT(1 << 20);
	buf_puts(&zst, "...");
	assert_int_equal(compress_zst(text, sizeof text - 1, &zst, &u->err), 0);
	const char *path = unit_path(u, "Packages.zst");
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(zst.data, 1, zst.len, f), zst.len);
	fclose(f);
	old = (struct piece){.seq = 7,
	    .size = {[FILE_PLAIN] = sizeof text - 1, [FILE_ZST] = zst.len - 3},
	    .offset = {[FILE_ZST] = 3}};
	source = (struct piece_source){{-1, -1, -1, -1}};
	f = fopen(path, "re");
	assert_non_null(f);
	source.fd[FILE_ZST] = fileno(f);
	job->old = &old;
	job->n_old = 1;
	job->source = &source;
	job->made[FILE_GZ] = job->made[FILE_ZST] = true;
	piece_make(job);
	fclose(f);
}

static void a_removal_takes_its_stanza_alone(void **state)
{
	struct unit *u = *state;
	const struct piece_removal removals[] = {
	    {.seq = 7, .name = "b", .version = "1", .arch = "amd64"},
	    {.seq = 8, .name = "a", .version = "1", .arch = "all"}};
	const struct pkg adds[] = {{.text = "Package: c\n", .text_len = 11}};
	struct piece_job job = {.removals = removals, .n_removals = 2, .adds = adds, .n_adds = 1};
	make(u, &job);
	if (job.err.code)
		fail_msg("%s", job.err.msg);
	assert_string_equal(buf_str(&job.out[FILE_PLAIN]),
	    "Package: a\nVersion: 1\nArchitecture: all\nDescription: x\n Version: 9\n\n"
	    "Package: b\nVersion: 10\nArchitecture: amd64\n\nPackage: c\n\n");
	assert_true(job.out[FILE_GZ].len > 0 && job.out[FILE_ZST].len > 0);
	piece_done(&job);
}

static void a_file_that_is_too_short_is_an_error(void **state)
{
	struct unit *u = *state;
	struct piece_job job = {0};
	make(u, &job);
	assert_int_equal(job.err.code, ERR_NONE);
	struct piece longer = *job.old;
	piece_done(&job);
	longer.size[FILE_ZST] += 1000;
	FILE *f = fopen(unit_path(u, "Packages.zst"), "re");
	struct piece_source source = {{-1, -1, fileno(f), -1}};
	job = (struct piece_job){.old = &longer, .n_old = 1, .source = &source};
	piece_make(&job);
	fclose(f);
	assert_int_equal(job.err.code, ERR_FORMAT);
	piece_done(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(stanzas_and_fields),
	    CASE(a_removal_takes_its_stanza_alone),
	    CASE(a_file_that_is_too_short_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
