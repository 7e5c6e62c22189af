// SPDX-License-Identifier: MIT OR Apache-2.0
// Arguments that lie or change while a call runs, run by test.mjs. One question: was a digest returned that is not that
// of the bytes that the message shows?

/** `same(found, expected, what)` and `refused(call, error, text)` throw at the first failure. */
export function hostile(hashloom, same, refused) {
    const hex = { output: 'hex' };
    const abc = () => Uint8Array.of(97, 98, 99);
    const ofAbc = hashloom.hash('sha1', 'abc', hex);
    const ofNothing = hashloom.hash('sha1', '', hex);
    same([ofAbc.slice(0, 8), ofNothing.slice(0, 8)], ['a9993e36', 'da39a3ee'], 'SHA-1');
    const all = (data, expected, what) => {
        same(hashloom.hash('sha1', data, hex), expected, `hash, ${what}`);
        same(hashloom.many('sha1', ['x', data, 'y'], hex)[1], expected, `many, ${what}`);
        same(hashloom.createHash('sha1').update(data).digest(hex), expected, `update, ${what}`);
    };
    const none = (data, text) => {
        refused(() => hashloom.hash('sha1', data), 'TypeError', text);
        refused(() => hashloom.many('sha1', ['x', data]), 'TypeError', text);
        refused(() => hashloom.createHash('sha1').update(data), 'TypeError', text);
        refused(() => hashloom.hmac('sha1', data, 'abc'), 'TypeError', text);
        refused(() => hashloom.equal(data, data), 'TypeError', text);
    };

    // Views that lie about their bytes.
    class Short extends Uint8Array {
        get length() { return 1; }
        get byteLength() { return 1 << 30; }
        subarray() { return new Uint8Array(9); }
        static get [Symbol.species]() { throw new Error('species'); }
    }
    all(Short.of(97, 98, 99), ofAbc, 'a subclass');
    const long = new Uint8Array(700_000).fill(7);
    const shortLong = new Short(700_000).fill(7);
    all(shortLong, hashloom.hash('sha1', long, hex), 'a long subclass');
    same(hashloom.rows('sha1', Short.of(97, 98, 99), 3, hex), [ofAbc], 'rows of a subclass');
    same(hashloom.equal(Short.of(1, 2), Short.of(1, 3)), false, 'equal with lengths that lie');
    all(Object.defineProperty(abc(), 'length', { value: 1000 }), ofAbc, 'a length of its own');
    all(Object.setPrototypeOf(abc(), null), ofAbc, 'a view without a prototype');
    all(Object.setPrototypeOf(new Uint16Array(abc().slice(0, 2).buffer), Uint8Array.prototype),
        hashloom.hash('sha1', 'ab', hex), 'words that say they are bytes');
    none(new Proxy(abc(), {}), 'is Object');
    none({ [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 3 }, 'is ArrayBuffer');
    none(Object.create(ArrayBuffer.prototype), 'is ArrayBuffer');
    none({ length: 3, 0: 97, 1: 98, 2: 99 }, 'is Object');
    none([97, 98, 99], 'is Array');
    none(undefined, 'is Undefined');
    if (typeof SharedArrayBuffer !== 'undefined') {
        const shared = new Uint8Array(new SharedArrayBuffer(3));
        shared.set(abc());
        all(shared, ofAbc, 'shared');
        all(shared.buffer, ofAbc, 'a shared buffer');
        refused(() => hashloom.many('sha1', shared.buffer), 'TypeError', 'one message');
    }

    // Buffers that go, before a call and within it.
    const gone = (view) => {
        structuredClone(view.buffer, { transfer: [view.buffer] });
        return view;
    };
    none(gone(abc()), 'has lost its bytes');
    none(gone(new DataView(new ArrayBuffer(3))), 'has lost its bytes');
    none(gone(abc()).buffer, 'has lost its bytes');
    const victim = abc();
    refused(() => hashloom.many('sha1', (function* () {
        yield victim;
        gone(victim);
        yield 'x';
    })()), 'TypeError', 'message 0 has lost its bytes');
    all(new Uint8Array(0), ofNothing, 'an empty view');
    if (ArrayBuffer.prototype.resize) {
        const buffer = new ArrayBuffer(3, { maxByteLength: 1 << 20 });
        const [tracking, fixed] = [new Uint8Array(buffer), new Uint8Array(buffer, 0, 3)];
        tracking.set(abc());
        all(tracking, ofAbc, 'resizable');
        same(hashloom.many('sha1', (function* () {
            yield tracking;
            buffer.resize(1 << 20);
            yield fixed;
        })(), hex), [hashloom.hash('sha1', tracking, hex), ofAbc], 'a buffer that grows');
        buffer.resize(2);
        all(tracking, hashloom.hash('sha1', 'ab', hex), 'a buffer that shrank');
        none(fixed, 'has lost its bytes');
        const hash = hashloom.createHash('sha1').update(tracking);
        buffer.resize(0);
        same(hash.digest(hex), hashloom.hash('sha1', 'ab', hex), 'a part that is gone');
    }

    // Code that runs within a call, and calls.
    const nested = hashloom.createHash('sha1');
    same(hashloom.many('sha1', (function* () {
        yield 'abc';
        nested.update('a');
        hashloom.hmacMany('sha512', 'key', ['x'.repeat(5000), 'y']);
        yield nested.update('bc').digest(hex);
    })(), hex), [ofAbc, hashloom.hash('sha1', ofAbc, hex)], 'calls within a call');
    same(hashloom.hmacMany('sha1', 'key', (function* () {
        hashloom.hmac('sha1', 'another key', 'abc');
        yield 'abc';
    })(), hex), [hashloom.hmac('sha1', 'key', 'abc', hex)], 'another key within a call');
    refused(() => hashloom.many('sha1', (function* () {
        yield 'abc';
        throw new RangeError('mine');
    })()), 'RangeError', 'mine');
    const messages = ['abc', 'x', 'y'];
    messages[Symbol.iterator] = function* () {
        messages.length = 0;
        yield 'abc';
    };
    same(hashloom.many('sha1', messages, hex), [ofAbc], 'an iterator of its own');
    let asked = 0;
    const lying = { get length() { return [20, undefined, -1][asked++]; } };
    same(hashloom.hash('shake128', 'abc', lying).length, 20, 'a length that changes');

    refused(() => hashloom.many('sha1', {}), 'TypeError', 'no array');
    refused(() => hashloom.many('sha1', 5), 'TypeError', 'no array');
    refused(() => hashloom.many('sha1', [, 'abc']), 'TypeError', 'message 0 is Undefined');
    refused(() => hashloom.many('sha1', new ArrayBuffer(3)), 'TypeError', 'one message');
    for (const length of [NaN, -1, 0, 1.5, Infinity, 2 ** 53, '3', null, 3n]) {
        refused(() => hashloom.rows('sha1', 'abc', length), 'RangeError', 'rows of');
        refused(() => hashloom.hash('shake128', 'abc', { length }), 'RangeError', 'expected 1 to');
    }
    for (const name of ['__proto__', 'constructor', 'SHA1', '', null, undefined, 1, Symbol('sha1'), ['sha1']]) {
        refused(() => hashloom.hash(name, 'abc'), 'RangeError', 'no algorithm');
    }

    // Habits of node:crypto and slips that once gave another result without a word: arguments too many, options that
    // are no plain object or that the call does not know, texts in place of lists.
    const [stream, mac] = [hashloom.createHash('shake256'), hashloom.createHmac('sha1', 'key')];
    const calls = {
        digestSize: ['sha1'], blockSize: ['sha1'], createHash: ['shake256'], createHmac: ['sha1', 'key'],
        equal: ['a', 'a'], updateMany: [[], []], hashPairs: ['sha1', new Uint8Array(40), new Uint8Array(20)],
    };
    const optional = {
        hash: ['shake128', 'a'], many: ['shake128', ['a']], rows: ['shake128', 'a', 1], hmac: ['sha1', 'key', 'a'],
        hmacMany: ['sha1', 'key', ['a']], merkleRoot: ['zeros', new Uint8Array(64)],
    };
    const others = [5, 'hex', null, { output: 'hex' }, () => 0];
    const surplus = [...Object.entries(calls).map(([name, given]) => (other) => hashloom[name](...given, other)),
        ...Object.entries(optional).map(([name, given]) => (other) => hashloom[name](...given, undefined, other)),
        (other) => stream.update('a', other), (other) => stream.digest({}, other), (other) => stream.copy(other)];
    for (const call of surplus) {
        for (const other of others) refused(() => call(other), 'TypeError', 'expected at most');
        call(undefined);
    }
    const withOptions = [
        ...Object.entries(optional).map(([name, given]) => (options) => hashloom[name](...given, options)),
        (options) => stream.digest(options), (options) => mac.digest(options)];
    class Options { output = 'hex'; }
    for (const call of withOptions) {
        for (const options of ['hex', 'base64', '', new String('hex'), 3, 20n, null, true, ['hex'], new Map(),
            new Date(), new Uint8Array(4), () => 'hex', Symbol('hex'), new Options(), Object.create(hex)]) {
            refused(() => call(options), 'TypeError', 'expected a plain object');
        }
        for (const name of ['outputs', 'encoding', 'outputLength', '', 'Output']) {
            refused(() => call({ [name]: undefined }), 'TypeError', `no option ${name}`);
        }
        refused(() => call({ output: 'base64' }), 'RangeError', 'no output base64');
        refused(() => call({ output: new String('hex') }), 'RangeError', 'no output String object');
        refused(() => call({ output: null }), 'RangeError', 'no output null');
        call({ output: undefined });
        call({ __proto__: null, output: 'hex' });
    }
    for (const name of ['hash', 'hmac', 'merkleRoot']) {
        refused(() => hashloom[name](...optional[name], { output: 'joined' }), 'RangeError', 'no output joined');
    }
    refused(() => hashloom.hmac('sha1', 'key', 'a', { length: 20 }), 'TypeError', 'no option length');
    refused(() => hashloom.hmacMany('sha1', 'key', ['a'], { length: 20 }), 'TypeError', 'no option length');
    none(new String('abc'), 'is String object');
    none(5n, 'is BigInt');
    const three = [stream, stream.copy(), stream.copy()];
    refused(() => hashloom.updateMany(three, 'abc'), 'TypeError', 'chunks is one message');
    refused(() => hashloom.updateMany([stream], abc()), 'TypeError', 'chunks is one message');
    refused(() => hashloom.updateMany(stream, ['a']), 'TypeError', 'hashes is no array');
    refused(() => hashloom.hmacMany('sha1', 'key', 'abc'), 'TypeError', 'messages is one message');
    const part = abc();
    refused(() => hashloom.updateMany([stream, stream.copy()], (function* () {
        yield part;
        gone(part);
        yield 'x';
    })()), 'TypeError', 'chunk 0 has lost its bytes');
    const out = new Short(20);
    const pair = new Uint8Array(40);
    same(hashloom.equal(hashloom.hashPairs('sha1', pair, out), hashloom.hash('sha1', pair)), true, 'an out that lies');
    refused(() => hashloom.hashPairs('sha1', pair, gone(new Uint8Array(20))), 'TypeError', 'out has lost');

    // A digest ends nothing: hashes go on, and copies are apart.
    const hash = hashloom.createHash('sha1').update('ab');
    const copy = hash.copy();
    same([hash.digest(hex), hash.digest(hex)], Array(2).fill(hashloom.hash('sha1', 'ab', hex)), 'digest twice');
    same([hash.copy().update('c').digest(hex), copy.update('c').digest(hex)], [ofAbc, ofAbc], 'copies');
    same(hash.digest(hex), hashloom.hash('sha1', 'ab', hex), 'the hash itself');
    // A key longer than the module's parts, many objects at once, and digests that do not fit memory.
    const shortened = hashloom.hash('sha1', long);
    same(hashloom.hmac('sha1', long, 'abc', hex), hashloom.hmac('sha1', shortened, 'abc', hex), 'a long key');
    const hashes = Array.from({ length: 5000 }, () => hashloom.createHash('md5'));
    hashloom.updateMany(hashes, hashes.map((_, i) => `${i}`));
    same(hashes[4999].digest(hex), hashloom.hash('md5', '4999', hex), '5000 objects');
    same(hashloom.hash('sha1', 'abc', hex), ofAbc, 'after all');
}
