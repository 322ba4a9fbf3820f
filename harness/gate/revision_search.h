/*
 * revision_search.h - which commit between two revisions was the first bad one: git's own
 * bisection (git-bisect(1)), in a worktree without files, so that neither the user's tree nor a
 * bisection of the user's is touched.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/temp_folder.h"

enum { REVISION_COMMIT = 65 }; /* a commit in hexadecimal digits, of SHA-1 or SHA-256 */

struct revision_search {
    struct temp_folder folder;
    char tree[PATH_MAX];
    char commit[REVISION_COMMIT]; /* to be tested next; in the end the first bad one */
};

enum search_end {
    SEARCH_GOES_ON,
    SEARCH_FOUND,
    SEARCH_OPEN,   /* only commits that were skipped are left */
    SEARCH_FAILED, /* assay_error has what git said */
};

/* What revision_search_tell is told of `commit`. */
enum search_word { SEARCH_GOOD, SEARCH_BAD, SEARCH_SKIP };

/* In the current folder's repository. */
enum search_end revision_search_begin(struct revision_search *search, const char *good,
                                      const char *bad);
enum search_end revision_search_tell(struct revision_search *search, enum search_word word);
/* Also of one that did not begin. */
void revision_search_end(struct revision_search *search);

/* Whether the current folder's repository lacks commits (git clone --depth), and whether files that
 * it knows were changed and not committed. false too where there is no repository. */
bool revision_is_shallow(void);
bool revision_is_dirty(void);

/* Whether a revision is another or one of its ancestors. false too where either is none. */
bool revision_is_before(const char *revision, const char *other);

/* "1234abcd subject of the commit" in `out`. -1 with assay_error. */
int revision_title(const char *revision, char *out, size_t size);
