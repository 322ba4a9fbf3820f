#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "device/profile.h"
#include "measure/wire.h"

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

int wire_send(int fd, enum wire_type type, const void *data, size_t bytes)
{
    struct wire_header header = {.type = (uint32_t)type, .bytes = bytes};
    if (send_all(fd, &header, sizeof header) < 0) return -1;
    return bytes > 0 ? send_all(fd, data, bytes) : 0;
}

/* The header is complete: make room for what it announces. */
static int begin_body(struct wire_inbox *inbox)
{
    if (inbox->header.bytes > WIRE_MAX_BYTES)
        return assay_error("a malformed message from the worker");
    inbox->body = malloc(inbox->header.bytes + 1);
    if (inbox->body == NULL) return assay_error("out of memory for a message of the worker");
    inbox->body[inbox->header.bytes] = '\0'; /* so that a text is a string */
    return 0;
}

/* Where the next bytes go, and how many are missing there; 0: the message is complete. */
static size_t missing(struct wire_inbox *inbox, char **at)
{
    size_t head = sizeof inbox->header;
    bool in_head = inbox->got < head;
    *at = in_head ? (char *)&inbox->header + inbox->got : inbox->body + (inbox->got - head);
    return (in_head ? head : head + inbox->header.bytes) - inbox->got;
}

static enum wire_arrival gone(void)
{
    assay_error("the other end of the worker's socket is gone");
    return WIRE_GONE;
}

enum wire_arrival wire_receive_some(int fd, struct wire_inbox *inbox, int flags)
{
    char *at;
    for (size_t left; (left = missing(inbox, &at)) > 0;) {
        ssize_t got = recv(fd, at, left, flags);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return WIRE_PART;
        if (got <= 0) return gone();
        inbox->got += (size_t)got;
        if (inbox->got == sizeof inbox->header && begin_body(inbox) < 0) return WIRE_MALFORMED;
    }
    return WIRE_WHOLE;
}

void wire_inbox_take(struct wire_inbox *inbox, enum wire_type *type, void **data, size_t *bytes)
{
    *type = (enum wire_type)inbox->header.type;
    *data = inbox->body;
    *bytes = inbox->header.bytes;
    *inbox = (struct wire_inbox){0};
}

int wire_receive(int fd, enum wire_type *type, void **data, size_t *bytes)
{
    struct wire_inbox inbox = {0};
    *data = NULL;
    if (wire_receive_some(fd, &inbox, 0) != WIRE_WHOLE) {
        free(inbox.body);
        return -1;
    }
    wire_inbox_take(&inbox, type, data, bytes);
    return 0;
}

/* ---------------------------------------------------------------- cases -- */

/* The arrays of a case, in the order in which they are sent. */
enum { SERIES = 10 };

struct series {
    void **array;
    size_t element_bytes;
    int count;
};

static void list_series(struct wire_case *message, struct series out[SERIES])
{
    struct samples *samples = &message->result.samples;
    for (int i = 0; i < SAMPLE_SERIES; i++)
        out[i] = (struct series){series_array(samples, &sample_series[i]),
                                 sample_series[i].element_bytes,
                                 sample_series[i].is_wall ? samples->wall_count : samples->count};
    out[7] =
        (struct series){(void **)&samples->span, sizeof(struct stage_span), samples->span_count};
    out[8] = (struct series){(void **)&message->profile, sizeof(struct profile), 1};
    out[9] = (struct series){(void **)&message->print, sizeof(struct fingerprint), 1};
}

int wire_send_case(int fd, const struct wire_case *message)
{
    struct wire_case copy = *message;
    struct series series[SERIES];
    list_series(&copy, series);
    struct wire_header header = {.type = WIRE_CASE, .bytes = sizeof copy};
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
    free(message->print);
    message->profile = NULL;
    message->print = NULL;
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}
#define ENDS(field) ends(field, sizeof(field))

static bool within(int value, int least, int end)
{
    return value >= least && value < end;
}

/* What the parent relies on. A variant may have written over the memory that a worker sends. */
static bool result_is_sound(const struct case_result *result)
{
    const struct case_id *id = &result->id;
    bool sound =
        ENDS(id->operation) && ENDS(id->variant) && ENDS(id->shape) && ENDS(result->reason) &&
        ENDS(result->note) && ENDS(result->code_hash) && within(id->kind, 0, ASSAY_REFERENCE + 1) &&
        within(id->place, 0, ASSAY_CUDA + 1) && within(id->temperature, 0, ASSAY_HOT + 1) &&
        within(result->status, 0, STATUSES) && within(result->clock, -1, CLOCKS) &&
        *(const unsigned char *)&result->is_baseline <= 1 &&
        within(result->metric_count, 0, ASSAY_MAX_METRICS + 1) && result->samples.count >= 0 &&
        result->samples.wall_count >= 0 && result->samples.span_count >= 0;
    for (int i = 0; sound && i < result->metric_count; i++)
        sound = ENDS(result->metrics[i].name);
    return sound;
}

static bool profile_is_sound(const struct profile *profile)
{
    bool sound = ENDS(profile->counters_lost) &&
                 within(profile->kernel_count, 0, PROFILE_MAX_KERNELS + 1) &&
                 within(profile->counter_count, 0, PROFILE_MAX_COUNTERS + 1);
    for (int i = 0; sound && i < profile->counter_count; i++)
        sound = ENDS(profile->counter[i]);
    for (int i = 0; sound && i < profile->kernel_count; i++)
        sound = ENDS(profile->kernels[i].name);
    return sound;
}

static bool print_is_sound(const struct fingerprint *print)
{
    const struct case_id *id = &print->id;
    bool sound = ENDS(id->operation) && ENDS(id->variant) && ENDS(id->shape) &&
                 ENDS(print->program) && ENDS(print->unknown) && ENDS(print->hash) &&
                 print->count >= 0;
    for (int i = 0; sound && i < FINGERPRINT_KEPT; i++)
        sound = ENDS(print->fact[i]);
    return sound;
}

/* The same of what came behind the case: only clocks that were not read have no array. */
static bool arrays_are_sound(const struct wire_case *message)
{
    const struct samples *samples = &message->result.samples;
    bool sound = (samples->count == 0 || (samples->time_ns && samples->round && samples->mark)) &&
                 (samples->wall_count == 0 || (samples->wall_ns && samples->wall_round)) &&
                 (samples->span_count == 0 || samples->span) &&
                 (!message->profile || profile_is_sound(message->profile)) &&
                 (!message->print || print_is_sound(message->print));
    for (int i = 0; sound && i < samples->span_count; i++)
        sound = ENDS(samples->span[i].name);
    return sound;
}

int wire_unpack_case(const void *data, size_t bytes, struct wire_case *message)
{
    if (bytes < sizeof *message) return assay_error("a malformed case from the worker");
    memcpy(message, data, sizeof *message);
    if (!result_is_sound(&message->result)) return assay_error("a malformed case from the worker");
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
    if (arrays_are_sound(message)) return 0;
    wire_case_release(message);
    return assay_error("a malformed case from the worker");
}
