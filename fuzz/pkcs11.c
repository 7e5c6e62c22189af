/* pkcs11.c: fuzzes the PKCS#11 module: any sequence of calls with any arguments that point to memory gives an answer of
 * the standard, the right digests and MACs, and never a secret value.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An input is a sequence of calls. A model of each session (its active operation and its message) and of each key (its
 * value, and whether that was ever secret) tells what they must answer. Results go into memory of exactly their size,
 * so that AddressSanitizer sees a byte too many.
 *
 * libFuzzer makes the inputs if compiled with -DLIBFUZZER and -fsanitize=fuzzer (clang). Otherwise main.h does, with
 * any compiler.
 */
#include "cryptoki.h"

#include <hashloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 4, KEYS = 6, MESSAGE_MAX = 6000, VALUE_MAX = 200, INPUT_MAX_NBYTES = 2000 };

static const struct row {
    hl_alg alg;
    CK_MECHANISM_TYPE digest, hmac, hmac_general;
    CK_KEY_TYPE type;
} rows[] = {
#define ROW(NAME, name, mechanism)                                                                                     \
    {HL_##NAME, CKM_##mechanism, CKM_##mechanism##_HMAC, CKM_##mechanism##_HMAC_GENERAL, CKK_##mechanism##_HMAC},
#include "algorithms.inc.h"
};
enum { ROWS = sizeof rows / sizeof *rows };

enum active { IDLE, DIGEST, SIGN, VERIFY, FIND };
static struct session {
    CK_SESSION_HANDLE handle;
    int is_open, is_writer, is_whole, is_parted, has_key;
    enum active active;
    const struct row *row;
    size_t nbytes, result_nbytes, key_nbytes;
    uint8_t message[MESSAGE_MAX], key[VALUE_MAX];
} sessions[SESSIONS];

static struct key {
    CK_OBJECT_HANDLE handle;
    CK_SESSION_HANDLE owner;
    int is_live, was_secret, is_known; /* is_known: its value is `value` */
    int is_tokens, is_limited;         /* CKA_TOKEN is true; CKA_ALLOWED_MECHANISMS has mechanisms */
    size_t nbytes;
    uint8_t value[VALUE_MAX];
} keys[KEYS];

static struct input {
    const uint8_t *bytes;
    size_t nbytes, at;
} input;

static unsigned byte(void)
{
    return input.at < input.nbytes ? input.bytes[input.at++] : 0;
}

#define MUST(condition)                                                                                                \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "fuzz/pkcs11: %s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                     \
            abort();                                                                                                   \
        }                                                                                                              \
    while (0)

/* Lengths that are right and lengths that are not. */
static CK_ULONG hostile(CK_ULONG right)
{
    static const CK_ULONG wrong[] = {0, 1, 3, CK_UNAVAILABLE_INFORMATION, (CK_ULONG)1 << 31, ~(CK_ULONG)0 >> 1};
    const unsigned which = byte() % 32;
    return which < sizeof wrong / sizeof *wrong ? wrong[which] : right;
}

static struct session *any_session(void)
{
    return &sessions[byte() % SESSIONS];
}

static struct key *any_key(void)
{
    return &keys[byte() % KEYS];
}

/* The key that has this handle; NULL if none has. */
static struct key *key_of(CK_OBJECT_HANDLE handle)
{
    for (int i = 0; i < KEYS; i++)
        if (keys[i].is_live && keys[i].handle == handle)
            return &keys[i];
    return NULL;
}

static void end_operation(struct session *s)
{
    s->active = IDLE;
    s->nbytes = 0;
    s->is_whole = s->is_parted = s->has_key = 0;
}

static void end_session(struct session *s)
{
    for (int i = 0; i < KEYS; i++)
        if (keys[i].is_live && !keys[i].is_tokens && keys[i].owner == s->handle)
            keys[i].is_live = 0;
    end_operation(s);
    s->is_open = 0;
}

