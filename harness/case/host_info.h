/*
 * host_info.h - the machine a run was made on, for its provenance.
 */
#ifndef HOST_INFO_H
#define HOST_INFO_H

#include "case/run_record.h"

/* Describe this machine. Never fails: a text that cannot be had is "", a number
 * -1. `container` names what the machine runs inside, containers first, as far
 * as it can be told from within: "docker, firecracker", "kvm"; "" for none seen. */
void host_describe(struct host_info *info);

/* The same with the files of /proc, /sys, /etc and /run looked up below `root`
 * ("" is this machine); what is asked of the kernel by system call (names,
 * cores) still comes from this machine. */
void host_describe_below(struct host_info *info, const char *root);

#endif
