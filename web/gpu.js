// gpu.js: hashes pieces on the GPU, by WebGPU. It is a part of the worker that page.js starts as one more taker of
// batches; worker.js reads for it, and hashes its batches if there is no device or it fails.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Message i is invocation i of the shader that the module writes, as in hashloom-gpu: chunks of messages go to the
// device, states stay there, digests come back. No verdict rests on the device alone. A digest that is the torrent's
// proves the bytes that the device had, whoever computed it. A piece that the device finds wrong is hashed again by the
// module, and so is one of 1,000 right ones, as the device may have had other bytes than those that were read.
"use strict";

// The buffer for messages, if the device has so large ones; every device has 128 MiB. It begins with the list of their
// places, up to DATA_AT in words, which has room for as many leaves as fit behind it.
const DATA_NBYTES = 256 << 20, MESSAGES_MAX = 16384, DATA_AT = 2 * MESSAGES_MAX;
// Bytes of a piece that are read and sent at once. Files are read from place to place for longer pieces: Chromium 156
// reads slices of 4 MiB at half the speed of a whole file, and slices of 256 KiB at an eighth.
const STEP_NBYTES = 4 << 20;
// Blocks of a message that a call of the shader hashes at most: systems end a call that takes seconds.
const BLOCKS_MAX = 4096;
const LEAF_NBYTES = 16 << 10;
// Workgroups have 64 invocations, as blocks.wgsl says.
const GROUP = 64;
// WebAssembly hashes one right piece again for each 1,000, at least one a batch.
const CHECKED = 1000;
// A device that does not answer for this long is lost.
const PATIENCE_MS = 10_000;

// The device, its buffers and its shaders, or null.
let gpu = null;

// Opens a device and tests it. A device that computes on the CPU is slower than the module, and only for tests.
async function openGpu(software) {
    const adapter = await inTime(navigator.gpu?.requestAdapter({ powerPreference: "high-performance" }));
    const { isFallbackAdapter, vendor, architecture, device: name, description } = adapter?.info ?? {};
    const about = [vendor, architecture, name, description].join(" ");
    const computes = isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(about);
    if (!adapter || (computes && !software)) return null;
    const nbytes = Math.min(DATA_NBYTES, adapter.limits.maxStorageBufferBindingSize);
    const requiredLimits = { maxBufferSize: nbytes, maxStorageBufferBindingSize: nbytes };
    const device = await inTime(adapter.requestDevice({ requiredLimits }));
    const fault = new Promise((_, reject) => {
        device.lost.then(reject);
        device.onuncapturederror = ({ error }) => reject(error);
    });
    fault.catch(() => {});
    const opened = {
        device,
        data: device.createBuffer({ size: nbytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST }),
        params: device.createBuffer({ size: 96, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST }),
        wait: (promise) => inTime(Promise.race([fault, promise])), // an error counts even if the work succeeded
    };
    const names = { v1: ["sha1"], v2: ["sha256"], hybrid: ["sha1", "sha256"] }[torrent.version];
    await Promise.all(names.map(async (name) => {
        core.shader(name === "sha256");
        const { text, ...rest } = JSON.parse(new TextDecoder().decode(answer()));
        const module = device.createShaderModule({ code: text });
        const compute = { module, entryPoint: "main" };
        const pipeline = await opened.wait(device.createComputePipelineAsync({ layout: "auto", compute }));
        opened[name] = { name, pipeline, ...rest };
        await testGpu(opened, opened[name]);
    }));
    return opened;
}

function inTime(promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error("it does not answer")), PATIENCE_MS);
    });
    const first = Promise.race([promise, late]).finally(() => clearTimeout(timer));
    first.catch(() => {}); // its caller may wait for another one that fails first
    return first;
}

// Messages of one algorithm, whose states stay on the device.
class Messages {
    constructor({ device, data, params, wait }, { pipeline, begin }, count) {
        Object.assign(this, { device, data, params, wait, pipeline, begin, count, is_first: 1 });
        const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
        this.states = device.createBuffer({ size: 4 * begin.length * count, usage });
        const entries = [params, data, this.states].map((buffer, binding) => ({ binding, resource: { buffer } }));
        this.bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    }

    // Hashes whole blocks of the device's data: for each message where they begin, in words, and their number.
    advance(spans) {
        const longest = spans.reduce((most, [, nblocks]) => Math.max(most, nblocks), 0);
        for (let done = 0; done < longest; done += BLOCKS_MAX) {
            const part = (nblocks) => Math.max(0, Math.min(nblocks - done, BLOCKS_MAX));
            this.call(spans.flatMap(([at, nblocks]) => [at + 16 * done, part(nblocks)]), part(longest));
        }
    }