/* Checks the part of the answer that all calls on a session have in common. 1: the session is open. */
static int is_known(const struct session *s, CK_RV rv)
{
    MUST(rv != CKR_GENERAL_ERROR && rv != CKR_HOST_MEMORY && rv != CKR_CRYPTOKI_NOT_INITIALIZED);
    MUST((rv == CKR_SESSION_HANDLE_INVALID) == !s->is_open);
    return s->is_open;
}

static CK_MECHANISM any_mechanism(const struct row **row, size_t *result_nbytes, int is_digest, int *is_right)
{
    static CK_ULONG size;
    const unsigned which = byte() % 64, kind = byte() % 8;
    *row = &rows[which % ROWS];
    const size_t digest_nbytes = hl_alg_find((*row)->alg)->digest_nbytes;
    CK_MECHANISM m = {kind < 3 ? (*row)->digest : kind < 6 ? (*row)->hmac : (*row)->hmac_general, NULL, 0};

    *result_nbytes = digest_nbytes;
    *is_right = is_digest == (kind < 3);
    if (kind >= 6) {
        size = byte() % 80;
        m.pParameter = byte() % 16 == 0 ? NULL : &size;
        m.ulParameterLen = hostile(sizeof size);
        *is_right = !is_digest && m.pParameter != NULL && m.ulParameterLen == sizeof size && size >= 1 &&
                    size <= digest_nbytes;
        *result_nbytes = size;
    } else if (byte() % 16 == 0) {
        m.pParameter = &size;
        m.ulParameterLen = hostile(sizeof size);
        *is_right = *is_right && m.ulParameterLen == 0;
    }
    if (which == 63) {
        m.mechanism = byte() | (CK_ULONG)byte() << 8;
        *is_right = -1; /* unknown */
    }
    return m;
}

static void begin(enum active purpose)
{
    struct session *s = any_session();
    const struct row *row;
    size_t result_nbytes;
    int is_right;
    CK_MECHANISM m = any_mechanism(&row, &result_nbytes, purpose == DIGEST, &is_right);
    CK_MECHANISM *mechanism = byte() % 32 == 0 ? NULL : &m;
    struct key *key = any_key();
    const CK_RV rv = purpose == DIGEST ? C_DigestInit(s->handle, mechanism)
                     : purpose == SIGN ? C_SignInit(s->handle, mechanism, key->handle)
                                       : C_VerifyInit(s->handle, mechanism, key->handle);

    if (!is_known(s, rv))
        return;
    if (mechanism == NULL) {
        MUST(rv == (s->active == purpose ? CKR_OK : s->active == IDLE ? CKR_ARGUMENTS_BAD : CKR_OPERATION_ACTIVE));
        if (rv == CKR_OK)
            end_operation(s);
        return;
    }
    if (s->active != IDLE) {
        MUST(rv == CKR_OPERATION_ACTIVE);
        return;
    }
    if (is_right < 0) {
        if (rv == CKR_OK && purpose == DIGEST)
            MUST(C_DigestInit(s->handle, NULL) == CKR_OK);
        else if (rv == CKR_OK)
            MUST(C_SessionCancel(s->handle, CKF_SIGN | CKF_VERIFY) == CKR_OK);
        return;
    }
    MUST(is_right || rv == CKR_MECHANISM_INVALID || rv == CKR_MECHANISM_PARAM_INVALID);
    if (is_right && purpose == DIGEST)
        MUST(rv == CKR_OK);
    if (is_right && purpose != DIGEST && !key->is_live)
        MUST(rv == CKR_KEY_HANDLE_INVALID);
    if (rv != CKR_OK)
        return;
    s->active = purpose;
    s->row = row;
    s->result_nbytes = result_nbytes;
    s->key_nbytes = key->is_known ? key->nbytes : VALUE_MAX + 1;
    if (purpose != DIGEST && key->is_known)
        memcpy(s->key, key->value, key->nbytes);
}

static uint8_t pool[MESSAGE_MAX];

