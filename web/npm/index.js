// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Hashes many messages at once: the core in WebAssembly, four lanes of SIMD side by side.
//
//   const hashloom = await load();
//   hashloom.many('sha256', ['abc', new Uint8Array(5)], { output: 'hex' });
//
// Each call copies messages into the module's memory, from `heap` on, and digests out of it. Nothing stays there: a
// hash object keeps its state in JavaScript, so it needs no end. All calls are synchronous and do not nest.

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
/** Bytes of a part of one message: more leave the core's nearest caches while they are copied. */
const PART_NBYTES = 64 << 10;
/** Long messages side by side: lanes are four or five, in few cases two, three or eight. */
const ABREAST = 20;

const PAGE_NBYTES = 1 << 16;
/** The addon's memory at first, which the system gives as it is used: more than all calls but merkleRoot take. */
const ADDON_NBYTES = 8 << 20;
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** What `output` may be. */
const [ONE, MANY] = [['bytes', 'hex'], ['bytes', 'hex', 'joined']];
const DEFAULTS = { output: 'bytes', length: undefined, depth: undefined };
/** Rules of Merkle trees, as hashloom.h numbers them. */
const RULES = new Map([['rfc6962', 1], ['bitcoin', 2], ['zeros', 3]]);
const NODE_NBYTES = 32;
const DEPTH_MAX = 64;
const encoder = new TextEncoder();

// Names of properties that only the classes below can read.
const [OWNER, KIND, STATE] = [Symbol('owner'), Symbol('kind'), Symbol('state')];
const [UPDATE, BEGIN, FINAL, CHECK_LENGTH] = ['update', 'begin', 'final', 'length'].map(Symbol);

let loaded;
let native, inflate;

/** Called by node.js alone: the addon, or null, and zlib's inflateSync. */
export function use(addon, inflateSync) {
    [native, inflate] = [addon, inflateSync];
}

/** Compiles the module, once in each thread. */
export async function load(...none) {
    only(0, none);
    if (!loaded) {
        loaded = start();
        // A failure, such as a policy of the page, may be mended: the next call tries again.
        loaded.catch(() => { loaded = undefined; });
    }
    return loaded;
}

async function start() {
    if (native) {
        const memory = {
            buffer: native.memory(ADDON_NBYTES),
            grow(npages) { this.buffer = native.memory(this.buffer.byteLength + npages * PAGE_NBYTES); },
        };
        return new Hashloom({ ...native, memory });
    }
    const { default: text } = await import('./module.js');
    if (inflate) {
        // Node 20, one CPU: 10 ms in all. By streams it takes 70 ms, and the call below compiles all functions at once.
        const compiled = new WebAssembly.Module(inflate(globalThis.Buffer.from(text, 'base64')));
        return new Hashloom(new WebAssembly.Instance(compiled, {}).exports);
    }
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), {});
    return new Hashloom(instance.exports);
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

/** What a value is, in an error's text. It may be a secret: not the value itself. */
function kindOf(value) {
    if (value === null) return 'null';
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    return typeof value === 'object' ? `${kind} object` : kind;
}

/** A name or a number in an error's text. */
const shown = (value) => ['object', 'function'].includes(typeof value) ? kindOf(value) : String(value).slice(0, 50);

/** Refuses arguments behind the `count` that a call takes: those of node:crypto's calls mean something there. */
function only(count, others) {
    const i = others.length === 0 ? -1 : others.findIndex((other) => other !== undefined);
    if (i >= 0) {
        throw new TypeError(`argument ${count + i + 1} is ${kindOf(others[i])}: expected at most ${count} ` +
            "(texts are UTF-8, { output: 'hex' } tells a digest's form)");
    }
}

/** The options of a call, each read once. `forms`: what its output may be; `more`: another option that it takes. */
function optionsOf(given, forms, more) {
    if (given === undefined) return DEFAULTS;
    const above = typeof given === 'object' && given !== null && Object.getPrototypeOf(given);
    if (above === false || (above !== null && Object.getPrototypeOf(above) !== null)) {
        throw new TypeError(`options is ${kindOf(given)}: expected a plain object, such as { output: 'hex' }`);
    }
    const options = { ...DEFAULTS };
    for (const name of Object.keys(given)) {
        if (name !== 'output' && name !== more) {
            throw new TypeError(`no option ${shown(name)}: expected output${more ? ` or ${more}` : ''}`);
        }
        const value = given[name];
        if (value !== undefined) options[name] = value;
    }
    if (!forms.includes(options.output)) {
        throw new RangeError(`no output ${shown(options.output)}: expected ${forms.join(' or ')}`);
    }
    return options;
}

