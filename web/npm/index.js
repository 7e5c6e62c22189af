// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Hashes many messages at once: the core in WebAssembly, four lanes of SIMD side by side.
//
//   const hashloom = await load();
//   hashloom.many('sha256', ['abc', new Uint8Array(5)], { output: 'hex' });
//
// Each call copies messages into the module's memory, from `heap` on, and digests out of it. Nothing stays there: a hash
// object keeps its state in JavaScript, so it needs no end. All calls are synchronous and do not nest.

/** Bytes of messages in the module at once. */
const BATCH_NBYTES = 4 << 20;
/** Messages in the module at once. */
const BATCH = 4096;
/** From this length on a message goes through the module in parts. */
const LONG_NBYTES = 256 << 10;
/** Bytes in the longest digest of one length. */
const DIGEST_MAX_NBYTES = 64;
/** The longest digest of SHAKE. */
const LENGTH_MAX = 1 << 20;
/** Bytes of parts of messages in the module at once: they fit a core's cache. */
const PARTS_NBYTES = 512 << 10;
/** Long messages side by side: lanes are four or five, in few cases two, three or eight. */
const ABREAST = 20;

const PAGE_NBYTES = 1 << 16;
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const encoder = new TextEncoder();

// What the classes below share, and nobody else sees.
const [OWNER, KIND, STATE] = [Symbol('owner'), Symbol('kind'), Symbol('state')];
const [UPDATE, BEGIN, FINAL, CHECK_LENGTH] = ['update', 'begin', 'final', 'length'].map(Symbol);

let loaded;

/** Compiles the module, once in each thread. */
export function load() {
    if (!loaded) {
        loaded = start();
        // A failure, such as a policy of the page, may be mended: the next call tries again.
        loaded.catch(() => { loaded = undefined; });
    }
    return loaded;
}

async function start() {
    const { default: text } = await import('./module.js');
    const bytes = await inflate(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Hashloom(instance.exports);
}

async function inflate(bytes) {
    if (typeof DecompressionStream === 'undefined') {
        // Older Bun. Not import(): a bundler for browsers would look for the module.
        return globalThis.process.getBuiltinModule('node:zlib').inflateRawSync(bytes);
    }
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The properties as the language made them: a message may have others of these names, and lie.
const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const { indexOf } = typedArray;
const [lengthGetter, tagGetter] = ['length', Symbol.toStringTag].map((name) => getter(typedArray, name));
const [TYPED, VIEW] = [typedArray, DataView.prototype].map((prototype) =>
    ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(prototype, name)));
const BUFFERS = [ArrayBuffer, globalThis.SharedArrayBuffer].filter(Boolean)
    .map(({ prototype }) => getter(prototype, 'byteLength'));

const lengthOf = (bytes) => lengthGetter.call(bytes);

function isBuffer(data) {
    return BUFFERS.some((byteLength) => {
        try {
            return byteLength.call(data) >= 0;
        } catch {
            return false;
        }
    });
}

/** The bytes of a message: text is UTF-8, a view has the bytes that it shows. */
function bytesOf(data, what) {
    if (typeof data === 'string') return encoder.encode(data);
    try {
        if (ArrayBuffer.isView(data)) {
            const isTyped = tagGetter.call(data) !== undefined;
            const [buffer, offset, nbytes] = (isTyped ? TYPED : VIEW).map((get) => get.call(data));
            // A view that has lost its bytes is as short as an empty one, but cannot be searched.
            if (isTyped && nbytes === 0) indexOf.call(data, 0);
            return new Uint8Array(buffer, offset, nbytes);
        }
        if (isBuffer(data)) {
            const bytes = new Uint8Array(data);
            if (bytes.length === 0) indexOf.call(bytes, 0); // engines differ in whether the line above throws
            return bytes;
        }
    } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        throw new TypeError(`${what} has lost its bytes: its buffer was transferred or made smaller`);
    }
    const kind = data === null ? 'null' : Object.prototype.toString.call(data).slice(8, -1);
    throw new TypeError(`${what} is ${kind}: expected a string, an ArrayBuffer or a view of one`);
}

