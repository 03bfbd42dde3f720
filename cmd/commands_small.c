#include <errno.h>
#include <unistd.h>

#include "../lib/base/err.h"
#include "cmd.h"
#include "commands.h"

/* Where the package debkit-build has the whole program. */
#define WHOLE "/usr/lib/debkit/bin/debkit"

const struct cmd *const commands[] = {
    &cmd_disable,
    &cmd_doctor,
    &cmd_enable,
    &cmd_inspect,
    &cmd_status,
    &cmd_verify,
};
const size_t n_commands = ARRAY_SIZE(commands);
const char commands_note[] =
    "The commands that build and publish packages are in the package debkit-build. ";

int commands_run_other(char **argv, struct err *err)
{
	execv(WHOLE, argv);
	if (errno != ENOENT)
		return err_sys(err, "cannot run '" WHOLE "'");
	return err_set(err, ERR_USAGE,
	    "no command '%s' here; those that build and publish are in another package: apt-get "
	    "install debkit-build",
	    argv[1]);
}
