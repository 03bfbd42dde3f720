/* Kernels out of the fat binary of a library, packed in each way, and what is said of them. */
#include "unit.h"

#include "../../lib/deb/fatbin.h"
#include "../../lib/deb/kernel_table.h"
#include "cubinmake.h"

/* A library with three cubins: plain, LZ4 with matches that overlap, zstd. */
static const char make_library[] =
    "cat >fat.py <<'EOF'\n"
    "import itertools, struct, subprocess, sys\n"
    "def more(n):\n"
    "    return b'' if n < 15 else b'\\xff' * ((n - 15) // 255) + bytes([(n - 15) % 255])\n"
    "def lz4(b):\n"
    "    out, literals = b'', b''\n"
    "    runs = [(k, len(list(g))) for k, g in itertools.groupby(b)]\n"
    "    for k, n in runs[:-1]:\n"
    "        if n < 8:\n"
    "            literals += bytes([k]) * n\n"
    "            continue\n"
    "        literals += bytes([k])\n"
    "        match = n - 1 - 4\n"
    "        out += bytes([min(15, len(literals)) << 4 | min(15, match)]) + more(len(literals))\n"
    "        out += literals + b'\\1\\0' + more(match)\n"
    "        literals = b''\n"
    "    literals += bytes([runs[-1][0]]) * runs[-1][1]\n"
    "    return out + bytes([min(15, len(literals)) << 4]) + more(len(literals)) + literals\n"
    "def entry(arch, flags, plain, packed):\n"
    "    b = packed + b'\\0' * (-len(packed) % 8)\n"
    "    h = bytearray(64)\n"
    "    struct.pack_into('<HHIQI', h, 0, 2, 0x101, 64, len(b), len(packed) if flags else 0)\n"
    "    struct.pack_into('<I', h, 28, arch)\n"
    "    struct.pack_into('<Q', h, 40, flags)\n"
    "    struct.pack_into('<Q', h, 56, len(plain) if flags else 0)\n"
    "    return bytes(h) + b\n"
    "both, one, eight = (open(n, 'rb').read() for n in ('both', 'one', 'eight'))\n"
    "zstd = subprocess.run(['zstd', '-qc', 'eight'], stdout=subprocess.PIPE).stdout\n"
    "body = entry(90, 0, both, both) + entry(75, 0x2000, both, lz4(both)) + \\\n"
    "    entry(120, 0x8000, eight, zstd)\n"
    "open('f.fatbin', 'wb').write(struct.pack('<IHHQ', 0xBA55ED50, 1, 16, len(body)) + body)\n"
    "EOF\n"
    "python3 fat.py && printf '.section .nv_fatbin,\"a\"\\n.incbin \"f.fatbin\"\\n' >f.s &&\n"
    "gcc -shared -nostdlib -o lib.so f.s";

static void read_library(struct unit *u, struct kernel_table *t)
{
	struct fatbin_info f;
	*t = (struct kernel_table){.a = &u->a};
	unit_sh(u, make_cubins);
	unit_sh(u, make_library);
	const char *path = unit_path(u, "lib.so");
	if (fatbin_read_elf(&u->a, path, &f, &u->err) < 0 ||
	    kernel_table_add(t, path, &f, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	kernel_table_sort(t);
}

static void kernels_of_each_packing(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 16);
	struct kernel_table t;
	read_library(u, &t);
	kernel_table_print(&t, &out);
	assert_string_equal(buf_str(&out), "7.5\t32\t0\t0\t0\t128\t_Z3onev\n"
					   "7.5\t255\t48\t2\t1024\t640\t_Z3twoi\n"
					   "9.0\t32\t0\t0\t0\t128\t_Z3onev\n"
					   "9.0\t255\t48\t2\t1024\t640\t_Z3twoi\n"
					   "12.0\t32\t0\t0\t0\t128\t_Z3onev\n");
	buf_truncate(&out, 0);
	kernel_table_print_sums(&t, &out);
	assert_non_null(strstr(buf_str(&out),
	    " 9.0: 2 kernels, 143.5 registers on average, 1 with a stack (48 bytes, at most 48), 2 "
	    "accesses to local memory, 768 bytes of code\n 12.0: 1 kernels"));
}

static void newer_abi_is_refused(void **state)
{
	struct unit *u = *state;
	struct kernel_table t;
	read_library(u, &t);
	/* ABI 8 for 12.0 alone. */
	assert_int_equal(kernel_table_check_abi(&t, "12.8", &u->err), 0);
	t.v[0].abi = 8;
	assert_int_equal(kernel_table_check_abi(&t, "13.0", &u->err), 0);
	assert_int_equal(kernel_table_check_abi(&t, "12.8", &u->err), -1);
	assert_non_null(strstr(u->err.msg, "'_Z3onev' for 7.5 is of cubin ABI 8"));
}

static void comparison_shows_what_differs(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 16);
	struct kernel_table t, other;
	read_library(u, &t);
	read_library(u, &other);
	kernel_table_compare(&t, &other, &out);
	assert_string_equal(buf_str(&out), "");
	other.v[0].k.registers = 40;
	other.n--;
	kernel_table_compare(&t, &other, &out);
	const char *rows = strstr(buf_str(&out), "-7.5\t");
	assert_non_null(rows);
	assert_string_equal(rows, "-7.5\t32\t0\t0\t0\t128\t_Z3onev\n"
				  "+7.5\t40\t0\t0\t0\t128\t_Z3onev\n"
				  "-12.0\t32\t0\t0\t0\t128\t_Z3onev\n");
	assert_non_null(strstr(buf_str(&out), "-12.0: 1 kernels"));
	assert_null(strstr(buf_str(&out), "+12.0"));
}

/* Every byte of the library changed, once: nothing is read or written where it must not be. */
static void damaged_entries_are_refused(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct kernel_table t;
	struct fatbin_info f;
	read_library(u, &t);
	assert_int_equal(path_read(unit_path(u, "f.fatbin"), &b, NULL), 0);
	assert_int_equal(fatbin_read(&u->a, b.data, b.len, &f, &u->err), 0);
	for (size_t i = 1; i < f.n; i++) {
		char *packed = b.data + f.v[i].offset;
		for (size_t k = 0; k < f.v[i].packed; k++) {
			_cleanup_(buf_done) struct buf plain = BUF_INIT(1 << 20);
			char was = packed[k];
			packed[k] = (char)~was;
			int rc = fatbin_unpack(&f.v[i], packed, "x", &plain, NULL);
			assert_true(rc < 0 || plain.len == f.v[i].plain_size);
			packed[k] = was;
		}
		struct fatbin_entry e = f.v[i];
		_cleanup_(buf_done) struct buf plain = BUF_INIT(1 << 20);
		e.plain_size++;
		assert_int_equal(fatbin_unpack(&e, packed, "x", &plain, NULL), -1);
		e.plain_size -= 2;
		assert_int_equal(fatbin_unpack(&e, packed, "x", &plain, &u->err), -1);
		assert_string_equal(u->err.msg, "'x': an entry of the CUDA fat binary is damaged");
		assert_int_equal(plain.len, 0);
	}
	f.v[1].compress = FATBIN_OTHER;
	assert_int_equal(fatbin_unpack(&f.v[1], b.data, "x", &b, &u->err), -1);
	assert_non_null(strstr(u->err.msg, "in another way than LZ4 or zstd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(kernels_of_each_packing),
	    CASE(newer_abi_is_refused),
	    CASE(comparison_shows_what_differs),
	    CASE(damaged_entries_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