/** The members of an array or of another iterable, which is no message. No code but this module's runs afterwards. */
function listOf(list, what, of) {
    if (!Array.isArray(list)) {
        if (typeof list === 'string' || ArrayBuffer.isView(list) || isBuffer(list)) {
            throw new TypeError(`${what} is one message: give an array of ${of}`);
        }
        if (typeof list?.[Symbol.iterator] !== 'function') {
            throw new TypeError(`${what} is no array, and cannot be iterated: give an array of ${of}`);
        }
    }
    return Array.from(list);
}

/** The bytes of a message: text is UTF-8, a view has the bytes that it shows. */
function bytesOf(data, what, i = '') {
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
        throw new TypeError(`${what}${i} has lost its bytes: its buffer was transferred or made smaller`);
    }
    throw new TypeError(`${what}${i} is ${kindOf(data)}: expected a string, an ArrayBuffer or a view of one`);
}

/** Like bytesOf, but an Uint8Array stays itself: a view of it takes as long as a short hash. Its length is lengthOf. */
function messageOf(data, what, i) {
    return tagGetter.call(data) === 'Uint8Array' && lengthOf(data) > 0 ? data : bytesOf(data, what, i);
}

/** The hexadecimal digits of bytes. */
function hexOf(bytes) {
    let text = '';
    for (let i = 0; i < bytes.length; i++) text += DIGITS[bytes[i]];
    return text;
}

/** One digest in the form that `output` names. */
const inForm = (digest, output) => output === 'hex' ? hexOf(digest) : digest;

/** Digests of `size` bytes each in the form that `output` names. */
function allInForm(joined, size, output) {
    if (output === 'joined') return joined;
    const digests = Array(joined.length / size);
    for (let i = 0; i < digests.length; i++) {
        digests[i] = inForm(joined.slice(i * size, (i + 1) * size), output);
    }
    return digests;
}

/** Bytes that are no text: its digits would be taken for nodes. */
function nodesOf(data, what) {
    if (typeof data === 'string') throw new TypeError(`${what} is String: expected an ArrayBuffer or a view of one`);
    return bytesOf(data, what);
}