static void update(enum active purpose)
{
    struct session *s = any_session();
    const size_t start = byte();
    CK_ULONG nbytes = byte() % 8 == 0 ? (CK_ULONG)byte() * 12 : byte() % 70;
    CK_BYTE *part = pool + start;
    CK_RV rv;

    if (nbytes > MESSAGE_MAX - s->nbytes)
        nbytes = MESSAGE_MAX - s->nbytes;
    if (byte() % 32 == 0)
        part = NULL;
    if (part != NULL && byte() % 64 == 0)
        nbytes = ~(CK_ULONG)0; /* longer than a message may be: nothing is read */
    rv = purpose == DIGEST ? C_DigestUpdate(s->handle, part, nbytes)
         : purpose == SIGN ? C_SignUpdate(s->handle, part, nbytes)
                           : C_VerifyUpdate(s->handle, part, nbytes);
    if (!is_known(s, rv))
        return;
    if (s->active != purpose) {
        MUST(rv == CKR_OPERATION_NOT_INITIALIZED);
    } else if (s->is_whole) {
        MUST(rv == CKR_OPERATION_ACTIVE);
        end_operation(s);
    } else if (part == NULL && nbytes != 0) {
        MUST(rv == CKR_ARGUMENTS_BAD);
        end_operation(s);
    } else if (nbytes > MESSAGE_MAX) {
        MUST(rv == CKR_DATA_LEN_RANGE);
        end_operation(s);
    } else {
        MUST(rv == CKR_OK);
        if (nbytes != 0)
            memcpy(s->message + s->nbytes, part, nbytes);
        s->nbytes += nbytes;
        s->is_parted = 1;
    }
}

static void digest_key(void)
{
    struct session *s = any_session();
    struct key *key = any_key();
    const CK_RV rv = C_DigestKey(s->handle, key->handle);

    if (!is_known(s, rv))
        return;
    if (s->active != DIGEST) {
        MUST(rv == CKR_OPERATION_NOT_INITIALIZED);
    } else if (key->is_live && key->is_limited && rv != CKR_OK) {
        MUST(rv == CKR_KEY_INDIGESTIBLE);
        end_operation(s);
    } else if (key->is_live && s->is_whole) {
        MUST(rv == CKR_OPERATION_ACTIVE);
        end_operation(s);
    } else if (!key->is_live || !key->is_known || s->nbytes + key->nbytes > MESSAGE_MAX) {
        MUST(rv == (key->is_live ? CKR_OK : CKR_KEY_HANDLE_INVALID));
        if (rv == CKR_OK)
            MUST(C_DigestInit(s->handle, NULL) == CKR_OK);
        end_operation(s);
    } else {
        MUST(rv == CKR_OK);
        memcpy(s->message + s->nbytes, key->value, key->nbytes);
        s->nbytes += key->nbytes;
        s->is_parted = s->has_key = 1;
    }
}

/* The digest or MAC that the session's operation must give. 0: the key is unknown. */
static int expect(const struct session *s, const uint8_t *data, size_t nbytes, uint8_t *expected)
{
    hl_hmac_key key;

    if (s->active == DIGEST)
        return hl_hash(s->row->alg, data, nbytes, expected) == HL_OK;
    if (s->key_nbytes > VALUE_MAX)
        return 0;
    MUST(hl_hmac_key_init(&key, s->row->alg, s->key, s->key_nbytes) == HL_OK);
    MUST(hl_hmac(&key, data, nbytes, expected) == HL_OK);
    return 1;
}

