/* test_wire.c - messages between the worker and its parent. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/test.h"
#include "case/result.h"
#include "device/profile.h"
#include "measure/wire.h"

TEST(a_case_travels_with_its_samples)
{
    int pair[2];
    float time_ns[3] = {1, 2, 3}, wall_ns[2] = {9, 8};
    uint16_t round[3] = {0, 0, 1}, wall_round[2] = {0, 1};
    uint8_t mark[3] = {0, MARK_THROTTLED, 0};
    struct wire_case sent = {.index = 4};
    result_init(&sent.result);
    sent.result.time_ns = 2;
    sent.result.samples = (struct samples){.count = 3,
                                           .time_ns = time_ns,
                                           .round = round,
                                           .mark = mark,
                                           .wall_count = 2,
                                           .wall_ns = wall_ns,
                                           .wall_round = wall_round};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(wire_send_case(pair[0], &sent), 0);

    enum wire_type type;
    void *data;
    size_t bytes;
    struct wire_case got;
    assert_int_equal(wire_receive(pair[1], &type, &data, &bytes), 0);
    assert_int_equal(type, WIRE_CASE);
    assert_int_equal(wire_unpack_case(data, bytes, &got), 0);
    free(data);
    assert_int_equal(got.index, 4);
    assert_true(got.result.time_ns == 2);
    assert_memory_equal(got.result.samples.time_ns, time_ns, sizeof time_ns);
    assert_memory_equal(got.result.samples.mark, mark, sizeof mark);
    assert_memory_equal(got.result.samples.wall_ns, wall_ns, sizeof wall_ns);
    assert_null(got.result.samples.event_ns);
    samples_release(&got.result.samples);
    close(pair[0]);
    close(pair[1]);
}

TEST(a_cut_case_is_refused)
{
    struct wire_case sent, got;
    float time_ns[3] = {1, 2, 3};
    memset(&sent, 0, sizeof sent);
    sent.result.samples.count = 3;
    sent.result.samples.time_ns = time_ns; /* says that they follow, and they do not */
    assert_int_equal(wire_unpack_case(&sent, sizeof sent, &got), -1);
    assert_int_equal(wire_unpack_case(&sent, sizeof sent - 1, &got), -1);
}

/* Whether a case without samples is taken. */
static bool taken(const struct wire_case *sent)
{
    struct wire_case got;
    if (wire_unpack_case(sent, sizeof *sent, &got) != 0) return false;
    wire_case_release(&got);
    return true;
}

#define REFUSED(...) (sent = sound, __VA_ARGS__, assert_false(taken(&sent)))

/* As of a worker whose memory a variant wrote over. */
TEST(a_case_that_the_parent_would_fall_over_is_refused)
{
    struct wire_case sound = {.index = 0}, sent;
    result_init(&sound.result);
    assert_true(taken(&sound));
    REFUSED(memset(sent.result.id.shape, 'x', sizeof sent.result.id.shape));
    REFUSED(sent.result.metric_count = ASSAY_MAX_METRICS + 1);
    REFUSED(sent.result.metric_count = 1,
            memset(sent.result.metrics[0].name, 'x', sizeof sent.result.metrics[0].name));
    REFUSED(sent.result.status = STATUSES);
    REFUSED(sent.result.id.place = -1);
    REFUSED(memset(&sent.result.is_baseline, 101, 1));
    REFUSED(sent.result.samples.count = -1);
    REFUSED(sent.result.samples.count = 1); /* and no times */
    REFUSED(sent.result.samples.span_count = 1);
}

TEST(a_profile_that_the_parent_would_fall_over_is_refused)
{
    struct {
        struct wire_case message;
        struct profile profile;
    } sent = {.message.index = 0};
    struct wire_case got;
    result_init(&sent.message.result);
    profile_init(&sent.profile);
    sent.message.profile = &sent.profile; /* one follows */
    assert_int_equal(wire_unpack_case(&sent, sizeof sent, &got), 0);
    wire_case_release(&got);
    sent.profile.kernel_count = PROFILE_MAX_KERNELS + 1;
    assert_int_equal(wire_unpack_case(&sent, sizeof sent, &got), -1);
    sent.profile.kernel_count = 1;
    memset(sent.profile.kernels[0].name, 'x', sizeof sent.profile.kernels[0].name);
    assert_int_equal(wire_unpack_case(&sent, sizeof sent, &got), -1);
}

TEST(a_dead_peer_is_an_error_and_no_signal)
{
    int pair[2];
    enum wire_type type;
    void *data;
    size_t bytes;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close(pair[1]);
    assert_int_equal(wire_send(pair[0], WIRE_QUIT, NULL, 0), -1);
    assert_int_equal(wire_receive(pair[0], &type, &data, &bytes), -1);
    close(pair[0]);
}
