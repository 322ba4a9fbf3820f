/* test_temp_folder.c - temporary folders go with their owners. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/temp_folder.h"

static char place[PATH_MAX]; /* TMPDIR of these tests */

static void write_in(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void make_old(const char *path)
{
    const struct timeval hour_ago[2] = {{.tv_sec = time(NULL) - 3600},
                                        {.tv_sec = time(NULL) - 3600}};
    assert_int_equal(utimes(path, hour_ago), 0);
}

static int set_place(void **state)
{
    snprintf(place, sizeof place, "/tmp/assay-test-XXXXXX");
    return mkdtemp(place) ? setenv("TMPDIR", place, 1) : -1;
}

static int remove_place(void **state)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command);
}

TEST_WITH(it_goes_with_the_files_in_it, set_place, remove_place)
{
    struct temp_folder folder;
    char path[PATH_MAX];
    assert_int_equal(temp_folder_make(&folder, "test"), 0);
    snprintf(path, sizeof path, "%s", folder.path);
    assert_int_equal(strncmp(path, place, strlen(place)), 0);
    write_in(path, "run.sqlite");
    write_in(path, "run.sqlite-wal");
    temp_folder_remove(&folder);
    assert_false(is_there(path));
    temp_folder_remove(&folder); /* none: nothing happens */
}

/* Make one and leave it behind, as a process does that is killed. */
static void leave_one(const char *kind, char path[PATH_MAX])
{
    int told[2];
    struct temp_folder folder;
    assert_int_equal(pipe(told), 0);
    pid_t owner = fork();
    if (owner == 0) {
        if (temp_folder_make(&folder, kind) != 0) _exit(1);
        write_in(folder.path, "log");
        if (write(told[1], folder.path, PATH_MAX) != PATH_MAX) _exit(1);
        pause();
    }
    assert_int_equal(read(told[0], path, PATH_MAX), PATH_MAX);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    close(told[0]);
    close(told[1]);
    assert_true(is_there(path));
}

TEST_WITH(that_of_a_killed_process_goes_when_the_next_is_made, set_place, remove_place)
{
    struct temp_folder next;
    char old[PATH_MAX], young[PATH_MAX], other[PATH_MAX];
    leave_one("test", old);
    leave_one("test", young);
    leave_one("other", other);
    make_old(old);
    make_old(other);
    assert_int_equal(temp_folder_make(&next, "test"), 0);
    assert_false(is_there(old));
    assert_true(is_there(young)); /* perhaps not locked yet */
    assert_true(is_there(other));
    temp_folder_remove(&next);
}

TEST_WITH(that_of_a_living_process_stays_however_old, set_place, remove_place)
{
    struct temp_folder living, next;
    assert_int_equal(temp_folder_make(&living, "test"), 0);
    make_old(living.path);
    assert_int_equal(temp_folder_make(&next, "test"), 0);
    assert_true(is_there(living.path));
    temp_folder_remove(&next);
    temp_folder_remove(&living);
}

TEST_WITH(a_long_path_is_not_cut, set_place, remove_place)
{
    struct temp_folder folder;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%0100d", place, 0);
    assert_int_equal(mkdir(path, 0700), 0);
    setenv("TMPDIR", path, 1);
    assert_int_equal(temp_folder_make(&folder, "test"), 0);
    assert_int_equal(strncmp(folder.path, path, strlen(path)), 0);
    temp_folder_remove(&folder);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/nowhere");
    setenv("TMPDIR", path, 1);
    assert_int_equal(temp_folder_make(&folder, "test"), -1);
    assert_non_null(strstr(assay_last_error(), "/nowhere: No such file or directory"));
    temp_folder_remove(&folder);
}