static void produce(enum active purpose, int is_whole)
{
    struct session *s = any_session();
    const size_t start = byte(), nbytes = byte();
    const unsigned way = byte() % 8;
    CK_ULONG room = way < 3 ? s->result_nbytes : way < 5 ? s->result_nbytes - (s->result_nbytes != 0) : 64;
    uint8_t *out = malloc(room == 0 ? 1 : room), expected[64];
    CK_BYTE *to = way == 7 ? NULL : out;
    CK_ULONG *size = byte() % 32 == 0 ? NULL : &room;
    const CK_ULONG given = room;
    const CK_RV rv = purpose == DIGEST ? (is_whole ? C_Digest(s->handle, pool + start, nbytes, to, size)
                                                   : C_DigestFinal(s->handle, to, size))
                                       : (is_whole ? C_Sign(s->handle, pool + start, nbytes, to, size)
                                                   : C_SignFinal(s->handle, to, size));

    if (is_known(s, rv)) {
        if (s->active != purpose) {
            MUST(rv == CKR_OPERATION_NOT_INITIALIZED);
        } else if (is_whole ? s->is_parted : s->is_whole) {
            MUST(rv == CKR_OPERATION_ACTIVE);
            end_operation(s);
        } else if (size == NULL) {
            MUST(rv == CKR_ARGUMENTS_BAD);
            end_operation(s);
        } else {
            s->is_whole = is_whole;
            s->is_parted = !is_whole;
            MUST(room == s->result_nbytes);
            if (to == NULL || given < s->result_nbytes) {
                MUST(rv == (to == NULL ? CKR_OK : CKR_BUFFER_TOO_SMALL));
            } else {
                MUST(rv == CKR_OK);
                if (expect(s, is_whole ? pool + start : s->message, is_whole ? nbytes : s->nbytes, expected))
                    MUST(memcmp(out, expected, s->result_nbytes) == 0);
                end_operation(s);
            }
        }
    }
    free(out);
}

static void verify(int is_whole)
{
    struct session *s = any_session();
    const size_t start = byte(), nbytes = byte();
    uint8_t expected[64] = {0};
    const int is_expected = s->is_open && s->active == VERIFY &&
                            expect(s, is_whole ? pool + start : s->message, is_whole ? nbytes : s->nbytes, expected);
    const int is_wrong = byte() % 4 == 0;
    CK_ULONG given = hostile(s->result_nbytes);
    uint8_t *signature = malloc(64);

    memcpy(signature, expected, 64);
    if (is_wrong && s->result_nbytes != 0)
        signature[byte() % s->result_nbytes] ^= 1;
    const CK_RV rv = is_whole ? C_Verify(s->handle, pool + start, nbytes, signature, given)
                              : C_VerifyFinal(s->handle, signature, given);
    if (is_known(s, rv)) {
        if (s->active != VERIFY) {
            MUST(rv == CKR_OPERATION_NOT_INITIALIZED);
        } else {
            MUST(given != s->result_nbytes         ? rv == CKR_SIGNATURE_LEN_RANGE
                 : is_whole && s->is_parted        ? rv == CKR_OPERATION_ACTIVE
                 : !is_expected                    ? rv == CKR_OK || rv == CKR_SIGNATURE_INVALID
                                                   : rv == (is_wrong ? CKR_SIGNATURE_INVALID : CKR_OK));
            end_operation(s);
        }
    }
    free(signature);
}

/* A template for a purpose, three times out of four a right one. */
enum purpose { CREATE, CHANGE, GENERATE, READ };
enum { TEMPLATE = 12 };
static CK_ATTRIBUTE template[TEMPLATE];
static uint8_t values[TEMPLATE][VALUE_MAX];

