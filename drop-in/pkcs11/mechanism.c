/* mechanism.c: the algorithms, and the mechanisms, key types and answers that follow from them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "module.h"

static const struct algorithm algorithms[] = {
#define ROW(NAME, name, mechanism)                                                                                     \
    {HL_##NAME, CKM_##mechanism, CKM_##mechanism##_HMAC, CKM_##mechanism##_HMAC_GENERAL, CKK_##mechanism##_HMAC},
#include "algorithms.inc.h"
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms, MECHANISMS = 3 * ALGORITHMS + 2 };

const struct algorithm *hlk_algorithm(hl_alg alg)
{
    for (size_t i = 0; i < ALGORITHMS; i++)
        if (algorithms[i].alg == alg)
            return &algorithms[i];
    return NULL;
}

const struct algorithm *hlk_algorithm_of_prf(CK_ULONG prf)
{
    static const hl_alg algs[] = {
        [PBKD2_SHA1] = HL_SHA1,     [PBKD2_SHA224] = HL_SHA224,         [PBKD2_SHA256] = HL_SHA256,
        [PBKD2_SHA384] = HL_SHA384, [PBKD2_SHA512] = HL_SHA512,         [PBKD2_SHA512_224] = HL_SHA512_224,
        [PBKD2_SHA512_256] = HL_SHA512_256};

    return prf < sizeof algs / sizeof *algs ? hlk_algorithm(algs[prf]) : NULL;
}

int hlk_is_key_type(CK_KEY_TYPE type)
{
    for (size_t i = 0; i < ALGORITHMS; i++)
        if (algorithms[i].key_type == type)
            return 1;
    return type == CKK_GENERIC_SECRET;
}

CK_RV hlk_mechanism(const CK_MECHANISM *mechanism, int is_digest, const struct algorithm **algorithm,
                    size_t *result_nbytes)
{
    CK_ULONG nbytes;

    if (mechanism == NULL)
        return CKR_ARGUMENTS_BAD;
    for (const struct algorithm *row = algorithms; row < algorithms + ALGORITHMS; row++) {
        const CK_MECHANISM_TYPE type = mechanism->mechanism;
        const int is_general = type == row->hmac_general;
        if (is_digest ? type != row->digest : type != row->hmac && !is_general)
            continue;
        *algorithm = row;
        *result_nbytes = hl_alg_find(row->alg)->digest_nbytes;
        if (!is_general)
            return mechanism->ulParameterLen == 0 ? CKR_OK : CKR_MECHANISM_PARAM_INVALID;
        if (mechanism->pParameter == NULL || mechanism->ulParameterLen != sizeof nbytes)
            return CKR_MECHANISM_PARAM_INVALID;
        memcpy(&nbytes, mechanism->pParameter, sizeof nbytes);
        if (nbytes < 1 || nbytes > *result_nbytes)
            return CKR_MECHANISM_PARAM_INVALID;
        *result_nbytes = nbytes;
        return CKR_OK;
    }
    return CKR_MECHANISM_INVALID;
}

CK_RV hlk_error(hl_status status)
{
    switch (status) {
    case HL_OK: return CKR_OK;
    case HL_ENULL: return CKR_ARGUMENTS_BAD;
    case HL_ELENGTH: return CKR_DATA_LEN_RANGE;
    default: return CKR_GENERAL_ERROR;
    }
}

CK_RV C_GetMechanismList(CK_SLOT_ID slot, CK_MECHANISM_TYPE *list, CK_ULONG *count)
{
    const CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    if (count == NULL)
        return CKR_ARGUMENTS_BAD;
    const CK_ULONG room = *count;
    *count = MECHANISMS;
    if (list == NULL)
        return CKR_OK;
    if (room < MECHANISMS)
        return CKR_BUFFER_TOO_SMALL;
    for (size_t i = 0; i < ALGORITHMS; i++) {
        *list++ = algorithms[i].digest;
        *list++ = algorithms[i].hmac;
        *list++ = algorithms[i].hmac_general;
    }
    *list++ = CKM_GENERIC_SECRET_KEY_GEN;
    *list++ = CKM_PKCS5_PBKD2;
    return CKR_OK;
}

CK_RV C_GetMechanismInfo(CK_SLOT_ID slot, CK_MECHANISM_TYPE type, CK_MECHANISM_INFO *info)
{
    const CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    if (info == NULL)
        return CKR_ARGUMENTS_BAD;
    for (const struct algorithm *row = algorithms; row < algorithms + ALGORITHMS; row++) {
        if (type == row->digest) {
            *info = (CK_MECHANISM_INFO){.flags = CKF_DIGEST};
            return CKR_OK;
        }
        if (type == row->hmac || type == row->hmac_general) {
            *info = (CK_MECHANISM_INFO){1, KEY_MAX_NBYTES, CKF_SIGN | CKF_VERIFY};
            return CKR_OK;
        }
    }
    if (type != CKM_GENERIC_SECRET_KEY_GEN && type != CKM_PKCS5_PBKD2)
        return CKR_MECHANISM_INVALID;
    const CK_ULONG unit = type == CKM_GENERIC_SECRET_KEY_GEN ? 8 : 1; /* the standard gives these sizes in bits */
    *info = (CK_MECHANISM_INFO){unit, KEY_MAX_NBYTES * unit, CKF_GENERATE};
    return CKR_OK;
}
