// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the package, run by test.py in Node and in a browser: digests beside those of the platform, of every length
// around blocks, any number of messages, long ones, streams and HMAC; the vectors of other packages; and what is
// refused.
import { hostile } from './hostile.mjs';

/** Throws at the first failure. `reference`: {digest(algorithm, bytes, length), hmac(algorithm, key, bytes)}, which may
 * be promises, of the algorithms in `names`. `vectors`: a list for each algorithm (vectors/npm). Returns the number of
 * comparisons. */
export async function test(load, { names, hmacNames, digest, hmac, vectors }) {
    let ncompared = 0;
    const same = (found, expected, what) => {
        ncompared++;
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
            throw new Error(`${what}: ${found} instead of ${expected}`);
        }
    };
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    let seed = 1;
    const random = (below) => (seed = seed * 48271 % 2147483647) % below;
    const pool = Uint8Array.from({ length: (4 << 20) + 1000 }, () => random(256));
    const bytes = (length) => {
        const at = random(pool.length - length + 1);
        return pool.slice(at, at + length);
    };
    const refused = (call, name, text) => {
        try {
            call();
        } catch (error) {
            if (error.name !== name || !error.message.includes(text)) throw error;
            ncompared++;
            return;
        }
        throw new Error(`not refused: ${call}`);
    };

    const hashloom = await load();
    same(await load() === hashloom, true, 'load again');
    same(hex(hashloom.hash('sha256', 'abc')).slice(0, 16), 'ba7816bf8f01cfea', 'abc');
    same(hashloom.hash('keccak-256', '', { output: 'hex' }).slice(0, 16), 'c5d2460186f7233c', 'keccak-256');
    for (const name of names) {
        const want = async (messages) => {
            const digests = [];
            for (const message of messages) digests.push(hex(await digest(name, message, hashloom.digestSize(name))));
            return digests;
        };
        const lengths = [...Array(2 * hashloom.blockSize(name) + 3).keys()];
        const ragged = Array.from({ length: 40 }, () => bytes(random(500)));
        // Longer than a part, several of them, beside short ones.
        const long = [1 << 18, 5, (1 << 18) + 1, (4 << 20) + 77, 0, 300_000].map(bytes);
        for (const messages of [lengths.map(bytes), ragged, long, [], [bytes(64)]]) {
            const expected = await want(messages);
            same(hashloom.many(name, messages, { output: 'hex' }), expected, `many, ${name}`);
            same(hashloom.many(name, messages.values()).map(hex), expected, `many, ${name}, an iterator`);
            same(hex(hashloom.many(name, messages, { output: 'joined' })), expected.join(''), `joined, ${name}`);
            same(messages.map((message) => hashloom.hash(name, message, { output: 'hex' })), expected, `hash, ${name}`);
            const hashes = messages.map(() => hashloom.createHash(name));
            const cut = messages.map((message) => random(message.length + 1));
            hashloom.updateMany(hashes, messages.map((message, i) => message.subarray(0, cut[i])));
            const copies = hashes.map((hash) => hash.copy());
            hashes.map((hash) => hash.digest());
            hashloom.updateMany(hashes, messages.map((message, i) => message.subarray(cut[i])));
            same(hashes.map((hash) => hash.digest({ output: 'hex' })), expected, `streams, ${name}`);
            copies.forEach((copy, i) => copy.update(messages[i].subarray(cut[i])));
            same(copies.map((copy) => hex(copy.digest())), expected, `copies, ${name}`);
        }
        const data = bytes(70 * 1000);
        const pieces = Array.from({ length: 70 }, (_, i) => data.subarray(1000 * i, 1000 * (i + 1)));
        same(hashloom.rows(name, data, 1000, { output: 'hex' }), await want(pieces), `rows, ${name}`);
        const short = Array.from({ length: 1000 }, (_, i) => data.subarray(7 * i, 7 * i + 7));
        same(hex(hashloom.rows(name, data.subarray(0, 7000), 7, { output: 'joined' })),
            (await want(short)).join(''), `short rows, ${name}`);
        const pair = 2 * hashloom.digestSize(name);
        const above = hashloom.rows(name, data.subarray(0, 33 * pair), pair, { output: 'joined' });
        same(hashloom.hashPairs(name, data.subarray(0, 33 * pair)), above, `pairs, ${name}`);
        const layer = data.slice(0, 33 * pair);
        const half = layer.subarray(0, above.length);
        same(hashloom.hashPairs(name, layer, half) === half && hex(half), hex(above), `pairs in place, ${name}`);
        if (name.startsWith('shake')) {
            for (const length of [1, 200, 5000]) {
                const expected = hex(await digest(name, pieces[1], length));
                same(hashloom.hash(name, pieces[1], { length, output: 'hex' }), expected, `${length} bytes`);
                same(hex(hashloom.createHash(name).update(pieces[1]).digest({ length })), expected, `${length} bytes`);
            }
        }
    }
    for (const name of hmacNames) {
        for (const key of [0, 1, 20, 200].map(bytes)) {
            const messages = [0, 1, 64, 333, 300_000].map(bytes);
            const expected = [];
            for (const message of messages) expected.push(hex(await hmac(name, key, message)));
            same(hashloom.hmacMany(name, key, messages, { output: 'hex' }), expected, `hmacMany, ${name}`);
            same(hex(hashloom.hmac(name, key, messages[3])), expected[3], `hmac, ${name}`);
            const running = hashloom.createHmac(name, key).update(messages[4].subarray(0, 1000));
            running.update(messages[4].subarray(1000));
            same(running.digest({ output: 'hex' }), expected[4], `createHmac, ${name}`);
        }
    }
    for (const [name, list] of vectors) {
        const [kind, keyed] = name.startsWith('hmac-') ? [name.slice(5), true] : [name, false];
        const messages = list.map(({ hex, unit, nbytes }) => {
            const shown = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
            if (unit === undefined) return shown(hex);
            const period = shown(unit);
            const message = new Uint8Array(nbytes);
            for (let at = 0; at < nbytes; at += period.length) message.set(period.subarray(0, nbytes - at), at);
            return message;
        });
        const expected = list.map(({ digest }) => digest);
        const form = kind.startsWith('shake') ? { output: 'hex', length: expected[0].length / 2 } : { output: 'hex' };
        const one = (message) => keyed ? hashloom.hmac(kind, '', message, form) : hashloom.hash(kind, message, form);
        same(messages.map(one), expected, `vectors of ${name}, one by one`);
        same(keyed ? hashloom.hmacMany(kind, '', messages, form) : hashloom.many(kind, messages, form), expected,
            `vectors of ${name}`);
        const parts = (message) => {
            const hash = keyed ? hashloom.createHmac(kind, '') : hashloom.createHash(kind);
            hash.update(message.subarray(0, 1)).update(message.subarray(1, 70));
            return hash.update(message.subarray(70)).digest(keyed ? { output: 'hex' } : form);
        };
        same(messages.map(parts), expected, `vectors of ${name}, in parts`);
    }
    hostile(hashloom, same, refused);
    // More pairs than fit the module at once, in place and at the end of their own bytes.
    const many = pool.slice(0, 64 * 65_000);
    const above = hashloom.hashPairs('sha256', many);
    for (const at of [0, 32 * 65_000, 99]) {
        const layer = many.slice();
        same(hashloom.equal(hashloom.hashPairs('sha256', layer, layer.subarray(at, at + above.length)), above), true,
            `pairs at ${at} of their bytes`);
    }
    // Merkle trees as hashloom.h defines them, node by node.
    const joined = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
    const sha256 = async (...parts) => new Uint8Array(await digest('sha256', joined(parts)));
    const rules = {
        rfc6962: [(left, right) => sha256([1], left, right), (odd) => odd],
        bitcoin: [async (left, right) => sha256(await sha256(left, right)), (odd, zeros, pair) => pair(odd, odd)],
        zeros: [sha256, (odd, zeros, pair) => pair(odd, zeros)],
    };
    for (const [rule, [pair, alone]] of Object.entries(rules)) {
        for (const count of [0, 1, 2, 3, 7, 32, 45]) {
            for (const depth of rule === 'zeros' ? [undefined, 6, 9] : [undefined]) {
                let nodes = Array.from({ length: count }, (_, i) => pool.subarray(32 * i, 32 * i + 32));
                let zeros = new Uint8Array(32);
                for (let height = 0; nodes.length > 1 || height < depth; height++) {
                    const pairs = nodes.filter((_, i) => i % 2 === 0);
                    nodes = await Promise.all(pairs.map((left, i) =>
                        2 * i + 1 < nodes.length ? pair(left, nodes[2 * i + 1]) : alone(left, zeros, pair)));
                    zeros = await pair(zeros, zeros);
                }
                const none = rule === 'rfc6962' ? await sha256() : zeros;
                const root = hashloom.merkleRoot(rule, pool.subarray(0, 32 * count), { depth, output: 'hex' });
                same(root, hex(nodes[0] ?? none), `root of ${count} leaves, ${rule}, depth ${depth}`);
            }
        }
    }
    // Views show some bytes of a buffer; text is UTF-8.
    const words = Uint16Array.of(1, 2, 3, 4);
    const shown = [new DataView(words.buffer, 2, 4), words.subarray(1, 3), new Uint8Array(words.buffer, 2, 4)];
    const digests = hashloom.many('sha1', shown, { output: 'hex' });
    same(new Set(digests).size, 1, 'views');
    same(hashloom.hash('sha1', 'é', { output: 'hex' }),
        hashloom.hash('sha1', Uint8Array.of(0xc3, 0xa9), { output: 'hex' }), 'UTF-8');
    same([hashloom.equal('a', Uint8Array.of(97)), hashloom.equal('a', 'b'), hashloom.equal('a', 'ab')],
        [true, false, false], 'equal');

    const streamed = hashloom.createHash('sha256');
    const reader = new Blob([pool]).stream().getReader();
    for (let part; !(part = await reader.read()).done;) streamed.update(part.value);
    same(streamed.digest({ output: 'hex' }), hashloom.hash('sha256', pool, { output: 'hex' }), 'a Blob');

    const hash = hashloom.createHash('sha1');
    refused(() => hashloom.hash('sha257', ''), 'RangeError', 'no algorithm sha257');
    refused(() => hashloom.many('sha1', 'abc'), 'TypeError', 'messages is one message');
    refused(() => hashloom.many('sha1', ['abc', 5]), 'TypeError', 'message 1 is Number');
    refused(() => hashloom.hash('sha1', null), 'TypeError', 'data is null');
    refused(() => hashloom.hash('sha1', '', { output: 'base64' }), 'RangeError', 'no output base64');
    refused(() => hashloom.many('sha1', [], { output: 'base64' }), 'RangeError', 'no output base64');
    refused(() => hashloom.hash('sha1', '', { length: 5 }), 'RangeError', 'leave it out');
    refused(() => hashloom.hash('shake128', '', { length: 0 }), 'RangeError', 'length is 0');
    refused(() => hashloom.createHmac('sha1', 'k').digest({ length: 5 }), 'RangeError', 'leave it out');
    refused(() => hashloom.hmac('shake128', 'k', ''), 'RangeError', 'HMAC is not defined');
    refused(() => hashloom.rows('sha1', 'abc', 2), 'RangeError', 'whole number of rows');
    refused(() => hashloom.rows('sha1', 'abc', 0), 'RangeError', 'whole number of rows');
    refused(() => hashloom.hashPairs('sha1', new Uint8Array(41)), 'RangeError', 'whole number of rows of 40');
    refused(() => hashloom.hashPairs('sha1', '0'.repeat(40)), 'TypeError', 'data is String');
    refused(() => hashloom.hashPairs('sha1', new Uint8Array(80), new Uint8Array(20)), 'RangeError', 'expected 40');
    refused(() => hashloom.hashPairs('sha1', new Uint8Array(80), new DataView(new ArrayBuffer(40))), 'TypeError',
        'a Uint8Array');
    refused(() => hashloom.merkleRoot('sha256', pool.subarray(0, 64)), 'RangeError', 'no rule sha256');
    refused(() => hashloom.merkleRoot('zeros', '0'.repeat(64)), 'TypeError', 'leaves is String');
    refused(() => hashloom.merkleRoot('zeros', new Uint8Array(33)), 'RangeError', 'whole number of rows of 32');
    refused(() => hashloom.merkleRoot('bitcoin', pool.subarray(0, 64), { depth: 1 }), 'RangeError', 'leave it out');
    for (const depth of [-1, 1.5, NaN, 65, 1, 0, '9', null, 9n]) {
        refused(() => hashloom.merkleRoot('zeros', pool.subarray(0, 96), { depth }), 'RangeError',
            'with room for 3 leaves');
    }
    refused(() => hashloom.updateMany([hash, hash], ['', '']), 'RangeError', 'twice');
    refused(() => hashloom.updateMany([hash], []), 'RangeError', '1 hash objects, but 0 chunks');
    refused(() => hashloom.updateMany([hash, hashloom.createHash('md5')], ['', '']), 'TypeError', 'another algorithm');
    const mac = hashloom.createHmac('sha1', '');
    refused(() => hashloom.updateMany([hash, mac], ['', '']), 'TypeError', 'another algorithm');
    refused(() => hashloom.updateMany([{}], ['']), 'TypeError', 'hash object 0 is not one');
    same(hash.digest({ output: 'hex' }).slice(0, 8), 'da39a3ee', 'a refused call changes nothing');
    return ncompared;
}