static CK_ULONG any_template(enum purpose purpose)
{
    static const CK_ATTRIBUTE_TYPE types[] = {
        CKA_LABEL, CKA_SENSITIVE, CKA_EXTRACTABLE, CKA_SIGN, CKA_VERIFY, CKA_ID, CKA_COPYABLE, CKA_ENCRYPT,
        CKA_WRAP_WITH_TRUSTED, CKA_START_DATE, CKA_END_DATE, /* the ones above may be in any template */
        CKA_PRIVATE, CKA_MODIFIABLE, CKA_DESTROYABLE, CKA_CLASS, CKA_KEY_TYPE, CKA_VALUE, CKA_VALUE_LEN,
        CKA_KEY_GEN_MECHANISM, CKA_TOKEN, CKA_TRUSTED, CKA_LOCAL, CKA_ALWAYS_SENSITIVE, CKA_NEVER_EXTRACTABLE,
        CKA_ALLOWED_MECHANISMS, CKA_CHECK_VALUE, CKA_UNIQUE_ID, CKA_MODULUS, CKA_WRAP_TEMPLATE};
    static const CK_ATTRIBUTE_TYPE first[4][3] = {[CREATE] = {CKA_CLASS, CKA_KEY_TYPE, CKA_VALUE},
                                                  [CHANGE] = {CKA_LABEL, CKA_SIGN, CKA_VERIFY},
                                                  [GENERATE] = {CKA_VALUE_LEN, CKA_CLASS, CKA_SIGN},
                                                  [READ] = {CKA_VALUE, CKA_CHECK_VALUE, CKA_UNIQUE_ID}};
    enum { ANYWHERE = 11, TYPES = sizeof types / sizeof *types };
    const int is_right = byte() % 4 != 0;
    const CK_ULONG count = is_right ? 3 + byte() % 4 : byte() % TEMPLATE;
    const unsigned other = byte();

    for (CK_ULONG i = 0; i < count; i++) {
        CK_ATTRIBUTE *a = &template[i];
        CK_ULONG number = 1 + byte(), right = 1;
        a->type = i < 3       ? first[purpose][i]
                  : is_right  ? types[(other + i) % ANYWHERE]
                              : types[byte() % TYPES];
        if (!is_right && byte() % 8 == 0)
            a->type = byte() % 2 == 0 ? types[byte() % TYPES] : (CK_ULONG)byte() << (byte() % 32);
        memset(values[i], 0, VALUE_MAX);
        if (a->type == CKA_CLASS)
            number = !is_right && byte() % 4 == 0 ? byte() : CKO_SECRET_KEY;
        if (a->type == CKA_KEY_TYPE)
            number = byte() % 4 != 0 ? CKK_GENERIC_SECRET : rows[byte() % ROWS].type;
        if (a->type == CKA_CLASS || a->type == CKA_KEY_TYPE || a->type == CKA_VALUE_LEN ||
            a->type == CKA_KEY_GEN_MECHANISM) {
            right = sizeof number;
            memcpy(values[i], &number, sizeof number);
        } else if (a->type == CKA_VALUE || a->type == CKA_LABEL || a->type == CKA_ID) {
            right = 1 + byte() % (VALUE_MAX - 1);
            memcpy(values[i], pool + byte(), right);
        } else if (a->type == CKA_ALLOWED_MECHANISMS) {
            number = rows[byte() % ROWS].hmac;
            right = sizeof number;
            memcpy(values[i], &number, sizeof number);
        } else if (a->type == CKA_CHECK_VALUE) {
            right = byte() % 4 == 0 ? 3 : 0;
        } else if (a->type == CKA_START_DATE || a->type == CKA_END_DATE)
            right = sizeof(CK_DATE);
        else
            values[i][0] = byte() % 3 == 0;
        a->pValue = !is_right && byte() % 8 == 0 ? NULL : values[i];
        a->ulValueLen = purpose == READ ? (is_right ? VALUE_MAX : byte() % VALUE_MAX)
                        : is_right      ? right
                                        : hostile(right);
        if (a->ulValueLen > VALUE_MAX && a->ulValueLen < 1 << 20)
            a->ulValueLen = VALUE_MAX;
    }
    return !is_right && byte() % 8 == 0 ? ~(CK_ULONG)0 - byte() : count;
}

static int is_true(CK_ULONG count, CK_ATTRIBUTE_TYPE type, CK_BBOOL value)
{
    for (CK_ULONG i = 0; i < count; i++)
        if (template[i].type == type)
            return *(const CK_BBOOL *)template[i].pValue == value;
    return 0;
}