    call(spans, longest) {
        const { device, count } = this;
        const params = [0, count, longest, count, this.is_first, DATA_AT, 0, 0, ...this.begin]; // blocks.wgsl's Params
        device.queue.writeBuffer(this.params, 0, Uint32Array.from(params));
        device.queue.writeBuffer(this.data, 0, Uint32Array.from(spans));
        const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
        pass.setPipeline(this.pipeline);
        pass.setBindGroup(0, this.bindings);
        pass.dispatchWorkgroups(Math.ceil(count / GROUP));
        pass.end();
        device.queue.submit([encoder.finish()]);
        this.is_first = 0;
    }

    // Hashes the last blocks with their padding (FIPS 180-4, section 5.1). Each end is { rest, nbytes }: the bytes that
    // fill no block, and the length of the message. Returns a promise of the digests.
    finish(ends) {
        const { device, count, states, wait } = this, spans = [];
        const blocks = new DataView(new ArrayBuffer(2 * 64 * count));
        let at = 0;
        for (const { rest, nbytes } of ends) {
            const nblocks = rest.length + 9 <= 64 ? 1 : 2;
            spans.push([at / 4, nblocks]);
            new Uint8Array(blocks.buffer, at).set([...rest, 0x80]);
            at += 64 * nblocks;
            blocks.setBigUint64(at - 8, 8n * BigInt(nbytes));
        }
        device.queue.writeBuffer(this.data, 4 * DATA_AT, blocks.buffer, 0, at);
        this.advance(spans);
        const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
        const read = device.createBuffer({ size: states.size, usage }), encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(states, 0, read, 0, states.size);
        device.queue.submit([encoder.finish()]);
        return wait(read.mapAsync(GPUMapMode.READ).then(() => {
            const words = new Uint32Array(read.getMappedRange().slice(0));
            read.destroy();
            states.destroy();
            return ends.map((_, i) => {
                const digest = new DataView(new ArrayBuffer(4 * this.begin.length));
                this.begin.forEach((_, k) => digest.setUint32(4 * k, words[k * count + i]));
                return new Uint8Array(digest.buffer);
            });
        }));
    }
}

// A known answer, and messages of all lengths up to two blocks, in two calls, which the module hashes too.
async function testGpu(opened, shader) {
    const all = Uint8Array.from({ length: 1024 }, (_, i) => Math.imul(i, 0x9e3779b9) >>> 24);
    const lengths = [...Array(2 * 64 + 21).keys(), 1024], row = 1024;
    const messages = [new TextEncoder().encode("abc"), ...lengths.map((nbytes) => all.subarray(0, nbytes))];
    const bytes = new Uint8Array(row * messages.length);
    messages.forEach((message, i) => bytes.set(message, i * row));
    opened.device.queue.writeBuffer(opened.data, 4 * DATA_AT, bytes);
    const hashed = new Messages(opened, shader, messages.length);
    const whole = messages.map((message) => message.length >>> 6);
    hashed.advance(whole.map((nblocks, i) => [i * row / 4, Math.min(nblocks, 1)]));
    hashed.advance(whole.map((nblocks, i) => [i * row / 4 + 16, Math.max(nblocks, 1) - 1]));
    const ends = messages.map((message) => ({ rest: message.subarray(message.length & -64), nbytes: message.length }));
    const digests = (await hashed.finish(ends)).map(hex);
    const lengthsAt = row * messages.length, room = core.room(lengthsAt + 4 * messages.length);
    putNumbers(room, messages.flatMap((_, i) => [i, shader.algorithm]));
    core.begin_messages(messages.length);
    new Uint8Array(core.memory.buffer, room, bytes.length).set(bytes);
    putNumbers(room + lengthsAt, messages.map((message) => message.length));
    core.update_messages(messages.length, row, lengthsAt);
    core.finish_messages();
    const right = JSON.parse(new TextDecoder().decode(answer()));
    if (digests[0] !== shader.abc || !right.every(({ chunk, hex }) => digests[chunk] === hex)) {
        throw new Error(`it computes ${shader.name} wrongly`);
    }
}

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Opens a device and tells page.js whether there is one.
async function beginGpu(software) {
    try {
        gpu = await openGpu(software);
        postMessage({ gpu: gpu !== null });
    } catch (error) {
        postMessage({ gpu: false, why: error.message });
    }
}

// As checkPieces. `rate` counts everything, in bytes a millisecond. A device that fails is given up.
async function checkPiecesOnGpu(first, count) {
    const began = performance.now();
    let nbytes = 0;
    const tell = (more) => {
        nbytes += more;
        postMessage({ nbytes: more });
    };
    try {
        return { ...await judgedPieces(first, count, tell), rate: nbytes / (performance.now() - began) };
    } catch (error) {
        // Calls fail before it is known that the device is lost.
        const lost = await Promise.race([gpu.device.lost, new Promise((done) => setTimeout(done, 100))]);
        gpu.device.destroy();
        gpu = null;
        postMessage({ nbytes: -nbytes });
        postMessage({ gpu: false, why: lost ? `it is lost, ${lost.message}` : error.message });
        return checkPieces(first, count);
    }
}

