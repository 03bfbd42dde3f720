#include "unit.h"

#include "../../debbuild/make/slurm.h"
#include "../../debbuild/make/slurm_job.h"

#define GB ((uint64_t)1 << 30)

static const char usual[] = "debug*|debug|2|8|16000|idle|30:00|up\n"
			    "long|long|4|64|256000|mix|7-00:00:00|up\n"
			    "long|long|3|64|256000|alloc~|7-00:00:00|up\n"
			    "long|long|9|64|256000|down*|7-00:00:00|up\n"
			    "long|long|1|32|128000|idle*|7-00:00:00|up\n"
			    "gone|gone|5|4|1|idle|infinite|down\n"
			    "plain|plain|5|4|1|idle|infinite|up\n";

static void nodes_that_take_jobs_count(void **state)
{
	struct unit *u = *state;
	struct slurm_cluster c;
	assert_int_equal(slurm_read_sinfo(&u->a, usual, "long", 0, 4 * GB, &c, &u->err), 0);
	assert_string_equal(c.partition, "long");
	assert_true(c.nodes == 7 && c.cores == 7 * 64 && c.heavy == 7 * 62);
	assert_true(c.memory_mb == 256000 && c.minutes == 7 * 24 * 60);
	assert_int_equal(slurm_read_sinfo(&u->a, usual, "long", 5, 4 * GB, &c, &u->err), 0);
	assert_true(c.nodes == 5 && c.cores == 5 * 64);
	assert_int_equal(slurm_read_sinfo(&u->a, usual, NULL, 0, 4 * GB, &c, &u->err), 0);
	assert_string_equal(c.partition, "debug");
	assert_true(c.nodes == 2 && c.cores == 16 && c.heavy == 6 && c.minutes == 30);
	/* Of nodes whose memory is not known, all cores may take a heavy step. */
	assert_int_equal(slurm_read_sinfo(&u->a, usual, "plain", 0, 4 * GB, &c, &u->err), 0);
	assert_true(c.heavy == 20 && c.memory_mb == 0 && c.minutes == 0);
}

static void what_cannot_be_is_told(void **state)
{
	struct unit *u = *state;
	struct slurm_cluster c;
	assert_int_equal(slurm_read_sinfo(&u->a, usual, "lang", 0, 0, &c, &u->err), -1);
	assert_int_equal(u->err.code, ERR_USAGE);
	assert_string_equal(
	    u->err.msg, "Slurm has no partition 'lang'; it has: debug, long, gone, plain");
	assert_int_equal(slurm_read_sinfo(&u->a, usual, "gone", 0, 0, &c, &u->err), -1);
	assert_string_equal(
	    u->err.msg, "no node of Slurm's partition 'gone' takes jobs: see `sinfo -p gone`");
	assert_int_equal(
	    slurm_read_sinfo(&u->a, "a|a|1|1|1|idle|1:00|up\n", NULL, 0, 0, &c, &u->err), -1);
	assert_non_null(strstr(u->err.msg, "no default partition: name one with --partition"));
	assert_int_equal(slurm_read_sinfo(&u->a, "", NULL, 0, 0, &c, &u->err), -1);
	assert_int_equal(slurm_read_sinfo(&u->a, "a|b\n", NULL, 0, 0, &c, &u->err), -1);
}

static void minutes_are_read(void **state)
{
	assert_int_equal(slurm_parse_minutes("5:00"), 5);
	assert_int_equal(slurm_parse_minutes("0:30"), 1);
	assert_int_equal(slurm_parse_minutes("1:00:00"), 60);
	assert_int_equal(slurm_parse_minutes("2-12:00:00"), 60 * 60);
	assert_int_equal(slurm_parse_minutes("infinite"), 0);
	assert_int_equal(slurm_parse_minutes("n/a"), 0);
}

#define RAN "debkit-job 7 n1\n"

static void fates_follow_from_words_and_state(void **state)
{
	static const struct {
		const char *said, *state;
		enum slurm_fate fate;
	} cases[] = {
	    {RAN "debkit: error: step 'x' failed\n", "FAILED", SLURM_FAILED},
	    {RAN "debkit: error: step 'x' failed\n", "", SLURM_FAILED},
	    {RAN "debkit: error: interrupted\n", "TIMEOUT", SLURM_TIME},
	    {RAN "slurmstepd: error: *** STEP 7.0 CANCELLED AT x DUE TO TIME LIMIT ***\n", "",
		SLURM_TIME},
	    {RAN "srun: error: Node failure on n1\n", "NODE_FAIL", SLURM_LOST},
	    {RAN "*** STEP 7.0 CANCELLED AT x DUE TO PREEMPTION ***\n", "CANCELLED", SLURM_LOST},
	    {RAN "*** STEP 7.0 CANCELLED AT x DUE TO PREEMPTION ***\n", "PREEMPTED", SLURM_LOST},
	    {RAN "*** STEP 7.0 ON n1 CANCELLED AT x ***\n", "CANCELLED", SLURM_CANCELLED},
	    {"srun: job 7 queued\nsrun: Job allocation 7 has been revoked\n", "CANCELLED",
		SLURM_CANCELLED},
	    {RAN "srun: error: io error\n", "CANCELLED", SLURM_LOST},
	    {RAN "srun: error: n1: task 0: Killed\n", "OUT_OF_MEMORY", SLURM_MEMORY},
	    {RAN, "COMPLETED", SLURM_LOST},
	    {"srun: job 7 queued and waiting for resources\n", "", SLURM_LOST},
	    {RAN "debkit-unseen /home/x\n", "FAILED", SLURM_UNSEEN},
	    {RAN "debkit-differs 'g++' says 'a', here 'b'\n", "FAILED", SLURM_DIFFERS},
	    {"srun: error: Unable to allocate resources: Invalid account\n", NULL, SLURM_REFUSED},
	    {"srun: error: Unable to allocate resources: Unable to contact slurm controller "
	     "(connect failure)\n",
		NULL, SLURM_AWAY},
	    {"srun: error: Unable to allocate resources: Socket timed out on send/recv "
	     "operation\n",
		NULL, SLURM_AWAY},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (slurm_job_fate(cases[i].said, cases[i].state) != cases[i].fate)
			fail_msg("case %zu: %s", i, cases[i].said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(nodes_that_take_jobs_count),
	    CASE(what_cannot_be_is_told),
	    CASE(minutes_are_read),
	    CASE(fates_follow_from_words_and_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