/** Like bytesOf, but an Uint8Array stays itself: a view of it takes as long as a short hash. Its length is lengthOf. */
function messageOf(data, what) {
    return tagGetter.call(data) === 'Uint8Array' && lengthOf(data) > 0 ? data : bytesOf(data, what);
}

/** The hexadecimal digits of bytes. */
function hexOf(bytes) {
    let text = '';
    for (let i = 0; i < bytes.length; i++) text += DIGITS[bytes[i]];
    return text;
}

/** One digest in the form that `output` names. */
function inForm(digest, output = 'bytes') {
    if (output === 'bytes') return digest;
    if (output === 'hex') return hexOf(digest);
    throw new RangeError(`no output ${String(output)}: expected bytes or hex`);
}

class Hashloom {
    #core;
    #algorithms = new Map();
    #heap;
    #bytes;
    #words;

    constructor(core) {
        this.#core = core;
        this.#heap = core.heap() + 63 & ~63;
        this.#refresh();
        for (let i = 0; i < core.hl_alg_count(); i++) {
            const [name, alg, , digestSize, blockSize, , , , , , ending] = this.#words.subarray(core.hl_alg_at(i) >> 2);
            let end = name;
            while (this.#bytes[end] !== 0) end++;
            const text = String.fromCharCode(...this.#bytes.subarray(name, end));
            this.#algorithms.set(text, { name: text, alg, digestSize, blockSize, isXof: ending === core.xof() });
        }
    }

    /** The names of all algorithms. */
    get algorithms() {
        return [...this.#algorithms.keys()];
    }

    /** Bytes in a digest. */
    digestSize(algorithm) {
        return this.#named(algorithm).digestSize;
    }

    /** Bytes in a block. */
    blockSize(algorithm) {
        return this.#named(algorithm).blockSize;
    }

    /** The digest of one message. */
    hash(algorithm, data, options) {
        if (options?.length !== undefined) {
            return inForm(this.many(algorithm, [data], { length: options.length })[0], options.output);
        }
        const { alg, digestSize } = this.#named(algorithm);
        const message = messageOf(data, 'data');
        const length = lengthOf(message);
        if (length > LONG_NBYTES) return inForm(this.many(algorithm, [message])[0], options?.output);
        const begin = this.#heap + DIGEST_MAX_NBYTES;
        this.#room(DIGEST_MAX_NBYTES + length);
        this.#bytes.set(message, begin);
        this.#check(this.#core.hl_hash(alg, begin, length, this.#heap));
        const digest = this.#bytes.slice(this.#heap, this.#heap + digestSize);
        return options === undefined ? digest : inForm(digest, options.output);
    }

    /** The digest of each message. */
    many(algorithm, messages, options = {}) {
        return this.#many(this.#digests(algorithm, options), messages, options);
    }

    /** The digest of each `rowLength` bytes of data. */
    rows(algorithm, data, rowLength, options = {}) {
        const bytes = bytesOf(data, 'data');
        if (!Number.isSafeInteger(rowLength) || rowLength < 1 || bytes.length % rowLength !== 0) {
            throw new RangeError(`${bytes.length} bytes are not a whole number of rows of ${rowLength} bytes`);
        }
        const rows = [];
        for (let at = 0; at < bytes.length; at += rowLength) rows.push(bytes.subarray(at, at + rowLength));
        return this.many(algorithm, rows, options);
    }

    /** The HMAC of one message. */
    hmac(algorithm, key, data, { output } = {}) {
        return inForm(this.hmacMany(algorithm, key, [data])[0], output);
    }

    /** The HMAC of each message. */
    hmacMany(algorithm, key, messages, options = {}) {
        return this.#many(this.#tags(algorithm, key), messages, options);
    }

    /** A hash of a message that arrives in parts. */
    createHash(algorithm) {
        return new Hash(this, this.#digests(algorithm, {}));
    }

    /** An HMAC of a message that arrives in parts. */
    createHmac(algorithm, key) {
        return new Hash(this, this.#tags(algorithm, key));
    }

    /** Gives each hash object its part, all side by side in lanes. The objects have one algorithm and are all different. */
    updateMany(hashes, chunks) {
        const objects = [...hashes];
        const parts = Array.from(chunks, (chunk, i) => bytesOf(chunk, `chunk ${i}`));
        if (objects.length !== parts.length) {
            throw new RangeError(`${objects.length} hash objects, but ${parts.length} chunks`);
        }
        if (new Set(objects).size !== objects.length) throw new RangeError('a hash object is there twice');
        for (const [i, object] of objects.entries()) {
            if (!(object instanceof Hash) || object[OWNER] !== this) {
                throw new TypeError(`hash object ${i} is not one of createHash or createHmac of this instance`);
            }
            if (object[KIND].functions !== objects[0][KIND].functions || object[KIND].alg !== objects[0][KIND].alg) {
                throw new TypeError(`hash object ${i} is of another algorithm than the first one`);
            }
        }
        if (objects.length > 0) this[UPDATE](objects, parts);
    }

    /** Whether both are equal, in a time that depends only on their lengths. */
    equal(a, b) {
        const [left, right] = [bytesOf(a, 'a'), bytesOf(b, 'b')];
        if (left.length !== right.length) return false;
        let difference = 0;
        for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i];
        return difference === 0;
    }

    /** Whether digests of an algorithm may have this number of bytes. */
    [CHECK_LENGTH](name, length) {
        const isXof = this.#algorithms.get(name)?.isXof;
        if (!isXof) throw new RangeError(`length is ${length}, but digests of ${name} have one length: leave it out`);
        if (!Number.isSafeInteger(length) || length < 1 || length > LENGTH_MAX) {
            throw new RangeError(`length is ${length}: expected 1 to ${LENGTH_MAX}`);
        }
    }

    #named(name) {
        const found = this.#algorithms.get(name);
        if (!found) throw new RangeError(`no algorithm ${String(name)}: expected ${this.algorithms.join(', ')}`);
        return found;
    }

    /** How an algorithm's digests are made. `length` is for digests of any length. */
    #digests(algorithm, { length }) {
        const { name, alg, digestSize } = this.#named(algorithm);
        if (length !== undefined) this[CHECK_LENGTH](name, length);
        const core = this.#core;
        return {
            name, alg, size: length ?? digestSize, isOther: length !== undefined, functions: core.hl_update_many, key: undefined,
            ctxSize: core.ctx_nbytes(alg),
            begin: (ctx) => core.begin(ctx, alg),
            whole: (slices, count, digests) => core.hl_hash_many(alg, slices, count, digests),
            updateMany: core.hl_update_many,
            finalMany: core.hl_final_many,
        };
    }

    #tags(algorithm, key) {
        const { alg, digestSize, isXof, name } = this.#named(algorithm);
        if (isXof) throw new RangeError(`HMAC is not defined for ${name}`);
        const core = this.#core;
        let secret = bytesOf(key, 'key');
        if (secret.length > LONG_NBYTES) secret = this.hash(name, secret); // as HMAC does with keys longer than a block
        const keySize = core.hmac_key_nbytes();
        const [at, secretAt] = [this.#heap, this.#heap + keySize];
        this.#room(keySize + secret.length);
        this.#bytes.set(secret, secretAt);
        this.#check(core.hl_hmac_key_init(at, alg, secretAt, secret.length));
        const kept = this.#bytes.slice(at, at + keySize);
        this.#bytes.fill(0, at, secretAt + secret.length);
        return {
            name: `hmac-${name}`, alg, size: digestSize, isOther: false, functions: core.hl_hmac_update_many, key: kept,
            ctxSize: core.hmac_ctx_nbytes(),
            begin: (ctx, keyAt) => core.hl_hmac_init(ctx, keyAt),
            whole: (slices, count, digests, keyAt) => core.hl_hmac_many(keyAt, slices, count, digests),
            updateMany: core.hl_hmac_update_many,
            finalMany: core.hl_hmac_final_many,
        };
    }

    #check(status) {
        if (status !== 0) {
            let [at, text] = [this.#core.hl_strerror(status), ''];
            for (; this.#bytes[at] !== 0; at++) text += String.fromCharCode(this.#bytes[at]);
            throw new Error(text);
        }
    }

    #refresh() {
        this.#bytes = new Uint8Array(this.#core.memory.buffer);
        this.#words = new Uint32Array(this.#core.memory.buffer);
    }

    /** Makes room for this number of bytes from the heap on. */
    #room(nbytes) {
        const missing = this.#heap + nbytes - this.#bytes.length;
        if (missing > 0) {
            this.#core.memory.grow(Math.ceil(missing / PAGE_NBYTES));
            this.#refresh();
        }
    }

    #many(kind, messages, { output = 'bytes' }) {
        if (!['bytes', 'hex', 'joined'].includes(output)) {
            throw new RangeError(`no output ${String(output)}: expected bytes, hex or joined`);
        }
        if (!Array.isArray(messages)) {
            if (typeof messages === 'string' || ArrayBuffer.isView(messages) || isBuffer(messages)) {
                throw new TypeError('messages is one message: give an array of messages, or call rows or hash');
            }
            if (typeof messages?.[Symbol.iterator] !== 'function') {
                throw new TypeError('messages is no array, and cannot be iterated: give an array of messages');
            }
        }
        // While the messages are collected, their buffers may still change. Afterwards no code but this runs.
        const list = Array.from(messages, (message, i) => messageOf(message, `message ${i}`));
        const lengths = Array(list.length);
        for (let i = 0; i < list.length; i++) {
            lengths[i] = lengthOf(list[i]);
            if (lengths[i] === 0) bytesOf(list[i], `message ${i}`);
        }
        const joined = new Uint8Array(list.length * kind.size);
        const long = [];
        for (let i = 0; i < list.length;) {
            let [end, nbytes] = [i, 0];
            while (end < list.length && end - i < BATCH && (end === i || nbytes + lengths[end] <= BATCH_NBYTES) &&
                lengths[end] < LONG_NBYTES) nbytes += lengths[end++];
            if (end === i || kind.isOther) {
                list[i] = bytesOf(list[i]);
                long.push(i++);
            } else {
                this.#batch(kind, list, lengths, i, end, nbytes, joined);
                i = end;
            }
        }
        if (long.length > 0) this.#long(kind, list, long, joined);
        if (output === 'joined') return joined;
        const digests = Array(list.length);
        for (let i = 0; i < digests.length; i++) {
            const digest = joined.subarray(i * kind.size, (i + 1) * kind.size);
            digests[i] = output === 'hex' ? hexOf(digest) : digest.slice();
        }
        return digests;
    }

