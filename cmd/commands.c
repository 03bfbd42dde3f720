#include "commands.h"

#include "../lib/base/err.h"
#include "cmd.h"

const struct cmd *const commands[] = {
    &cmd_abi,
    &cmd_build,
    &cmd_bundle,
    &cmd_copy,
    &cmd_device,
    &cmd_diff,
    &cmd_disable,
    &cmd_doctor,
    &cmd_enable,
    &cmd_gc,
    &cmd_inspect,
    &cmd_keys,
    &cmd_list,
    &cmd_lock,
    &cmd_matrix,
    &cmd_plan,
    &cmd_publish,
    &cmd_push,
    &cmd_rebuild,
    &cmd_refresh,
    &cmd_remove,
    &cmd_serve,
    &cmd_sign,
    &cmd_site,
    &cmd_snapshot,
    &cmd_status,
    &cmd_step,
    &cmd_toolchain,
    &cmd_verify,
    &cmd_why,
    &cmd_withdraw,
};
const size_t n_commands = ARRAY_SIZE(commands);
const char commands_note[] = "";

int commands_run_other(char **argv, struct err *err)
{
	return err_set(err, ERR_USAGE, "no command '%s'; see debkit --help", argv[1]);
}
