#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "measure/wire.h"

struct header {
    uint32_t type;
    uint32_t unused;
    uint64_t bytes;
};

enum { WIRE_MAX_BYTES = 1 << 30 };

const char *step_name(enum board_step step)
{
    static const char *const names[STEPS] = {
        [STEP_IDLE] = "idle",         [STEP_PREPARE] = "preparing the inputs",
        [STEP_SETUP] = "setup",       [STEP_FIRST_LAUNCH] = "first launch",
        [STEP_CHECK] = "check",       [STEP_SAMPLE] = "timed launches",
        [STEP_ENERGY] = "energy",     [STEP_PROFILE] = "profile",
        [STEP_TEARDOWN] = "teardown",
    };
    return names[step];
}

void board_announce(struct board *board, int variant, enum board_step step)
{
    atomic_store(&board->variant, variant);
    atomic_store(&board->step, (uint32_t)step);
    atomic_fetch_add(&board->sequence, 1);
}

/* MSG_NOSIGNAL: a dead peer is an error to report, not a SIGPIPE. */
static int send_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return assay_error("the other end of the worker's socket is gone");
        at += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

static int receive_all(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t got = recv(fd, at, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return assay_error("the other end of the worker's socket is gone");
        at += got;
        bytes -= (size_t)got;
    }
    return 0;
}

int wire_send(int fd, enum wire_type type, const void *data, size_t bytes)
{
    struct header header = {.type = (uint32_t)type, .bytes = bytes};
    if (send_all(fd, &header, sizeof header) < 0) return -1;
    return bytes > 0 ? send_all(fd, data, bytes) : 0;
}

int wire_receive(int fd, enum wire_type *type, void **data, size_t *bytes)
{
    struct header header;
    *data = NULL;
    if (receive_all(fd, &header, sizeof header) < 0) return -1;
    if (header.bytes > WIRE_MAX_BYTES) return assay_error("a malformed message from the worker");
    void *body = malloc(header.bytes + 1);
    if (body == NULL) return assay_error("out of memory for a message of the worker");
    if (receive_all(fd, body, header.bytes) < 0) {
        free(body);
        return -1;
    }
    ((char *)body)[header.bytes] = '\0'; /* so that a text is a string */
    *type = (enum wire_type)header.type;
    *data = body;
    *bytes = header.bytes;
    return 0;
}

/* ---------------------------------------------------------------- cases -- */

/* The arrays of a case, in the order in which they are sent. */
enum { SERIES = 9 };

struct series {
    void **array;
    size_t element_bytes;
    int count;
};

static void list_series(struct wire_case *message, struct series out[SERIES])
{
    struct samples *samples = &message->result.samples;
    out[0] = (struct series){(void **)&samples->time_ns, sizeof(float), samples->count};
    out[1] = (struct series){(void **)&samples->busy_ns, sizeof(float), samples->count};
    out[2] = (struct series){(void **)&samples->event_ns, sizeof(float), samples->count};
    out[3] = (struct series){(void **)&samples->round, sizeof(uint16_t), samples->count};
    out[4] = (struct series){(void **)&samples->mark, sizeof(uint8_t), samples->count};
    out[5] = (struct series){(void **)&samples->wall_ns, sizeof(float), samples->wall_count};
    out[6] = (struct series){(void **)&samples->wall_round, sizeof(uint16_t), samples->wall_count};
    out[7] =
        (struct series){(void **)&samples->span, sizeof(struct stage_span), samples->span_count};
    out[8] = (struct series){(void **)&message->profile, sizeof(struct profile), 1};
}

int wire_send_case(int fd, const struct wire_case *message)
{
    struct wire_case copy = *message;
    struct series series[SERIES];
    list_series(&copy, series);
    struct header header = {.type = WIRE_CASE, .bytes = sizeof copy};
    for (int i = 0; i < SERIES; i++)
        if (*series[i].array) header.bytes += series[i].element_bytes * (size_t)series[i].count;

    int status = send_all(fd, &header, sizeof header);
    if (status == 0) status = send_all(fd, &copy, sizeof copy);
    for (int i = 0; i < SERIES && status == 0; i++)
        if (*series[i].array)
            status =
                send_all(fd, *series[i].array, series[i].element_bytes * (size_t)series[i].count);
    return status;
}

void wire_case_release(struct wire_case *message)
{
    samples_release(&message->result.samples);
    free(message->profile);
    message->profile = NULL;
}

int wire_unpack_case(const void *data, size_t bytes, struct wire_case *message)
{
    if (bytes < sizeof *message) return assay_error("a malformed case from the worker");
    memcpy(message, data, sizeof *message);
    struct series series[SERIES];
    list_series(message, series);

    /* The received pointers only tell which arrays follow. */
    bool present[SERIES];
    for (int i = 0; i < SERIES; i++) {
        present[i] = *series[i].array != NULL;
        *series[i].array = NULL;
    }
    const char *at = (const char *)data + sizeof *message;
    size_t left = bytes - sizeof *message;
    for (int i = 0; i < SERIES; i++) {
        if (!present[i] || series[i].count <= 0) continue;
        size_t length = series[i].element_bytes * (size_t)series[i].count;
        void *copy = length <= left ? malloc(length) : NULL;
        if (copy == NULL) {
            wire_case_release(message);
            return assay_error("a malformed case from the worker");
        }
        memcpy(copy, at, length);
        *series[i].array = copy;
        at += length;
        left -= length;
    }
    return 0;
}
