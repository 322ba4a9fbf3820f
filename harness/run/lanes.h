/*
 * lanes.h - a run on every GPU of the machine at once: a worker for each, to which groups are dealt
 * as it becomes free, those first that it had in the newest run of them. A launch of the run is
 * then a launch on each GPU with a part of the cases; further launches give each GPU the groups
 * that it had in the first, so that the launches of a case are of one card. Where each GPU measures
 * all (replicate), each has a launch of its own.
 *
 * Ceilings are measured before anything is held against them. What shares the link between host
 * and GPUs, or is timed by the host's clock, is measured last, one group after the other, while the
 * other GPUs are idle.
 */
#pragma once

#include "run/runner_state.h"

/* Measure all launches of the run on the GPUs that the runner's worker sees; the worker becomes
 * that of the first. The run is begun, and its plan made. */
enum attempt_end lanes_run(struct runner *runner);
