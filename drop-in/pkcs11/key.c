/* key.c: secret keys: attributes, search, generation.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A key of a session ends with the session that made it, and one of the token (CKA_TOKEN) with C_Finalize: nothing is
 * stored. Until then all sessions see them.
 */
#define _DEFAULT_SOURCE
#include "module.h"

#include <stdlib.h>

static void end_key(void *key)
{
    hlk_end_key(key);
}

struct table hlk_keys = {.entry_nbytes = sizeof(struct key), .end = end_key, .lock = {.os = PTHREAD_MUTEX_INITIALIZER}};

CK_RV hlk_key(CK_OBJECT_HANDLE handle, CK_RV missing, struct key **key)
{
    return hlk_enter(&hlk_keys, handle, missing, key);
}

static void drop(struct bytes *bytes)
{
    uint8_t *data = bytes->data;
    const size_t nbytes = bytes->nbytes;

    if (data == NULL)
        return;
    *bytes = (struct bytes){0};
    explicit_bzero(data, nbytes);
    free(data);
}

static CK_RV put(struct bytes *bytes, const void *data, size_t nbytes)
{
    uint8_t *copy = nbytes == 0 ? NULL : malloc(nbytes);

    if (nbytes != 0 && copy == NULL)
        return CKR_HOST_MEMORY;
    if (nbytes != 0)
        memcpy(copy, data, nbytes);
    drop(bytes);
    *bytes = (struct bytes){copy, nbytes};
    return CKR_OK;
}

void hlk_end_key(struct key *key)
{
    for (size_t i = 0; i < BYTE_STRINGS; i++)
        drop(&key->strings[i]);
    hl_hmac_key_wipe(&key->prepared);
}

int hlk_allows(const struct key *key, CK_MECHANISM_TYPE mechanism)
{
    const struct bytes *allowed = &key->strings[ALLOWED_MECHANISMS];

    for (size_t at = 0; at < allowed->nbytes; at += sizeof mechanism)
        if (memcmp(allowed->data + at, &mechanism, sizeof mechanism) == 0)
            return 1;
    return allowed->nbytes == 0;
}

CK_RV hlk_hmac_key(CK_OBJECT_HANDLE handle, const struct algorithm *algorithm, CK_MECHANISM_TYPE mechanism,
                   enum purpose purpose, hl_hmac_key *prepared)
{
    struct key *key;
    CK_RV rv = hlk_key(handle, CKR_KEY_HANDLE_INVALID, &key);

    if (rv != CKR_OK)
        return rv;
    if (key->numbers[KEY_TYPE] != CKK_GENERIC_SECRET && key->numbers[KEY_TYPE] != algorithm->key_type)
        rv = CKR_KEY_TYPE_INCONSISTENT;
    else if ((key->flags & FLAG(purpose == SIGN ? MAY_SIGN : MAY_VERIFY)) == 0 || !hlk_allows(key, mechanism))
        rv = CKR_KEY_FUNCTION_NOT_PERMITTED;
    else if (key->prepared_for != algorithm) {
        rv = hlk_error(hl_hmac_key_init(&key->prepared, algorithm->alg, key->strings[VALUE].data,
                                        key->strings[VALUE].nbytes));
        key->prepared_for = rv == CKR_OK ? algorithm : NULL;
    }
    if (rv == CKR_OK)
        *prepared = key->prepared;
    return hlk_leave(key, rv);
}

/* ---- Attributes ---- */

/* When a template may name the attribute: to create, generate, change or copy a key. A flag that was once true (for
 * EXTRACTABLE and COPYABLE: false) stays so when it is changed or copied. */
enum { CREATE = 1, GENERATE = 2, CHANGE = 4, COPY = 8, ANY = 15, STAYS_TRUE = 16, STAYS_FALSE = 32, NEVER_TRUE = 64 };

