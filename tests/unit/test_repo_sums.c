#include "unit.h"

#include "../../repo/state/sums.h"

/* Digests that go on from a stored state are those of the whole, wherever it was cut. */
static void a_stored_state_goes_on(void **state)
{
	char text[300];
	struct sums whole;
	struct sums_hex want, got;
	memset(text, 'x', sizeof text);
	sums_init(&whole, true);
	sums_update(&whole, text, sizeof text);
	sums_hex(&whole, &want);
	for (size_t cut = 0; cut <= sizeof text; cut++) {
		unsigned char stored[sizeof(struct sums)];
		struct sums s;
		sums_init(&s, true);
		sums_update(&s, text, cut);
		memcpy(stored, &s, sizeof s);
		sums_hex(&s, &got); /* asking in between changes nothing */
		memcpy(&s, stored, sizeof s);
		sums_update(&s, text + cut, sizeof text - cut);
		sums_hex(&s, &got);
		for (int alg = 0; alg < SUM_ALGS; alg++)
			assert_string_equal(got.hex[alg], want.hex[alg]);
		assert_int_equal(got.size, sizeof text);
	}
}

static void judged_by_coreutils(void **state)
{
	struct unit *u = *state;
	static const char *const programs[SUM_ALGS] = {[SUM_SHA256] = "sha256sum",
	    [SUM_MD5] = "md5sum",
	    [SUM_SHA1] = "sha1sum",
	    [SUM_SHA512] = "sha512sum"};
	struct sums s;
	struct sums_hex hex;
	unit_put(u, "x", "some bytes\n");
	sums_init(&s, true);
	sums_update(&s, "some bytes\n", 11);
	sums_hex(&s, &hex);
	for (int alg = 0; alg < SUM_ALGS; alg++)
		assert_string_equal(hex.hex[alg],
		    unit_sh(u, arena_printf(&u->a, "%s <x | cut -d' ' -f1", programs[alg])));
}

static void sha256_alone(void **state)
{
	struct sums s;
	struct sums_hex hex;
	sums_init(&s, false);
	sums_hex(&s, &hex);
	assert_string_equal(hex.hex[SUM_SHA256],
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_string_equal(hex.hex[SUM_SHA512], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_stored_state_goes_on),
	    CASE(judged_by_coreutils),
	    CASE(sha256_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
