/*
 * nvbench_samples.h - the files of samples that NVBench writes with --jsonbin:
 * times in seconds, little-endian float32, no header.
 */
#pragma once

#include "case/result.h"

/* The `count` samples of `file`, as the JSON at `json_path` names it. NVBench names
 * it from where it ran; it is looked for beside the JSON and below, as a regular file and not
 * through links, and nowhere else. 1: read, 0: there is no such file, -1: assay_error (a file of
 * another length, no times in it). */
int nvbench_samples_read(const char *json_path, const char *file, double count,
                         struct samples *samples);