/** The rows in bytes. */
function countRows({ length }, rowLength) {
    if (!Number.isSafeInteger(rowLength) || rowLength < 1 || length % rowLength !== 0) {
        throw new RangeError(`${length} bytes are not a whole number of rows of ${shown(rowLength)} bytes`);
    }
    return length / rowLength;
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
            core.describe(i, this.#heap);
            const [alg, digestSize, blockSize, isXof] = [0, 1, 2, 3].map((i) => this.#words[(this.#heap >> 2) + i]);
            const name = this.#text(this.#heap + 16);
            this.#algorithms.set(name, { name, alg, digestSize, blockSize, isXof: isXof === 1 });
        }
    }

    /** What computes: `wasm`, or `native`, the addon for Node. */
    get engine() {
        return this.#core.hash_view ? 'native' : 'wasm';
    }

    /** The names of all algorithms. */
    get algorithms() {
        return [...this.#algorithms.keys()];
    }

    /** Bytes in a digest. */
    digestSize(algorithm, ...none) {
        only(1, none);
        return this.#named(algorithm).digestSize;
    }

    /** Bytes in a block. */
    blockSize(algorithm, ...none) {
        only(1, none);
        return this.#named(algorithm).blockSize;
    }

    /** The digest of one message. */
    hash(algorithm, data, options, ...none) {
        only(3, none);
        const { output, length: size } = optionsOf(options, ONE, 'length');
        const { alg, digestSize } = this.#named(algorithm);
        const message = messageOf(data, 'data');
        const length = lengthOf(message);
        if (size !== undefined || (length > PART_NBYTES && !this.#core.hash_view)) {
            return inForm(this.#many(this.#digests(algorithm, size), [message], 'joined'), output);
        }
        if (this.#core.hash_view) {
            this.#check(this.#core.hash_view(alg, message, this.#heap));
        } else {
            const begin = this.#heap + DIGEST_MAX_NBYTES;
            this.#room(DIGEST_MAX_NBYTES + length);
            this.#bytes.set(message, begin);
            this.#check(this.#core.hl_hash(alg, begin, length, this.#heap));
        }
        return inForm(this.#bytes.slice(this.#heap, this.#heap + digestSize), output);
    }

    /** The digest of each message. */
    many(algorithm, messages, options, ...none) {
        only(3, none);
        const { output, length } = optionsOf(options, MANY, 'length');
        const kind = this.#digests(algorithm, length);
        return this.#many(kind, listOf(messages, 'messages', 'messages, or call hash or rows'), output);
    }

    /** The digest of each `rowLength` bytes of data. */
    rows(algorithm, data, rowLength, options, ...none) {
        only(4, none);
        const { output, length } = optionsOf(options, MANY, 'length');
        const kind = this.#digests(algorithm, length);
        const bytes = bytesOf(data, 'data');
        const joined = new Uint8Array(countRows(bytes, rowLength) * kind.size);
        if (rowLength < LONG_NBYTES && !kind.isOther) {
            this.#rows(kind, bytes, rowLength, joined);
        } else {
            const list = [];
            for (let at = 0; at < bytes.length; at += rowLength) list.push(bytes.subarray(at, at + rowLength));
            this.#long(kind, list, [...list.keys()], joined);
        }
        return allInForm(joined, kind.size, output);
    }

    /** Digests of pairs of digests, in `out`, which may be the data's first half. */
    hashPairs(algorithm, data, out, ...none) {
        only(3, none);
        const kind = this.#digests(algorithm);
        const bytes = nodesOf(data, 'data');
        const nbytes = countRows(bytes, 2 * kind.size) * kind.size;
        if (out === undefined) out = new Uint8Array(nbytes);
        if (tagGetter.call(out) !== 'Uint8Array') throw new TypeError(`out is ${kindOf(out)}: expected a Uint8Array`);
        const to = bytesOf(out, 'out');
        if (to.length !== nbytes) throw new RangeError(`out has ${to.length} bytes: expected ${nbytes}`);
        this.#rows(kind, bytes, 2 * kind.size, to);
        return out;
    }

    /** The root of a Merkle tree of SHA-256 above leaves of 32 bytes, side by side. */
    merkleRoot(rule, leaves, options, ...none) {
        only(3, none);
        const { output, depth } = optionsOf(options, ONE, 'depth');
        const number = RULES.get(rule);
        if (number === undefined) {
            throw new RangeError(`no rule ${shown(rule)}: expected ${[...RULES.keys()].join(', ')}`);
        }
        const bytes = nodesOf(leaves, 'leaves');
        const count = countRows(bytes, NODE_NBYTES);
        if (depth !== undefined) {
            const is = `depth is ${shown(depth)}`;
            if (rule !== 'zeros') throw new RangeError(`${is}, but only zeros have one: leave it out`);
            if (!Number.isSafeInteger(depth) || depth < 0 || depth > DEPTH_MAX || count > 2 ** depth) {
                throw new RangeError(`${is}: expected 0 to ${DEPTH_MAX}, with room for ${count} leaves`);
            }
        }
        const begin = this.#heap + NODE_NBYTES;
        this.#room(NODE_NBYTES + bytes.length);
        this.#bytes.set(bytes, begin);
        this.#check(this.#core.merkle_root(number, depth ?? 0, begin, count, this.#heap));
        return inForm(this.#bytes.slice(this.#heap, begin), output);
    }

    /** The HMAC of one message. */
    hmac(algorithm, key, data, options, ...none) {
        only(4, none);
        const { output } = optionsOf(options, ONE);
        const kind = this.#tags(algorithm, key);
        return inForm(this.#many(kind, [messageOf(data, 'data')], 'joined'), output);
    }

    /** The HMAC of each message. */
    hmacMany(algorithm, key, messages, options, ...none) {
        only(4, none);
        const { output } = optionsOf(options, MANY);
        const kind = this.#tags(algorithm, key);
        return this.#many(kind, listOf(messages, 'messages', 'messages, or call hmac'), output);
    }

    /** A hash of a message that arrives in parts. */
    createHash(algorithm, ...none) {
        only(1, none);
        return new Hash(this, this.#digests(algorithm));
    }

    /** An HMAC of a message that arrives in parts. */
    createHmac(algorithm, key, ...none) {
        only(2, none);
        return new Hash(this, this.#tags(algorithm, key));
    }

    /** Gives each hash object its part, side by side in lanes. The objects have one algorithm and are all different. */
    updateMany(hashes, chunks, ...none) {
        only(2, none);
        const objects = listOf(hashes, 'hashes', 'hash objects');
        const parts = listOf(chunks, 'chunks', 'chunks').map((chunk, i) => messageOf(chunk, 'chunk ', i));
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
    equal(a, b, ...none) {
        only(2, none);
        const [left, right] = [bytesOf(a, 'a'), bytesOf(b, 'b')];
        if (left.length !== right.length) return false;
        let difference = 0;
        for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i];
        return difference === 0;
    }

    /** Whether digests of an algorithm may have this number of bytes. */
    [CHECK_LENGTH](name, length) {
        const isXof = this.#algorithms.get(name)?.isXof;
        const is = `length is ${shown(length)}`;
        if (!isXof) throw new RangeError(`${is}, but digests of ${name} have one length: leave it out`);
        if (!Number.isSafeInteger(length) || length < 1 || length > LENGTH_MAX) {
            throw new RangeError(`${is}: expected 1 to ${LENGTH_MAX}`);
        }
    }

    #named(name) {
        const found = this.#algorithms.get(name);
        if (!found) throw new RangeError(`no algorithm ${shown(name)}: expected ${this.algorithms.join(', ')}`);
        return found;
    }

    /** How an algorithm's digests are made. `length` is for digests of any length. */
    #digests(algorithm, length) {
        const { name, alg, digestSize } = this.#named(algorithm);
        if (length !== undefined) this[CHECK_LENGTH](name, length);
        const core = this.#core;
        return {
            name, alg, size: length ?? digestSize, isOther: length !== undefined, functions: core.hl_update_many,
            key: undefined, ctxSize: core.ctx_nbytes(alg),
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
            this.#core.explain(status, this.#heap);
            throw new Error(this.#text(this.#heap));
        }
    }

    #text(at) {
        let text = '';
        for (let i = at; this.#bytes[i] !== 0; i++) text += String.fromCharCode(this.#bytes[i]);
        return text;
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

    #many(kind, list, output) {
        const lengths = Array(list.length);
        for (let i = 0; i < list.length; i++) lengths[i] = lengthOf(list[i] = messageOf(list[i], 'message ', i));
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
        return allInForm(joined, kind.size, output);
    }

    /** Rows of one length, with digests of the usual one. */
    #rows({ alg, size }, bytes, rowLength, to) {
        const atOnce = Math.ceil(BATCH_NBYTES / (rowLength + size));
        const count = to.length / size;
        // The digests may come where later rows are.
        const isLater = to.buffer === bytes.buffer && to.byteOffset > bytes.byteOffset;
        const joined = isLater ? new Uint8Array(to.length) : to;
        if (this.#core.rows_view) this.#check(this.#core.rows_view(alg, bytes, rowLength, joined));
        else for (let i = 0; i < count; i += atOnce) {
            const n = Math.min(atOnce, count - i);
            const begin = this.#heap + n * size;
            this.#room(n * (size + rowLength));
            this.#bytes.set(bytes.subarray(i * rowLength, (i + n) * rowLength), begin);
            this.#check(this.#core.hl_hash_rows(alg, begin, rowLength, rowLength, n, this.#heap));
            joined.set(this.#bytes.subarray(this.#heap, begin), i * size);
        }
        if (joined !== to) to.set(joined);
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

    /** Long messages, and those with digests of an unusual length: some side by side, a part of each at a time. */
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
        for (let i = 0; i < objects.length; i += BATCH) {
            this.#update(objects.slice(i, i + BATCH), parts.slice(i, i + BATCH));
        }
    }

    #update(objects, parts) {
        const kind = objects[0][KIND];
        const count = objects.length;
        const share = Math.max(128, Math.min(PART_NBYTES, PARTS_NBYTES / count) & ~127);
        const lengths = parts.map(lengthOf);
        const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
        if (longest > share) parts = parts.map((part) => bytesOf(part)); // others need no views
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
                const part = longest > share ? parts[i].subarray(from, from + share) : parts[i];
                const length = Math.max(0, Math.min(share, lengths[i] - from));
                words[(slicesAt >> 2) + 2 * i] = at;
                words[(slicesAt >> 2) + 2 * i + 1] = length;
                bytes.set(part, at);
                at += length;
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
    update(data, ...none) {
        only(1, none);
        this[OWNER][UPDATE]([this], [messageOf(data, 'data')]);
        return this;
    }

    /** The digest of the message so far. */
    digest(options, ...none) {
        only(1, none);
        const { output, length } = optionsOf(options, ONE, 'length');
        if (length !== undefined) this[OWNER][CHECK_LENGTH](this[KIND].name, length);
        const digest = this[OWNER][FINAL](this[KIND], this[STATE], length);
        return inForm(digest, output);
    }

    /** Streams of Node call these two of what they are piped to. */
    on() {
        throw new TypeError('a hash is no stream: for await (const chunk of stream) hash.update(chunk)');
    }

    write() {
        this.on();
    }

    /** Another object in the same state. */
    copy(...none) {
        only(0, none);
        return new Hash(this[OWNER], this[KIND], this[STATE].slice());
    }
}