static const struct attribute {
    CK_ATTRIBUTE_TYPE type;
    enum { FLAGS, NUMBER, STRING, UNIQUE_ID, CHECK_VALUE } kind;
    unsigned at; /* the flag, or the place in numbers or strings */
    unsigned rules;
} attributes[] = {
    {CKA_CLASS, NUMBER, CLASS, CREATE | GENERATE},
    {CKA_KEY_TYPE, NUMBER, KEY_TYPE, CREATE | GENERATE},
    {CKA_VALUE, STRING, VALUE, CREATE},
    {CKA_VALUE_LEN, NUMBER, VALUE_LEN, GENERATE},
    {CKA_KEY_GEN_MECHANISM, NUMBER, GEN_MECHANISM, 0},
    {CKA_LABEL, STRING, LABEL, ANY},
    {CKA_ID, STRING, ID, ANY},
    {CKA_START_DATE, STRING, START_DATE, ANY},
    {CKA_END_DATE, STRING, END_DATE, ANY},
    {CKA_ALLOWED_MECHANISMS, STRING, ALLOWED_MECHANISMS, CREATE | GENERATE},
    {CKA_UNIQUE_ID, UNIQUE_ID, 0, 0},
    {CKA_CHECK_VALUE, CHECK_VALUE, 0, ANY},
    {CKA_TOKEN, FLAGS, TOKEN, CREATE | GENERATE | COPY},
    {CKA_PRIVATE, FLAGS, PRIVATE, CREATE | GENERATE | COPY},
    {CKA_MODIFIABLE, FLAGS, MODIFIABLE, CREATE | GENERATE | COPY},
    {CKA_COPYABLE, FLAGS, COPYABLE, ANY | STAYS_FALSE},
    {CKA_DESTROYABLE, FLAGS, DESTROYABLE, CREATE | GENERATE | COPY},
    {CKA_SENSITIVE, FLAGS, SENSITIVE, ANY | STAYS_TRUE},
    {CKA_EXTRACTABLE, FLAGS, EXTRACTABLE, ANY | STAYS_FALSE},
    {CKA_ENCRYPT, FLAGS, MAY_ENCRYPT, ANY},
    {CKA_DECRYPT, FLAGS, MAY_DECRYPT, ANY},
    {CKA_SIGN, FLAGS, MAY_SIGN, ANY},
    {CKA_VERIFY, FLAGS, MAY_VERIFY, ANY},
    {CKA_WRAP, FLAGS, MAY_WRAP, ANY},
    {CKA_UNWRAP, FLAGS, MAY_UNWRAP, ANY},
    {CKA_DERIVE, FLAGS, MAY_DERIVE, ANY},
    {CKA_WRAP_WITH_TRUSTED, FLAGS, WRAP_WITH_TRUSTED, ANY | STAYS_TRUE},
    {CKA_TRUSTED, FLAGS, TRUSTED, ANY | NEVER_TRUE}, /* true is for security officers */
    {CKA_LOCAL, FLAGS, LOCAL, 0},
    {CKA_ALWAYS_SENSITIVE, FLAGS, ALWAYS_SENSITIVE, 0},
    {CKA_NEVER_EXTRACTABLE, FLAGS, NEVER_EXTRACTABLE, 0},
};
enum {
    ATTRIBUTES = sizeof attributes / sizeof *attributes,
    CHECK_VALUE_NBYTES = 3,
    HANDLE_NBYTES = sizeof(CK_OBJECT_HANDLE),
    SCRATCH_NBYTES = 2 * (PREFIX_NBYTES + HANDLE_NBYTES) /* of a CKA_UNIQUE_ID, in hexadecimal */
};
_Static_assert(ATTRIBUTES <= 32, "a bit each");

static const struct attribute *attribute_of(CK_ATTRIBUTE_TYPE type)
{
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (attributes[i].type == type)
            return &attributes[i];
    return NULL;
}

static CK_RV set_flag(struct key *key, const struct attribute *attribute, CK_BBOOL value, unsigned how)
{
    const uint32_t flag = FLAG(attribute->at);
    const int was = (key->flags & flag) != 0, is_new = (how & (CREATE | GENERATE)) != 0;

    if (value > CK_TRUE)
        return CKR_ATTRIBUTE_VALUE_INVALID;
    if (value && (attribute->rules & NEVER_TRUE) != 0)
        return CKR_ATTRIBUTE_READ_ONLY;
    if (!is_new && ((was && !value && (attribute->rules & STAYS_TRUE) != 0) ||
                    (!was && value && (attribute->rules & STAYS_FALSE) != 0)))
        return CKR_ATTRIBUTE_READ_ONLY;
    key->flags = value ? key->flags | flag : key->flags & ~flag;
    return CKR_OK;
}