    /** Whole messages, from `first` to before `end`. */
    #batch(kind, list, lengths, first, end, nbytes, joined) {
        const count = end - first;
        const keyAt = this.#heap;
        const slicesAt = keyAt + (kind.key?.length ?? 0);
        const digestsAt = slicesAt + 8 * count;
        const begin = digestsAt + count * kind.size;
        this.#room(begin - this.#heap + nbytes);
        const [bytes, words] = [this.#bytes, this.#words];
        if (kind.key) bytes.set(kind.key, keyAt);
        for (let i = first, at = begin, slice = slicesAt >> 2; i < end; i++) {
            const message = list[i];
            const length = lengths[i];
            words[slice++] = at;
            words[slice++] = length;
            if (length > 32) bytes.set(message, at);
            else for (let b = 0; b < length; b++) bytes[at + b] = message[b];
            at += length;
        }
        this.#check(kind.whole(slicesAt, count, digestsAt, keyAt));
        joined.set(bytes.subarray(digestsAt, begin), first * kind.size);
        if (kind.key) bytes.fill(0, keyAt, begin + nbytes);
    }

    /** Long messages, and those with digests of another length than usual: some side by side, a part of each at a time. */
    #long(kind, list, indices, joined) {
        const abreast = Math.min(ABREAST, indices.length);
        const objects = [];
        const next = indices.values();
        const add = () => {
            const { done, value: index } = next.next();
            if (!done) objects.push({ index, at: 0, hash: new Hash(this, kind) });
        };
        for (let i = 0; i < abreast; i++) add();
        const part = PARTS_NBYTES / abreast & ~127;
        while (objects.length > 0) {
            const chunks = objects.map(({ index, at }) => list[index].subarray(at, at + part));
            this[UPDATE](objects.map(({ hash }) => hash), chunks);
            for (let i = objects.length - 1; i >= 0; i--) {
                const { index, hash } = objects[i];
                objects[i].at += part;
                if (objects[i].at >= list[index].length) {
                    objects.splice(i, 1);
                    joined.set(hash.digest(), index * kind.size);
                    add();
                }
            }
        }
    }

    /** Appends to hash objects of one kind. */
    [UPDATE](objects, parts) {
        for (let i = 0; i < objects.length; i += BATCH) this.#update(objects.slice(i, i + BATCH), parts.slice(i, i + BATCH));
    }

    #update(objects, parts) {
        const kind = objects[0][KIND];
        const count = objects.length;
        const share = Math.max(128, PARTS_NBYTES / count & ~127);
        const longest = parts.reduce((most, part) => Math.max(most, part.length), 0);
        const size = kind.ctxSize + 15 & ~15;
        const slicesAt = this.#heap;
        const pointersAt = slicesAt + 8 * count;
        const ctxsAt = pointersAt + 4 * count + 15 & ~15;
        const begin = ctxsAt + size * count;
        this.#room(begin - this.#heap + Math.min(share, longest) * count);
        const [bytes, words] = [this.#bytes, this.#words];
        objects.forEach((object, i) => {
            words[(pointersAt >> 2) + i] = ctxsAt + i * size;
            bytes.set(object[STATE], ctxsAt + i * size);
        });
        for (let from = 0; from === 0 || from < longest; from += share) {
            let at = begin;
            for (let i = 0; i < count; i++) {
                const part = parts[i].subarray(from, from + share);
                words[(slicesAt >> 2) + 2 * i] = at;
                words[(slicesAt >> 2) + 2 * i + 1] = part.length;
                bytes.set(part, at);
                at += part.length;
            }
            this.#check(kind.updateMany(pointersAt, slicesAt, count));
        }
        objects.forEach((object, i) => {
            object[STATE].set(bytes.subarray(ctxsAt + i * size, ctxsAt + i * size + kind.ctxSize));
        });
        if (kind.key) bytes.fill(0, slicesAt, begin + Math.min(share, longest) * count);
    }

    [BEGIN](kind) {
        const at = this.#heap;
        const keyAt = at + kind.ctxSize + 15 & ~15;
        this.#room(keyAt - at + (kind.key?.length ?? 0));
        if (kind.key) this.#bytes.set(kind.key, keyAt);
        this.#check(kind.begin(at, keyAt));
        const state = this.#bytes.slice(at, at + kind.ctxSize);
        this.#bytes.fill(0, at, keyAt + (kind.key?.length ?? 0));
        return state;
    }

    [FINAL](kind, state, length) {
        const size = length ?? kind.size;
        const at = this.#heap;
        const pointerAt = at + kind.ctxSize + 15 & ~15;
        const digestAt = pointerAt + 16;
        this.#room(digestAt - at + size);
        this.#bytes.set(state, at);
        this.#words[pointerAt >> 2] = at;
        if (kind.isOther || length !== undefined) this.#check(this.#core.hl_squeeze(at, digestAt, size));
        else this.#check(kind.finalMany(pointerAt, 1, digestAt));
        const digest = this.#bytes.slice(digestAt, digestAt + size);
        this.#bytes.fill(0, at, digestAt + size);
        return digest;
    }
}

/** A hash of a message that arrives in parts. It may go on after a digest, and needs no end. */
class Hash {
    constructor(owner, kind, state = owner[BEGIN](kind)) {
        this[OWNER] = owner;
        this[KIND] = kind;
        this[STATE] = state;
    }

    /** Appends to the message. */
    update(data) {
        this[OWNER][UPDATE]([this], [bytesOf(data, 'data')]);
        return this;
    }

    /** The digest of the message so far. */
    digest({ output, length } = {}) {
        if (length !== undefined) this[OWNER][CHECK_LENGTH](this[KIND].name, length);
        const digest = this[OWNER][FINAL](this[KIND], this[STATE], length);
        return inForm(digest, output);
    }

    /** Another object in the same state. */
    copy() {
        return new Hash(this[OWNER], this[KIND], this[STATE].slice());
    }
}
