// SPDX-License-Identifier: MIT OR Apache-2.0

/** A message: text is UTF-8, a view has the bytes that it shows. */
export type Data = string | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

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

export interface Options<O extends Output = Output> {
    /** The form of the result; `bytes` if it is not given. */
    output?: O;
    /** Bytes of a digest of SHAKE, 1 to 1,048,576. */
    length?: number;
}

type Digests<O> = O extends 'joined' ? Uint8Array : O extends 'hex' ? string[] : Uint8Array[];
type Digest<O> = O extends 'hex' ? string : Uint8Array;

/** A hash of a message that arrives in parts. It may go on after a digest, and needs no end. */
export interface Hash {
    /** Appends to the message, and returns the object. */
    update(data: Data): this;
    /** The digest of the message so far. */
    digest(): Uint8Array;
    digest<O extends 'bytes' | 'hex' = 'bytes'>(options: { output?: O; length?: number }): Digest<O>;
    /** Another object in the same state. */
    copy(): Hash;
}

/** The module, compiled. All calls are synchronous. */
export interface Hashloom {
    readonly algorithms: Algorithm[];
    /** Bytes in a digest. */
    digestSize(algorithm: Algorithm): number;
    /** Bytes in a block. */
    blockSize(algorithm: Algorithm): number;
    /** The digest of one message. */
    hash<O extends 'bytes' | 'hex' = 'bytes'>(algorithm: Algorithm, data: Data, options?: Options<O>): Digest<O>;
    /** The digest of each message, four and more side by side. */
    many<O extends Output = 'bytes'>(algorithm: Algorithm, messages: Iterable<Data>, options?: Options<O>): Digests<O>;
    /** The digest of each `rowLength` bytes of data, such as the pieces of a torrent. RangeError if some are left. */
    rows<O extends Output = 'bytes'>(
        algorithm: Algorithm, data: Data, rowLength: number, options?: Options<O>): Digests<O>;
    /** The HMAC of one message. */
    hmac<O extends 'bytes' | 'hex' = 'bytes'>(
        algorithm: Algorithm, key: Data, data: Data, options?: { output?: O }): Digest<O>;
    /** The HMAC of each message. */
    hmacMany<O extends Output = 'bytes'>(
        algorithm: Algorithm, key: Data, messages: Iterable<Data>, options?: { output?: O }): Digests<O>;
    createHash(algorithm: Algorithm): Hash;
    createHmac(algorithm: Algorithm, key: Data): Hash;
    /** Appends chunks[i] to hashes[i], all side by side. The objects have one algorithm and are all different. */
    updateMany(hashes: Iterable<Hash>, chunks: Iterable<Data>): void;
    /** Whether both are equal, in a time that depends only on their lengths: for tags. */
    equal(a: Data, b: Data): boolean;
}

/** Compiles the module, once in each thread. It fails where a page's policy forbids WebAssembly (`wasm-unsafe-eval`). */
export function load(): Promise<Hashloom>;