/* A new key takes any place of the model; the key that was there is destroyed, if it can be. */
static void take(struct session *s, CK_OBJECT_HANDLE handle, const struct key *like, CK_ULONG count)
{
    struct key *key = any_key();

    if (key->is_live && C_DestroyObject(s->handle, key->handle) != CKR_OK) {
        C_DestroyObject(s->handle, handle);
        return;
    }
    *key = like != NULL ? *like : (struct key){0};
    if (is_true(count, CKA_TOKEN, CK_TRUE) || is_true(count, CKA_TOKEN, CK_FALSE))
        key->is_tokens = is_true(count, CKA_TOKEN, CK_TRUE);
    MUST(!key->is_tokens || s->is_writer);
    for (CK_ULONG i = 0; i < count; i++)
        key->is_limited |= template[i].type == CKA_ALLOWED_MECHANISMS && template[i].ulValueLen != 0;
    key->handle = handle;
    key->owner = s->handle;
    key->is_live = 1;
    key->was_secret |= is_true(count, CKA_SENSITIVE, CK_TRUE) || is_true(count, CKA_EXTRACTABLE, CK_FALSE);
    for (CK_ULONG i = 0; i < count && like == NULL; i++)
        if (template[i].type == CKA_VALUE) {
            key->is_known = 1;
            key->nbytes = template[i].ulValueLen;
            memcpy(key->value, template[i].pValue, key->nbytes);
        }
}

static void create(int way)
{
    struct session *s = any_session();
    CK_OBJECT_HANDLE handle = 0;
    struct key *old = any_key(), like = *old;
    struct pbkd2 p = {1, pool, hostile(8), 1 + byte() % 3, byte() % 10, NULL, 0, pool + 8, hostile(20)};
    CK_MECHANISM m = {way == 2 ? CKM_GENERIC_SECRET_KEY_GEN : CKM_PKCS5_PBKD2, way == 2 ? NULL : &p,
                      way == 2 ? 0 : hostile(sizeof p)};
    const CK_ULONG count = any_template(way == 0 ? CREATE : way == 1 ? CHANGE : GENERATE);
    const CK_RV rv = way == 0   ? C_CreateObject(s->handle, template, count, &handle)
                     : way == 1 ? C_CopyObject(s->handle, old->handle, template, count, &handle)
                                : C_GenerateKey(s->handle, &m, template, count, &handle);

    if (!is_known(s, rv))
        return;
    if (way == 1 && !old->is_live)
        MUST(rv == CKR_OBJECT_HANDLE_INVALID);
    if (rv != CKR_OK)
        return;
    MUST(count < TEMPLATE && handle != 0 && key_of(handle) == NULL);
    take(s, handle, way == 1 ? &like : NULL, count);
}

static void read_attributes(void)
{
    struct session *s = any_session();
    struct key *key = any_key();
    const CK_ULONG count = any_template(READ);
    uint8_t sha1[HL_SHA1_DIGEST_NBYTES];
    const CK_RV rv = C_GetAttributeValue(s->handle, key->handle, template, count);

    if (!is_known(s, rv) || rv == CKR_ARGUMENTS_BAD || rv == CKR_OBJECT_HANDLE_INVALID) {
        MUST(!s->is_open || rv == CKR_ARGUMENTS_BAD || !key->is_live);
        return;
    }
    MUST(key->is_live);
    for (CK_ULONG i = 0; i < count; i++)
        if (template[i].type == CKA_VALUE) {
            if (key->was_secret)
                MUST(template[i].ulValueLen == CK_UNAVAILABLE_INFORMATION && rv != CKR_OK);
            else if (key->is_known && template[i].ulValueLen != CK_UNAVAILABLE_INFORMATION &&
                     template[i].pValue != NULL)
                MUST(template[i].ulValueLen == key->nbytes && memcmp(values[i], key->value, key->nbytes) == 0);
        } else if (template[i].type == CKA_CHECK_VALUE && key->is_known && template[i].pValue != NULL) {
            MUST(hl_hash(HL_SHA1, key->value, key->nbytes, sha1) == HL_OK);
            MUST(template[i].ulValueLen == 0 || template[i].ulValueLen == CK_UNAVAILABLE_INFORMATION ||
                 (template[i].ulValueLen == 3 && memcmp(values[i], sha1, 3) == 0));
        }
}

