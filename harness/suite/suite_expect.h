/*
 * suite_expect.h - which answers a suite expects to be wrong ("expect_wrong = VARIANT"): those of
 * a kernel that is there to show a mistake. Read from the text that a run keeps of its suite.
 * Pure.
 */
#ifndef SUITE_EXPECT_H
#define SUITE_EXPECT_H

#include "assay.h"

/* Whether a group of this label has `variant` in its expect_wrong; false where `text`, the
 * run.suite_text, is NULL. */
bool suite_expects_wrong(const char *text, const char *group, const char *variant);

#endif