static CK_RV set_number(struct key *key, const struct attribute *attribute, CK_ULONG value)
{
    switch (attribute->at) {
    case CLASS:
        if (value != CKO_SECRET_KEY)
            return CKR_ATTRIBUTE_VALUE_INVALID;
        break;
    case KEY_TYPE:
        if (!hlk_is_key_type(value))
            return CKR_ATTRIBUTE_VALUE_INVALID;
        break;
    case VALUE_LEN:
        if (value < 1 || value > KEY_MAX_NBYTES)
            return CKR_KEY_SIZE_RANGE;
        break;
    }
    key->numbers[attribute->at] = value;
    return CKR_OK;
}

static CK_RV set_string(struct key *key, const struct attribute *attribute, const void *data, CK_ULONG nbytes)
{
    if (nbytes > KEY_MAX_NBYTES || (attribute->at == VALUE && nbytes == 0) ||
        (attribute->at == ALLOWED_MECHANISMS && nbytes % sizeof(CK_MECHANISM_TYPE) != 0) ||
        ((attribute->at == START_DATE || attribute->at == END_DATE) && nbytes != 0 && nbytes != sizeof(CK_DATE)))
        return CKR_ATTRIBUTE_VALUE_INVALID;
    if (attribute->at == VALUE)
        key->numbers[VALUE_LEN] = nbytes;
    return put(&key->strings[attribute->at], data, nbytes);
}

/* Sets what a template says. *seen gets bit i if the template names attributes[i]. After an error the key is to be
 * ended. An attribute can be in it once, so that a count too large is found before anything is read beyond it. */
static CK_RV apply(struct key *key, const CK_ATTRIBUTE *template, CK_ULONG count, unsigned how, uint32_t *seen)
{
    CK_RV rv = CKR_OK;

    *seen = 0;
    if (template == NULL && count != 0)
        return CKR_ARGUMENTS_BAD;
    if (count > ATTRIBUTES)
        return CKR_TEMPLATE_INCONSISTENT;
    for (CK_ULONG i = 0; i < count && rv == CKR_OK; i++) {
        const struct attribute *attribute = attribute_of(template[i].type);
        const void *data = template[i].pValue;
        const CK_ULONG nbytes = template[i].ulValueLen;
        CK_ULONG number;

        if (attribute == NULL)
            return CKR_ATTRIBUTE_TYPE_INVALID;
        const uint32_t bit = UINT32_C(1) << (attribute - attributes);
        if ((attribute->rules & how) == 0)
            return (attribute->rules & (CREATE | GENERATE)) != 0 && (how & (CREATE | GENERATE)) != 0
                       ? CKR_TEMPLATE_INCONSISTENT
                       : CKR_ATTRIBUTE_READ_ONLY;
        if ((*seen & bit) != 0)
            return CKR_TEMPLATE_INCONSISTENT;
        *seen |= bit;
        if (data == NULL && nbytes != 0)
            return CKR_ATTRIBUTE_VALUE_INVALID;
        if (attribute->kind == CHECK_VALUE)
            continue; /* compared when the key has its value */
        if (attribute->kind == STRING)
            rv = set_string(key, attribute, data, nbytes);
        else if (nbytes != (attribute->kind == FLAGS ? sizeof(CK_BBOOL) : sizeof number))
            rv = CKR_ATTRIBUTE_VALUE_INVALID;
        else if (attribute->kind == FLAGS)
            rv = set_flag(key, attribute, *(const CK_BBOOL *)data, how);
        else {
            memcpy(&number, data, sizeof number);
            rv = set_number(key, attribute, number);
        }
    }
    return rv;
}

static int names(uint32_t seen, CK_ATTRIBUTE_TYPE type)
{
    return (int)(seen >> (attribute_of(type) - attributes) & 1);
}