async function judgedPieces(first, count, tell) {
    const { verdicts, lanes } = begun(first, count), coming = [], right = [], wrong = [], again = [];
    const row = Math.min(Math.ceil(torrent.piece_nbytes / 64) * 64, STEP_NBYTES);
    const fit = Math.min((gpu.data.size - 4 * DATA_AT) / row, MESSAGES_MAX) | 0;
    for (let at = 0; at < lanes.length; at += fit) {
        coming.push(...await hashOnGpu(lanes.slice(at, at + fit), row, verdicts, tell));
    }
    await Promise.all(coming);
    await gpu.wait(gpu.device.queue.onSubmittedWorkDone());
    for (const lane of lanes.filter(({ i }) => !verdicts[i])) {
        const nleaves = lane.leaves.length, room = core.room(20 + 32 * nleaves);
        const digests = new Uint8Array(core.memory.buffer, room, 20 + 32 * nleaves);
        digests.set(lane.sha1 ?? []);
        lane.leaves.forEach((leaf, k) => digests.set(leaf, 20 + 32 * k));
        (core.judge_piece(first + lane.i, nleaves) === 1 ? right : wrong).push(lane);
    }
    for (let at = Math.random() * Math.min(right.length, CHECKED) | 0; at < right.length; at += CHECKED) {
        again.push(right[at]);
    }
    await hashPieces(first, [...wrong, ...again], verdicts, () => {});
    if (wrong.some(({ i }) => verdicts[i] === RIGHT) || again.some(({ i }) => verdicts[i] === WRONG)) {
        throw new Error("its verdict on a piece is not that of WebAssembly");
    }
    for (const { i } of right) verdicts[i] ||= RIGHT;
    return { first, verdicts, failed: [...failed] };
}

// Sends the bytes of pieces to the device, a row of each at a time. Returns promises that their digests are there.
async function hashOnGpu(lanes, row, verdicts, tell) {
    const { device, data, wait } = gpu, coming = [];
    const sha1 = torrent.version === "v2" ? null : new Messages(gpu, gpu.sha1, lanes.length);
    const ends = lanes.map(({ start, end }) => ({ rest: [], nbytes: end - start }));
    const nrows = Math.floor(ROOM_NBYTES / row), room = core.room(Math.min(nrows, lanes.length) * row);
    let before = null;
    for (let done = 0; done < torrent.piece_nbytes; done += row) {
        const lengths = lengthsOf(lanes, done, row), nbytes = lengths.reduce((sum, length) => sum + length, 0);
        if (nbytes === 0) break;
        const leaves = [];
        for (let at = 0; at < lanes.length; at += nrows) {
            const some = lanes.slice(at, at + nrows);
            await fill(some, lengths.slice(at, at + nrows), done, row, room, verdicts);
            const bytes = new Uint8Array(core.memory.buffer, room, some.length * row);
            for (const [s, lane] of some.entries()) {
                const l = at + s, own = bytes.subarray(s * row, s * row + lengths[l]);
                if (own.length > 0) ends[l].rest = own.slice(own.length & -64);
                const tree = own.subarray(0, Math.max(0, lane.tree - done));
                for (let from = 0; torrent.version !== "v1" && from < tree.length; from += LEAF_NBYTES) {
                    const leaf = tree.subarray(from, from + LEAF_NBYTES), place = (done + from) / LEAF_NBYTES;
                    const span = [(l * row + from) / 4, leaf.length >>> 6], rest = leaf.slice(leaf.length & -64);
                    leaves.push({ lane, place, span, rest, nbytes: leaf.length });
                }
            }
            device.queue.writeBuffer(data, 4 * DATA_AT + at * row, bytes);
        }
        sha1?.advance(lengths.map((length, l) => [l * row / 4, length >>> 6]));
        if (leaves.length > 0) {
            const hashed = new Messages(gpu, gpu.sha256, leaves.length);
            hashed.advance(leaves.map(({ span }) => span));
            coming.push(hashed.finish(leaves).then((digests) =>
                leaves.forEach(({ lane, place }, i) => (lane.leaves[place] = digests[i]))));
        }
        // One step is read while the device hashes the one before: more would only fill memory.
        await before;
        before = wait(device.queue.onSubmittedWorkDone());
        tell(nbytes);
    }
    if (sha1) coming.push(sha1.finish(ends).then((digests) => lanes.forEach((lane, l) => (lane.sha1 = digests[l]))));
    return coming;
}
