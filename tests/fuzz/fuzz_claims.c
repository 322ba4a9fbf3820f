/* fuzz_claims.c - files of claims, and what is said of them without a run. */
#include "suite/claim.h"
#include "tests/fake_operations.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suite_group groups[CLAIM_SIDES];
    struct claims claims;
    char text[256], figure[UNITS_MAX];
    (void)fake_host, (void)fake_cuda;
    if (claims_read(&claims, fuzz_file(data, size)) != 0) return 0;
    for (int i = 0; i < claims.count; i++) {
        claim_claimed_text(&claims.item[i], text, sizeof text);
        claim_figure_text(&claims.item[i], claims.item[i].least, figure);
        claim_groups(&claims.item[i], groups);
    }
    claims_release(&claims);
    return 0;
}
