/*
 * mute.h - standard output and standard error go nowhere for a while: for code of others that was
 * heard before.
 */
#pragma once

struct mute {
    int kept[2];
};

void mute_begin(struct mute *mute);
void mute_end(struct mute *mute);
