// blocks.wgsl: hashes whole blocks of many messages: message `lane` is invocation `lane`.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// shader.rs writes before this text: NWORDS, words of 32 bits in a block; NBEGIN, four of which are an element of the
// initial state; block(), the block function; from_bytes(), which puts a word in order; block_of_tile(), begin_state(),
// state_of() and set_state().
//
// The messages of a workgroup go through its shared memory: 64 invocations read neighbouring words of one message and
// then of the next, so that reads coalesce, and each takes the block of its own message from there.

const LANES = 64u;
// One word more than a block, so that the invocations read from different banks.
const ROW = NWORDS + 1u;

struct Params {
    // The lanes of this call are `first_lane` to `first_lane + count - 1`.
    first_lane: u32,
    count: u32,
    // Blocks of the longest message of this call.
    nblocks: u32,
    // Lanes of all calls: word k of lane i is states[k * stride + i].
    stride: u32,
    // 1: messages begin here, in the state `begin`.
    is_first: u32,
    data_at: u32,
    unused: vec2<u32>,
    begin: array<vec4<u32>, NBEGIN>,
}

@group(0) @binding(0) var<uniform> params: Params;
// For each lane, where its blocks begin, in words from data_at on, and their number. Then the blocks.
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> states: array<u32>;

var<workgroup> tile: array<u32, LANES * ROW>;
var<workgroup> spans: array<vec2<u32>, LANES>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let lane = group.x * LANES + local;
    var span = vec2<u32>(0u, 0u);
    if lane < params.count {
        span = vec2<u32>(data[2u * lane], data[2u * lane + 1u]);
    }
    spans[local] = span;
    workgroupBarrier();

    let at = params.first_lane + lane;
    var h = begin_state();
    if params.is_first == 0u && lane < params.count {
        h = state_of(at);
    }
    for (var b = 0u; b < params.nblocks; b++) {
        for (var i = local; i < LANES * NWORDS; i += LANES) {
            let source = spans[i / NWORDS];
            if b < source.y {
                tile[i / NWORDS * ROW + i % NWORDS] =
                    from_bytes(data[params.data_at + source.x + b * NWORDS + i % NWORDS]);
            }
        }
        workgroupBarrier();
        if b < span.y {
            h = block(h, block_of_tile(local * ROW));
        }
        workgroupBarrier();
    }
    if lane < params.count {
        set_state(at, h);
    }
}
