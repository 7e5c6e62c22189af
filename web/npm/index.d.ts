// SPDX-License-Identifier: MIT OR Apache-2.0

/** A message: text is UTF-8, a view has the bytes that it shows. */
export type Data = string | Buffers;
type Buffers = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** An Uint8Array over an ArrayBuffer: Uint8Array<ArrayBuffer> since TypeScript 5.7, and Uint8Array before. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** An array of messages or another iterable; not a text, which is an iterable of its letters. */
export type Messages = Iterable<Data> & object;

/** The names of the algorithms. */
export type Algorithm =
    // algorithms.py: npm_names
    | 'sha1'
    | 'sha224'
    | 'sha256'
    | 'sha384'
    | 'sha512'
    | 'sha512-224'
    | 'sha512-256'
    | 'ripemd160'
    | 'md5'
    | 'sha3-224'
    | 'sha3-256'
    | 'sha3-384'
    | 'sha3-512'
    | 'keccak-256'
    | 'shake128'
    | 'shake256'
    | 'sm3'
    | 'blake2b'
    | 'blake2b-256'
    | 'blake2s'
    | 'blake3'
    // algorithms.py: end
    ;

/** `bytes`: an array of Uint8Array. `hex`: an array of texts. `joined`: one Uint8Array with all digests. */
export type Output = 'bytes' | 'hex' | 'joined';

/** `output`: the form of the result; `bytes` if it is not given. `length`: bytes of a digest of SHAKE, 1 to 1,048,576.
 * A text, which has a length, is no object. */
export type Options<O extends Output = Output> = { output?: O; length?: number } & object;

/** How two nodes of SHA-256 become one, and what an odd one at the end becomes. `rfc6962`: a byte 1 stands before two;
 * it goes up as it is. `bitcoin`: hashed twice; paired with itself (CVE-2012-2459). `zeros`: paired with the root of as
 * high a tree of zeros, as in SSZ of Ethereum and BEP 52. */
export type MerkleRule = 'rfc6962' | 'bitcoin' | 'zeros';

type Digests<O> = O extends 'joined' ? Bytes : O extends 'hex' ? string[] : Bytes[];
type Digest<O> = O extends 'hex' ? string : Bytes;

/** A hash of a message that arrives in parts. It may go on after a digest, and needs no end. */
export interface Hash {
    /** Appends to the message, and returns the object. */
    update(data: Data): this;
    /** The digest of the message so far. */
    digest(): Bytes;
    digest<O extends 'bytes' | 'hex' = 'bytes'>(options: Options<O>): Digest<O>;
    /** Another object in the same state. */
    copy(): Hash;
}

/** The module, compiled. All calls are synchronous. */
export interface Hashloom {
    readonly algorithms: Algorithm[];
    /** What computes: WebAssembly, or the addon for Node (`native/build.cjs`). */
    readonly engine: 'wasm' | 'native';
    /** Bytes in a digest. */
    digestSize(algorithm: Algorithm): number;
    /** Bytes in a block. */
    blockSize(algorithm: Algorithm): number;
    /** The digest of one message. */
    hash<O extends 'bytes' | 'hex' = 'bytes'>(algorithm: Algorithm, data: Data, options?: Options<O>): Digest<O>;
    /** The digest of each message, four and more side by side. */
    many<O extends Output = 'bytes'>(algorithm: Algorithm, messages: Messages, options?: Options<O>): Digests<O>;
    /** The digest of each `rowLength` bytes of data, such as the pieces of a torrent. RangeError if some are left. */
    rows<O extends Output = 'bytes'>(
        algorithm: Algorithm, data: Data, rowLength: number, options?: Options<O>): Digests<O>;
    /** The digest of each two digests that follow each other, in one copy. `out` may be the data's own first half, for
     * layers of trees in place. Returns it, or a new Uint8Array. */
    hashPairs(algorithm: Algorithm, data: Buffers): Bytes;
    hashPairs<T extends Uint8Array>(algorithm: Algorithm, data: Buffers, out: T): T;
    /** The root of a Merkle tree of SHA-256 above leaves of 32 bytes. `depth`: of a tree of `zeros`, 0 to 64. */
    merkleRoot<O extends 'bytes' | 'hex' = 'bytes'>(
        rule: MerkleRule, leaves: Buffers,
        options?: { output?: O; depth?: number }): Digest<O>;
    /** The HMAC of one message. */
    hmac<O extends 'bytes' | 'hex' = 'bytes'>(
        algorithm: Algorithm, key: Data, data: Data, options?: { output?: O }): Digest<O>;
    /** The HMAC of each message. */
    hmacMany<O extends Output = 'bytes'>(
        algorithm: Algorithm, key: Data, messages: Messages, options?: { output?: O }): Digests<O>;
    createHash(algorithm: Algorithm): Hash;
    createHmac(algorithm: Algorithm, key: Data): Hash;
    /** Appends chunks[i] to hashes[i], all side by side. The objects have one algorithm and are all different. */
    updateMany(hashes: Iterable<Hash>, chunks: Messages): void;
    /** Whether both are equal, in a time that depends only on their lengths: for tags. */
    equal(a: Data, b: Data): boolean;
}

/** Compiles the module, once in each thread. Fails where a page's policy forbids WebAssembly (`wasm-unsafe-eval`). */
export function load(): Promise<Hashloom>;
