/* main.c: the smallest use of hashloom: three messages, their digests compared with FIPS 180's examples.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <hashloom.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const uint8_t abc[HL_SHA1_DIGEST_NBYTES] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                                       0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
    const hl_slice messages[3] = {{"abc", 3}, {"", 0}, {"abc", 3}};
    uint8_t digests[3 * HL_SHA1_DIGEST_NBYTES];
    const hl_status status = hl_hash_many(HL_SHA1, messages, 3, digests);

    if (status != HL_OK || memcmp(digests, abc, sizeof abc) != 0 || memcmp(digests + 40, abc, sizeof abc) != 0) {
        printf("wrong: %s\n", hl_strerror(status));
        return 1;
    }
    printf("hashloom %s\n", hl_version());
    return 0;
}
