/* sdk_fetch FILE RECORD-SHA256 CUDA DIR: prints the requests, the bytes and the wheel's size. */
#include <stdio.h>

#include "../../lib/base/err.h"
#include "../../debbuild/wheel/pyindex.h"
#include "../../debbuild/wheel/sdk.h"

int main(int argc, char **argv)
{
	struct index *x = NULL;
	struct sdk_cost cost;
	struct err err = {0};
	if (argc != 5)
		return 2;
	int rc = index_open(NULL, &x, &err);
	if (rc == 0)
		rc = sdk_fetch(x, argv[1], NULL, argv[2], argv[3], argv[4], &cost, &err);
	index_close(x);
	if (rc < 0) {
		fprintf(stderr, "debkit: error: %s\n", err.msg);
		return err_exit_status(err.code);
	}
	printf("%u %llu %llu\n", cost.requests, (unsigned long long)cost.bytes,
	    (unsigned long long)cost.wheel_bytes);
	return 0;
}