/* For these types of keys the standard takes the first bytes of the value's SHA-1. */
static CK_RV check_value(const struct key *key, uint8_t out[CHECK_VALUE_NBYTES])
{
    const hl_slice value = {key->strings[VALUE].data, key->strings[VALUE].nbytes};
    uint8_t digest[HL_SHA1_DIGEST_NBYTES] = {0};
    const hl_status status = hl_run(&(hl_job){.nbytes = sizeof(hl_job),
                                              .alg = HL_SHA1,
                                              .messages = {.layout = HL_SLICES, .count = 1, .base = &value},
                                              .digests = digest,
                                              .is_secret = 1});

    memcpy(out, digest, CHECK_VALUE_NBYTES);
    explicit_bzero(digest, sizeof digest);
    return hlk_error(status);
}

/* The check value that a template gives a key, which has its value: a check value has to be right, and none (0
 * bytes) removes the attribute. */
static CK_RV apply_check_value(struct key *key, const CK_ATTRIBUTE *template, CK_ULONG count)
{
    uint8_t right[CHECK_VALUE_NBYTES];

    for (CK_ULONG i = 0; i < count; i++) {
        if (template[i].type != CKA_CHECK_VALUE)
            continue;
        if (template[i].ulValueLen == 0) {
            key->flags |= FLAG(NO_CHECK_VALUE);
            continue;
        }
        const CK_RV rv = check_value(key, right);
        if (rv != CKR_OK)
            return rv;
        if (template[i].ulValueLen != sizeof right || !hl_equal(template[i].pValue, right, sizeof right))
            return CKR_ATTRIBUTE_VALUE_INVALID;
        key->flags &= ~FLAG(NO_CHECK_VALUE);
    }
    return CKR_OK;
}

static void put_hex(uint8_t *out, const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < 2 * nbytes; i++)
        out[i] = (uint8_t)"0123456789abcdef"[bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
}

/* The value of an attribute: its size, and in *data its place. `scratch` is room for a value that is made here. Secret
 * values are CKR_ATTRIBUTE_SENSITIVE. */
static CK_RV value_of(const struct key *key, CK_ATTRIBUTE_TYPE type, uint8_t scratch[SCRATCH_NBYTES],
                      const void **data, CK_ULONG *nbytes)
{
    const struct attribute *attribute = attribute_of(type);
    const CK_OBJECT_HANDLE handle = key->entry.handle;
    CK_BBOOL flag;
    CK_RV rv;

    if (attribute == NULL)
        return CKR_ATTRIBUTE_TYPE_INVALID;
    switch (attribute->kind) {
    case STRING:
        if (attribute->at == VALUE && (key->flags & (FLAG(SENSITIVE) | FLAG(EXTRACTABLE))) != FLAG(EXTRACTABLE))
            return CKR_ATTRIBUTE_SENSITIVE;
        *data = key->strings[attribute->at].data;
        *nbytes = key->strings[attribute->at].nbytes;
        return CKR_OK;
    case NUMBER:
        memcpy(scratch, &key->numbers[attribute->at], sizeof *key->numbers);
        *nbytes = sizeof *key->numbers;
        break;
    case FLAGS:
        flag = (key->flags & FLAG(attribute->at)) != 0;
        memcpy(scratch, &flag, sizeof flag);
        *nbytes = sizeof flag;
        break;
    case UNIQUE_ID: /* no handle comes twice before the next C_Initialize */
        put_hex(scratch, hlk_prefix, PREFIX_NBYTES);
        put_hex(scratch + 2 * PREFIX_NBYTES, (const uint8_t *)&handle, HANDLE_NBYTES);
        *nbytes = SCRATCH_NBYTES;
        break;
    case CHECK_VALUE:
        *nbytes = (key->flags & FLAG(NO_CHECK_VALUE)) != 0 ? 0 : CHECK_VALUE_NBYTES;
        if (*nbytes != 0 && (rv = check_value(key, scratch)) != CKR_OK)
            return rv;
        break;
    }
    *data = scratch;
    return CKR_OK;
}

