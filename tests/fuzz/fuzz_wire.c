/* fuzz_wire.c - the message of a case, as a worker whose memory a variant wrote over would send it.
 * The first byte says how much of its end is missing; then come changes: where (2 bytes), and 8
 * bytes to write there. */
#include <sys/socket.h>

#include "case/case_name.h"
#include "measure/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_store.h"

enum { SAMPLES = 3, WALLS = 2, MOST = 1 << 16 };

/* A whole message, as it is sent. */
static size_t message(uint8_t out[MOST])
{
    float time_ns[SAMPLES] = {1, 2, 3}, wall_ns[WALLS] = {9, 8};
    uint16_t round[SAMPLES] = {0, 0, 1}, wall_round[WALLS] = {0, 1};
    uint8_t mark[SAMPLES] = {0, MARK_THROTTLED, 0};
    struct stage_span span = {"compute", 1, 0, 5};
    struct wire_case sent = {.index = 0};
    struct {
        uint32_t type, unused;
        uint64_t bytes;
    } header;
    int pair[2], room = 4 * MOST;
    result_init(&sent.result);
    sent.result.time_ns = 2;
    sent.result.samples = (struct samples){SAMPLES, time_ns, NULL,       NULL, round, mark,
                                           WALLS,   wall_ns, wall_round, 1,    &span};
    fuzz_check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 &&
                   setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0 &&
                   wire_send_case(pair[0], &sent) == 0 &&
                   recv(pair[1], &header, sizeof header, 0) == sizeof header &&
                   header.bytes <= MOST && recv(pair[1], out, header.bytes, MSG_WAITALL) > 0,
               "a case is sent");
    close(pair[0]);
    close(pair[1]);
    return header.bytes;
}

/* What the parent does with a case: print its name, write its figures and its samples. */
static void use(struct wire_case *got)
{
    const struct case_result *result = &got->result;
    const struct samples *samples = &result->samples;
    struct result_row row = {.launch_id = "l",
                             .purpose = PURPOSE_CASE,
                             .group_label = "g",
                             .threshold = 1,
                             .expect_wrong = -1,
                             .measured_at = "",
                             .result = result};
    bool added;
    char name[CASE_TEXT];
    double sum = 0;
    case_text(&result->id, name);
    for (int i = 0; i < samples->count; i++)
        sum += (samples->time_ns ? (double)samples->time_ns[i] : 0) +
               (samples->round ? samples->round[i] : 0) + (samples->mark ? samples->mark[i] : 0);
    fprintf(fuzz_sink(), "%s %s %g\n", name, status_name(result->status), sum);
    if (store_exec(fuzz_store(), "fuzz", "BEGIN; PRAGMA defer_foreign_keys = 1") != 0) return;
    result_write(fuzz_store(), &row, &added);
    fuzz_check(store_exec(fuzz_store(), "fuzz", "ROLLBACK") == 0, "a transaction ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t whole[MOST];
    static size_t bytes;
    struct wire_case got;
    if (!bytes) bytes = message(whole);
    if (size == 0) return 0;
    size_t sent = bytes - (data[0] < bytes ? data[0] : bytes);
    uint8_t *changed = malloc(bytes + 1); /* exactly as long as it arrives */
    fuzz_check(changed != NULL, "there is memory");
    memcpy(changed, whole, bytes);
    for (size_t at = 1; at + 10 <= size; at += 10) {
        size_t where = (size_t)(data[at] | data[at + 1] << 8) % (bytes - 8);
        memcpy(changed + where, data + at + 2, 8);
    }
    changed = realloc(changed, sent + 1);
    if (wire_unpack_case(changed, sent, &got) == 0) {
        use(&got);
        wire_case_release(&got);
    }
    free(changed);
    return 0;
}