static void set_attributes(void)
{
    struct session *s = any_session();
    struct key *key = any_key();
    const CK_ULONG count = any_template(CHANGE);
    const CK_RV rv = C_SetAttributeValue(s->handle, key->handle, template, count);

    if (!is_known(s, rv))
        return;
    MUST(key->is_live || rv == CKR_OBJECT_HANDLE_INVALID);
    MUST(!key->is_live || (rv == CKR_SESSION_READ_ONLY) == (key->is_tokens && !s->is_writer));
    if (rv == CKR_OK)
        key->was_secret |= is_true(count, CKA_SENSITIVE, CK_TRUE) || is_true(count, CKA_EXTRACTABLE, CK_FALSE);
}

static void destroy(void)
{
    struct session *s = any_session();
    struct key *key = any_key();
    const CK_RV rv = C_DestroyObject(s->handle, key->handle);

    if (!is_known(s, rv))
        return;
    MUST(!key->is_live                       ? rv == CKR_OBJECT_HANDLE_INVALID
         : key->is_tokens && !s->is_writer ? rv == CKR_SESSION_READ_ONLY
                                           : rv == CKR_OK || rv == CKR_ACTION_PROHIBITED);
    if (rv == CKR_OK)
        key->is_live = 0;
}

static void find(void)
{
    struct session *s = any_session();
    const unsigned call = byte() % 4;
    CK_OBJECT_HANDLE found[3];
    CK_ULONG n = 0;

    if (call < 2) {
        const CK_ULONG count = call == 0 ? 0 : any_template(READ);
        const CK_RV rv = C_FindObjectsInit(s->handle, template, count);
        if (is_known(s, rv)) {
            MUST((rv == CKR_OPERATION_ACTIVE) == (s->active != IDLE));
            if (rv == CKR_OK)
                s->active = FIND;
        }
    } else if (call == 2) {
        const CK_ULONG room = byte() % 4;
        const CK_RV rv = C_FindObjects(s->handle, found, room, &n);
        if (is_known(s, rv)) {
            MUST(rv == (s->active == FIND ? CKR_OK : CKR_OPERATION_NOT_INITIALIZED));
            MUST(n <= room);
        }
    } else {
        const CK_RV rv = C_FindObjectsFinal(s->handle);
        if (is_known(s, rv)) {
            MUST(rv == (s->active == FIND ? CKR_OK : CKR_OPERATION_NOT_INITIALIZED));
            if (rv == CKR_OK)
                end_operation(s);
        }
    }
}

static void state(void)
{
    struct session *s = any_session(), *to = any_session();
    CK_ULONG nbytes = byte() % 4 == 0 ? byte() : 640;
    uint8_t *bytes = malloc(nbytes == 0 ? 1 : nbytes);
    CK_RV rv = C_GetOperationState(s->handle, bytes, &nbytes);

    if (is_known(s, rv)) {
        if (s->active == IDLE || s->active == FIND)
            MUST(rv == CKR_OPERATION_NOT_INITIALIZED);
        else if (s->active != DIGEST || s->has_key)
            MUST(rv == CKR_STATE_UNSAVEABLE);
        else
            MUST(rv == CKR_OK || rv == CKR_BUFFER_TOO_SMALL);
        if (rv == CKR_OK) {
            const int is_forged = byte() % 4 == 0;
            if (is_forged)
                bytes[byte() % nbytes] ^= (uint8_t)(1 + byte() % 255);
            rv = C_SetOperationState(to->handle, bytes, byte() % 32 == 0 ? nbytes - 1 : nbytes, 0, 0);
            if (is_known(to, rv) && rv == CKR_OK) {
                if (is_forged) {
                    MUST(C_DigestInit(to->handle, NULL) == CKR_OK);
                    end_operation(to);
                } else {
                    const struct session copy = *s;
                    end_operation(to);
                    to->active = DIGEST;
                    to->row = copy.row;
                    to->result_nbytes = copy.result_nbytes;
                    to->nbytes = copy.nbytes;
                    to->is_parted = 1;
                    memcpy(to->message, copy.message, copy.nbytes);
                }
            } else if (to->is_open)
                MUST(rv == CKR_SAVED_STATE_INVALID);
        }
    }
    free(bytes);
}