CK_RV C_GetAttributeValue(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count)
{
    struct session *session;
    struct key *key;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (template == NULL || count == 0 || count > TEMPLATE_MAX)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    rv = hlk_key(object, CKR_OBJECT_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return hlk_leave(session, rv);
    for (CK_ULONG i = 0; i < count; i++) { /* all of them, whatever is wrong with one */
        uint8_t scratch[SCRATCH_NBYTES];
        CK_ULONG nbytes = CK_UNAVAILABLE_INFORMATION;
        const void *data = NULL;
        CK_RV each = value_of(key, template[i].type, scratch, &data, &nbytes);
        if (each == CKR_OK && template[i].pValue != NULL && template[i].ulValueLen < nbytes) {
            each = CKR_BUFFER_TOO_SMALL;
            nbytes = CK_UNAVAILABLE_INFORMATION;
        }
        if (each == CKR_OK && template[i].pValue != NULL && nbytes != 0)
            memcpy(template[i].pValue, data, nbytes);
        template[i].ulValueLen = nbytes;
        rv = each == CKR_OK ? rv : each;
    }
    hlk_leave(key, CKR_OK);
    return hlk_leave(session, rv);
}

/* ---- Making keys ---- */

/* The size of the key's structure and of what it points to. */
CK_RV C_GetObjectSize(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ULONG *nbytes)
{
    struct session *session;
    struct key *key;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    rv = nbytes == NULL ? CKR_ARGUMENTS_BAD : hlk_key(object, CKR_OBJECT_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return hlk_leave(session, rv);
    *nbytes = sizeof *key;
    for (size_t i = 0; i < BYTE_STRINGS; i++)
        *nbytes += key->strings[i].nbytes;
    hlk_leave(key, CKR_OK);
    return hlk_leave(session, rv);
}

static struct key new_key(void)
{
    return (struct key){
        .flags = FLAG(MODIFIABLE) | FLAG(COPYABLE) | FLAG(DESTROYABLE) | FLAG(EXTRACTABLE) | FLAG(MAY_SIGN) |
                 FLAG(MAY_VERIFY),
        .numbers = {[CLASS] = CKO_SECRET_KEY, [KEY_TYPE] = CKK_GENERIC_SECRET,
                    [GEN_MECHANISM] = CK_UNAVAILABLE_INFORMATION},
    };
}

/* Whether the session may neither make, change nor end the key. */
static int is_read_only(const struct session *session, const struct key *key)
{
    return (key->flags & FLAG(TOKEN)) != 0 && (session->flags & CKF_RW_SESSION) == 0;
}

/* Adds the key, which the template describes, to the table if rv is CKR_OK, else ends it. The session is locked. */
static CK_RV keep(struct session *session, struct key *key, const CK_ATTRIBUTE *template, CK_ULONG count,
                  CK_OBJECT_HANDLE *handle, CK_RV rv)
{
    key->owner = (key->flags & FLAG(TOKEN)) != 0 ? 0 : session->entry.handle;
    if (rv == CKR_OK)
        rv = is_read_only(session, key) ? CKR_SESSION_READ_ONLY : apply_check_value(key, template, count);
    if (rv == CKR_OK)
        rv = hlk_add(&hlk_keys, key, handle);
    if (rv == CKR_OK)
        session->has_keys = 1;
    else
        hlk_end_key(key);
    explicit_bzero(key, sizeof *key);
    return rv;
}

CK_RV C_CreateObject(CK_SESSION_HANDLE handle, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *object)
{
    struct session *session;
    uint32_t seen;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (object == NULL)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    struct key key = new_key();
    rv = apply(&key, template, count, CREATE, &seen);
    if (rv == CKR_OK && !(names(seen, CKA_CLASS) && names(seen, CKA_KEY_TYPE) && names(seen, CKA_VALUE)))
        rv = CKR_TEMPLATE_INCOMPLETE;
    return hlk_leave(session, keep(session, &key, template, count, object, rv));
}

/* A copy of a key, on which a template is then tried. The key is locked. */
static CK_RV copy_key(const struct key *key, struct key *copy)
{
    CK_RV rv = CKR_OK;

    *copy = (struct key){.flags = key->flags};
    memcpy(copy->numbers, key->numbers, sizeof key->numbers);
    for (size_t i = 0; i < BYTE_STRINGS && rv == CKR_OK; i++)
        rv = put(&copy->strings[i], key->strings[i].data, key->strings[i].nbytes);
    return rv;
}

CK_RV C_CopyObject(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count,
                   CK_OBJECT_HANDLE *new_object)
{
    struct session *session;
    struct key *key, copy = {.owner = 0};
    uint32_t seen;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    rv = new_object == NULL ? CKR_ARGUMENTS_BAD : hlk_key(object, CKR_OBJECT_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return hlk_leave(session, rv);
    rv = (key->flags & FLAG(COPYABLE)) == 0 ? CKR_ACTION_PROHIBITED : copy_key(key, &copy);
    hlk_leave(key, CKR_OK);
    if (rv == CKR_OK)
        rv = apply(&copy, template, count, COPY, &seen);
    return hlk_leave(session, keep(session, &copy, template, count, new_object, rv));
}

/* All of the template, or nothing. */
CK_RV C_SetAttributeValue(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count)
{
    struct session *session;
    struct key *key, changed = {.owner = 0};
    uint32_t seen;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    rv = hlk_key(object, CKR_OBJECT_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return hlk_leave(session, rv);
    rv = is_read_only(session, key)               ? CKR_SESSION_READ_ONLY
         : (key->flags & FLAG(MODIFIABLE)) == 0 ? CKR_ACTION_PROHIBITED
                                                : copy_key(key, &changed);
    if (rv == CKR_OK)
        rv = apply(&changed, template, count, CHANGE, &seen);
    if (rv == CKR_OK)
        rv = apply_check_value(&changed, template, count);
    if (rv == CKR_OK) {
        key->flags = changed.flags;
        for (size_t i = 0; i < BYTE_STRINGS; i++) {
            const struct bytes old = key->strings[i];
            key->strings[i] = changed.strings[i];
            changed.strings[i] = old;
        }
    }
    hlk_end_key(&changed);
    hlk_leave(key, CKR_OK);
    return hlk_leave(session, rv);
}

CK_RV C_DestroyObject(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object)
{
    struct session *session;
    struct key *key;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    rv = hlk_key(object, CKR_OBJECT_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return hlk_leave(session, rv);
    if (is_read_only(session, key))
        rv = hlk_leave(key, CKR_SESSION_READ_ONLY);
    else if ((key->flags & FLAG(DESTROYABLE)) == 0)
        rv = hlk_leave(key, CKR_ACTION_PROHIBITED);
    else
        hlk_remove(&hlk_keys, key);
    return hlk_leave(session, rv);
}

/* The bytes of a PBKDF2 key. */
static CK_RV derive(const CK_MECHANISM *mechanism, uint8_t *value, size_t nbytes)
{
    struct pbkd2 p;

    if (mechanism->pParameter == NULL || mechanism->ulParameterLen != sizeof p)
        return CKR_MECHANISM_PARAM_INVALID;
    memcpy(&p, mechanism->pParameter, sizeof p);
    const struct algorithm *algorithm = hlk_algorithm_of_prf(p.prf);
    if (algorithm == NULL || p.salt_source != PBKD2_SALT_SPECIFIED || p.prf_data_nbytes != 0 || p.niterations == 0 ||
        p.salt_nbytes > KEY_MAX_NBYTES || p.password_nbytes > KEY_MAX_NBYTES ||
        (p.salt == NULL && p.salt_nbytes != 0) || (p.password == NULL && p.password_nbytes != 0))
        return CKR_MECHANISM_PARAM_INVALID;
    if (p.niterations > UINT32_MAX)
        return CKR_EXCEEDED_MAX_ITERATIONS;
    const hl_slice password = {p.password, p.password_nbytes}, salt = {p.salt, p.salt_nbytes};
    return hlk_error(hl_pbkdf2_many(algorithm->alg, &password, &salt, (uint32_t)p.niterations, 1, value, nbytes));
}

CK_RV C_GenerateKey(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism, CK_ATTRIBUTE *template, CK_ULONG count,
                    CK_OBJECT_HANDLE *object)
{
    struct session *session;
    uint32_t seen;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (mechanism == NULL || object == NULL || (template == NULL && count != 0))
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    const int is_random = mechanism->mechanism == CKM_GENERIC_SECRET_KEY_GEN;
    if (!is_random && mechanism->mechanism != CKM_PKCS5_PBKD2)
        return hlk_leave(session, CKR_MECHANISM_INVALID);
    if (is_random && mechanism->ulParameterLen != 0)
        return hlk_leave(session, CKR_MECHANISM_PARAM_INVALID);
    struct key key = new_key();
    struct bytes *value = &key.strings[VALUE];
    key.numbers[GEN_MECHANISM] = mechanism->mechanism;
    rv = apply(&key, template, count, GENERATE, &seen);
    const CK_ULONG nbytes = key.numbers[VALUE_LEN];
    if (rv == CKR_OK && !names(seen, CKA_VALUE_LEN))
        rv = CKR_TEMPLATE_INCOMPLETE;
    if (rv == CKR_OK && is_random && key.numbers[KEY_TYPE] != CKK_GENERIC_SECRET)
        rv = CKR_TEMPLATE_INCONSISTENT;
    if (rv == CKR_OK && (value->data = malloc(nbytes)) == NULL)
        rv = CKR_HOST_MEMORY;
    if (rv == CKR_OK) {
        value->nbytes = nbytes;
        rv = is_random ? hlk_random(value->data, nbytes) : derive(mechanism, value->data, nbytes);
    }
    key.flags |= FLAG(LOCAL) | ((key.flags & FLAG(SENSITIVE)) != 0 ? FLAG(ALWAYS_SENSITIVE) : 0) |
                 ((key.flags & FLAG(EXTRACTABLE)) == 0 ? FLAG(NEVER_EXTRACTABLE) : 0);
    return hlk_leave(session, keep(session, &key, template, count, object, rv));
}

/* ---- Search ---- */

static int matches(const struct key *key, const CK_ATTRIBUTE *template, CK_ULONG count)
{
    for (CK_ULONG i = 0; i < count; i++) {
        uint8_t scratch[SCRATCH_NBYTES];
        CK_ULONG nbytes = 0;
        const void *data = NULL;
        if (value_of(key, template[i].type, scratch, &data, &nbytes) != CKR_OK || nbytes != template[i].ulValueLen ||
            (nbytes != 0 && !hl_equal(data, template[i].pValue, nbytes)))
            return 0;
    }
    return 1;
}

CK_RV C_FindObjectsInit(CK_SESSION_HANDLE handle, CK_ATTRIBUTE *template, CK_ULONG count)
{
    struct session *session;
    struct key *key;
    CK_ULONG index = 0, room = 0;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (session->active != IDLE)
        return hlk_leave(session, CKR_OPERATION_ACTIVE);
    if ((template == NULL && count != 0) || count > TEMPLATE_MAX)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    for (CK_ULONG i = 0; i < count; i++)
        if (template[i].pValue == NULL && template[i].ulValueLen != 0)
            return hlk_leave(session, CKR_ATTRIBUTE_VALUE_INVALID);
    session->active = FINDING;
    memset(&session->found, 0, sizeof session->found);
    while (rv == CKR_OK && (key = hlk_next(&hlk_keys, &index)) != NULL) {
        const CK_OBJECT_HANDLE found = key->entry.handle;
        const int is_match = matches(key, template, count);
        hlk_leave(key, CKR_OK);
        if (!is_match)
            continue;
        if (session->found.count == room) {
            room = room == 0 ? 16 : 2 * room;
            CK_OBJECT_HANDLE *handles = realloc(session->found.handles, room * sizeof *handles);
            if (handles == NULL) {
                rv = CKR_HOST_MEMORY;
                break;
            }
            session->found.handles = handles;
        }
        session->found.handles[session->found.count++] = found;
    }
    if (rv != CKR_OK)
        hlk_end_operation(session);
    return hlk_leave(session, rv);
}

CK_RV C_FindObjects(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE *objects, CK_ULONG room, CK_ULONG *count)
{
    struct session *session;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (session->active != FINDING)
        rv = CKR_OPERATION_NOT_INITIALIZED;
    else if (count == NULL || (objects == NULL && room != 0))
        rv = CKR_ARGUMENTS_BAD;
    else
        for (*count = 0; *count < room && session->found.next < session->found.count; (*count)++)
            objects[*count] = session->found.handles[session->found.next++];
    return hlk_leave(session, rv);
}

CK_RV C_FindObjectsFinal(CK_SESSION_HANDLE handle)
{
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (session->active != FINDING)
        return hlk_leave(session, CKR_OPERATION_NOT_INITIALIZED);
    hlk_end_operation(session);
    return hlk_leave(session, CKR_OK);
}
