#include "gate/revision_search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "assay.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

enum { MOST_SAID = 1 << 16, MOST_ARGUMENTS = 12 };

/* Run git with these words (ended by NULL) and keep what it says, on either stream. Its exit
 * status, or -1 with assay_error. */
static int git(const char *const *words, char *said, size_t size)
{
    const char *argv[MOST_ARGUMENTS + 2] = {"git"};
    char *text;
    int status, count = 1;
    for (; words[count - 1] && count <= MOST_ARGUMENTS; count++)
        argv[count] = words[count - 1];
    int error = process_output(argv, true, &text, &status);
    if (error) return assay_error("git cannot be started: %s", strerror(error));
    text_copy(said, size, text);
    free(text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The first line is what git complains of. */
static int refuse(char *said)
{
    char line[256];
    said[strcspn(said, "\n")] = '\0';
    text_printable(line, sizeof line, said, "");
    return assay_error("git: %s", line);
}

/* The same where it must succeed. */
static int git_says(const char *const *words, char *said, size_t size)
{
    int status = git(words, said, size);
    if (status > 0) return refuse(said);
    return status;
}

int revision_title(const char *revision, char *out, size_t size)
{
    char said[512];
    const char *const words[] = {"log", "-1", "--format=%h %s", "--end-of-options", revision, NULL};
    if (git_says(words, said, sizeof said) != 0) return -1;
    said[strcspn(said, "\n")] = '\0';
    text_printable(out, size, said, "");
    return 0;
}

bool revision_is_shallow(void)
{
    char said[64];
    const char *const words[] = {"rev-parse", "--is-shallow-repository", NULL};
    return git(words, said, sizeof said) == 0 && strcmp(said, "true\n") == 0;
}

bool revision_is_dirty(void)
{
    char said[64];
    const char *const words[] = {"status", "--porcelain", "--untracked-files=no", NULL};
    return git(words, said, sizeof said) == 0 && said[0];
}

bool revision_is_before(const char *revision, const char *other)
{
    char said[512];
    const char *const words[] = {"merge-base", "--is-ancestor", "--end-of-options",
                                 revision,     other,           NULL};
    return git(words, said, sizeof said) == 0;
}

/* The hash that a text begins with. -1 with assay_error. */
static int take_commit(char commit[REVISION_COMMIT], const char *from)
{
    size_t length = strspn(from, "0123456789abcdef");
    if (length < 40 || length >= REVISION_COMMIT) return assay_error("git named no commit");
    snprintf(commit, REVISION_COMMIT, "%.*s", (int)length, from);
    return 0;
}

/* In the user's worktree: in that of the search HEAD is another. */
static int resolve(const char *revision, char commit[REVISION_COMMIT])
{
    char word[512], said[512];
    if (snprintf(word, sizeof word, "%s^{commit}", revision) >= (int)sizeof word)
        return assay_error("the name of a revision is too long");
    const char *const words[] = {"rev-parse", "--verify", "--end-of-options", word, NULL};
    return git_says(words, said, sizeof said) == 0 ? take_commit(commit, said) : -1;
}

/* Git says in words what it came to; "HASH is the first bad commit" may stand behind others. */
static enum search_end come_to(struct revision_search *search, int status, char *said)
{
    static const char found[] = " is the first bad commit", open[] = "only 'skip'ped commits";
    char *at = strstr(said, found);
    if (at) {
        *at = '\0';
        const char *line = strrchr(said, '\n');
        return take_commit(search->commit, line ? line + 1 : said) ? SEARCH_FAILED : SEARCH_FOUND;
    }
    if (status == 2 && strstr(said, open)) return SEARCH_OPEN;
    if (status != 0) {
        if (status > 0) refuse(said);
        return SEARCH_FAILED;
    }
    const char *const words[] = {"-C", search->tree, "rev-parse", "--verify", "BISECT_HEAD", NULL};
    char next[REVISION_COMMIT];
    if (git_says(words, said, MOST_SAID) != 0 || take_commit(next, said) != 0) return SEARCH_FAILED;
    if (strcmp(next, search->commit) == 0)
        return assay_error_as(SEARCH_FAILED, "git asks for %s again", next);
    text_copy(search->commit, sizeof search->commit, next);
    return SEARCH_GOES_ON;
}

static enum search_end step(struct revision_search *search, const char *const *words)
{
    char *said = malloc(MOST_SAID);
    if (!said) return assay_error_as(SEARCH_FAILED, "out of memory for what git says");
    int status = git(words, said, MOST_SAID);
    enum search_end end = come_to(search, status, said);
    free(said);
    return end;
}

enum search_end revision_search_begin(struct revision_search *search, const char *good,
                                      const char *bad)
{
    char said[512], first[REVISION_COMMIT], last[REVISION_COMMIT];
    *search = (struct revision_search){.folder.lock = -1};
    if (resolve(good, first) != 0 || resolve(bad, last) != 0) return SEARCH_FAILED;
    if (temp_folder_make(&search->folder, "bisect") != 0) return SEARCH_FAILED;
    if (snprintf(search->tree, sizeof search->tree, "%s/tree", search->folder.path) >=
        (int)sizeof search->tree) {
        search->tree[0] = '\0';
        return assay_error_as(SEARCH_FAILED, "%s: the path is too long", search->folder.path);
    }
    const char *const add[] = {"worktree", "add", "--no-checkout", "--detach", "-f", search->tree,
                               last,       NULL};
    if (git_says(add, said, sizeof said) != 0) return SEARCH_FAILED;
    const char *const begin[] = {"-C", search->tree, "bisect", "start", "--no-checkout",
                                 last, first,        NULL};
    return step(search, begin);
}

enum search_end revision_search_tell(struct revision_search *search, enum search_word word)
{
    static const char *const words[] = {"good", "bad", "skip"};
    const char *const tell[] = {"-C", search->tree, "bisect", words[word], NULL};
    return step(search, tell);
}

void revision_search_end(struct revision_search *search)
{
    char said[512];
    const char *const words[] = {"worktree", "remove", "--force", search->tree, NULL};
    if (search->tree[0]) (void)git(words, said, sizeof said);
    temp_folder_remove(&search->folder);
    *search = (struct revision_search){.folder.lock = -1};
}