static void open_or_close(void)
{
    struct session *s = any_session();
    const unsigned call = byte() % 16;

    if (call == 0) {
        MUST(C_CloseAllSessions(0) == CKR_OK);
        for (int i = 0; i < SESSIONS; i++)
            end_session(&sessions[i]);
    } else if (call == 1) {
        MUST(C_Finalize(NULL) == CKR_OK);
        MUST(C_DigestInit(s->handle, NULL) == CKR_CRYPTOKI_NOT_INITIALIZED);
        MUST(C_Initialize(NULL) == CKR_OK);
        for (int i = 0; i < SESSIONS; i++)
            end_session(&sessions[i]);
        for (int i = 0; i < KEYS; i++)
            keys[i].is_live = 0;
    } else if (s->is_open && call < 5) {
        MUST(C_CloseSession(s->handle) == CKR_OK);
        end_session(s);
    } else if (!s->is_open) {
        const CK_SESSION_HANDLE old = s->handle;
        MUST(C_CloseSession(old) == CKR_SESSION_HANDLE_INVALID);
        const CK_FLAGS flags = CKF_SERIAL_SESSION | (byte() % 2 ? CKF_RW_SESSION : 0);
        MUST(C_OpenSession(0, flags, NULL, NULL, &s->handle) == CKR_OK);
        MUST(s->handle != old);
        s->is_open = 1;
        s->is_writer = (flags & CKF_RW_SESSION) != 0;
    }
}

static void cancel(void)
{
    struct session *s = any_session();
    const CK_FLAGS flags[] = {0, CKF_DIGEST, CKF_SIGN, CKF_VERIFY, CAN_FIND_OBJECTS, ~(CK_FLAGS)0};
    const unsigned which = byte() % 6;
    const CK_RV rv = C_SessionCancel(s->handle, flags[which]);

    if (is_known(s, rv)) {
        MUST(rv == CKR_OK);
        if (which == 5 || (which > 0 && (unsigned)s->active == which))
            end_operation(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    memset(sessions, 0, sizeof sessions);
    memset(keys, 0, sizeof keys);
    for (size_t i = 0; i < sizeof pool; i++)
        pool[i] = (uint8_t)(i * 37 + i / 251);
    MUST(C_Initialize(NULL) == CKR_OK);
    input = (struct input){bytes, nbytes, 0};
    while (input.at < input.nbytes)
        switch (byte() % 23) {
        case 0:
        case 1: begin(DIGEST); break;
        case 2: begin(SIGN); break;
        case 3: begin(VERIFY); break;
        case 4: update(DIGEST); break;
        case 5: update(SIGN); break;
        case 6: update(VERIFY); break;
        case 7: produce(DIGEST, 0); break;
        case 8: produce(DIGEST, 1); break;
        case 9: produce(SIGN, 0); break;
        case 10: produce(SIGN, 1); break;
        case 11: verify(0); break;
        case 12: verify(1); break;
        case 13: digest_key(); break;
        case 14: create(0); break;
        case 15: create(1 + byte() % 3); break;
        case 16: read_attributes(); break;
        case 17: set_attributes(); break;
        case 18: destroy(); break;
        case 19: find(); break;
        case 20: state(); break;
        case 21: cancel(); break;
        default: open_or_close(); break;
        }
    MUST(C_Finalize(NULL) == CKR_OK);
    return 0;
}

#include "main.h"
