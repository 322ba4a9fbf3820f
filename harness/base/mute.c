#include "base/mute.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const int outputs[2] = {STDOUT_FILENO, STDERR_FILENO};

void mute_begin(struct mute *mute)
{
    fflush(stdout);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        mute->kept[i] = fcntl(outputs[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (mute->kept[i] >= 0 && nothing >= 0) dup2(nothing, outputs[i]);
    }
    if (nothing >= 0) close(nothing);
}

void mute_end(struct mute *mute)
{
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        if (mute->kept[i] < 0) continue;
        dup2(mute->kept[i], outputs[i]);
        close(mute->kept[i]);
    }
}
