// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on words, joined to a graph and written as WGSL or CUDA C.
//!
//! A block function is a list of operations (`shaders/*.ops`). The graph runs the list over words of which it knows how
//! often they change. An operation changes as often as the fastest of its operands, so what is constant is computed
//! here, what depends on a call alone by the CPU before each call, and what depends on an invocation alone before its
//! loop. What depends on a round's number alone is a word of a table. An operation that no result needs is not written.
//!
//! Rotations, shifts and xors are linear: that of `slow ^ fast` is that of `slow` before the loop, xored with that of
//! `fast` in the table. So a word of SHA-1's schedule, all xors, takes one xor in the loop: 46.1 G nonces/s instead of
//! 36.2 (NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-27). The schedules of the other algorithms have sums.

use std::collections::HashMap;

/// How often a word changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rate {
    Never,
    /// From one call of the shader to the next.
    Call,
    /// From one invocation to the next.
    Invocation,
    /// From one round of the loop to the next, but alike in all calls and invocations.
    Table,
    /// In each round of an invocation's loop.
    Round,
}

impl Rate {
    /// How often an operation on words of both rates changes.
    fn with(self, other: Rate) -> Rate {
        match (self.min(other), self.max(other)) {
            (Rate::Call | Rate::Invocation, Rate::Table) => Rate::Round,
            (_, faster) => faster,
        }
    }

    fn is_by_cpu(self) -> bool {
        !matches!(self, Rate::Invocation | Rate::Round)
    }
}

/// The language that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Words of 64 bits are pairs `vec2<u32>(low, high)`.
    Wgsl,
    /// With `u64`, wgpu's `SHADER_INT64`.
    WgslInt64,
    Cuda,
}

/// The number of an operation in a graph.
pub(crate) type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Constant(u64),
    /// A word that the text around has under this name.
    Named(String),
    /// A word that the CPU knows before each call, or for each row of the table.
    Given(usize, Rate),
    Add,
    Xor,
    Xor3,
    Ch,
    Maj,
    OrnXor,
    Rol(u32),
    Shr(u32),
    /// Two words of 32 bits, the high one first, as one of 64; and back.
    Join,
    High,
    Low,
    /// Bytes in the other order.
    Swap,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    operation: Operation,
    operands: Vec<Id>,
    nbits: u32,
}

/// Operations, each after those that it needs.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    rates: Vec<Rate>,
    known: HashMap<Node, Id>,
}

/// What a graph is written as.
#[derive(Debug)]
pub(crate) struct Text {
    /// Statements before the loop, and in it.
    pub before: String,
    pub inside: String,
    /// The names of the results.
    pub results: Vec<String>,
    /// Operations in the loop for each round, and before it; a rotation is one.
    pub nrounds: usize,
    pub nbefore: usize,
}

impl Graph {
    pub fn constant(&mut self, value: u64, nbits: u32) -> Id {
        self.node(Operation::Constant(value), vec![], nbits, Rate::Never)
    }

    pub fn named(&mut self, name: impl Into<String>, nbits: u32, rate: Rate) -> Id {
        self.node(Operation::Named(name.into()), vec![], nbits, rate)
    }

    /// A word of 32 bits, the `index`-th of those that [`Graph::values`] takes.
    pub fn given(&mut self, index: usize, rate: Rate) -> Id {
        self.node(Operation::Given(index, rate), vec![], 32, rate)
    }

    pub fn xor(&mut self, x: Id, y: Id) -> Id {
        self.push(Operation::Xor, vec![x, y], 32)
    }

    pub fn swap(&mut self, x: Id) -> Id {
        self.push(Operation::Swap, vec![x], 32)
    }

    /// Runs a block function over words of 32 bits, and returns the new state.
    pub fn block(&mut self, list: &str, is_wide: bool, is_big_endian: bool, state: &[Id], words: &[Id]) -> Vec<Id> {
        let nbits = if is_wide { 64 } else { 32 };
        let wide = |graph: &mut Graph, words: &[Id], i: usize| {
            if !is_wide {
                return words[i];
            }
            let (first, second) = (words[2 * i], words[2 * i + 1]);
            let halves = if is_big_endian { vec![first, second] } else { vec![second, first] };
            graph.push(Operation::Join, halves, 64)
        };
        let mut done: Vec<Id> = Vec::new();
        let mut outs = Vec::new();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split(' ');
            let name = fields.next().unwrap_or_default();
            let numbers: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
            let of = |n: usize| numbers[..n].iter().map(|&x| done[x as usize]).collect::<Vec<Id>>();
            let new = match name {
                "out" => {
                    outs = of(numbers.len());
                    break;
                }
                "state" => wide(self, state, numbers[0] as usize),
                "word" => wide(self, words, numbers[0] as usize),
                "constant" => self.constant(numbers[0], nbits),
                "rol" => self.push(Operation::Rol(numbers[1] as u32), of(1), nbits),
                "shr" => self.push(Operation::Shr(numbers[1] as u32), of(1), nbits),
                "add" => self.push(Operation::Add, of(2), nbits),
                "xor" => self.push(Operation::Xor, of(2), nbits),
                "xor3" => self.push(Operation::Xor3, of(3), nbits),
                "ch" => self.push(Operation::Ch, of(3), nbits),
                "maj" => self.push(Operation::Maj, of(3), nbits),
                "orn_xor" => self.push(Operation::OrnXor, of(3), nbits),
                _ => unreachable!("tools/wgsl/write.py writes no operation {name:?}"),
            };
            done.push(new);
        }
        if !is_wide {
            return outs;
        }
        let halves = |graph: &mut Graph, x| {
            let high = graph.push(Operation::High, vec![x], 32);
            let low = graph.push(Operation::Low, vec![x], 32);
            if is_big_endian { [high, low] } else { [low, high] }
        };
        outs.into_iter().flat_map(|x| halves(self, x)).collect()
    }

    /// Adds an operation, unless its result is known.
    fn push(&mut self, operation: Operation, operands: Vec<Id>, nbits: u32) -> Id {
        let constant = |x: Id| match self.nodes[x].operation {
            Operation::Constant(value) => Some(value),
            _ => None,
        };
        if let Some(values) = operands.iter().map(|&x| constant(x)).collect::<Option<Vec<u64>>>() {
            let value = value_of(&operation, &values, nbits);
            return self.constant(value, nbits);
        }
        match (&operation, &*operands) {
            (Operation::Add | Operation::Xor, &[x, y]) if constant(x) == Some(0) => return y,
            (Operation::Add | Operation::Xor, &[x, y]) if constant(y) == Some(0) => return x,
            (Operation::Xor3, _) => {
                if let Some(at) = operands.iter().position(|&x| constant(x) == Some(0)) {
                    let mut two = operands;
                    two.remove(at);
                    return self.push(Operation::Xor, two, nbits);
                }
            }
            // The halves of what was joined.
            (Operation::High | Operation::Low, &[x]) if self.nodes[x].operation == Operation::Join => {
                return self.nodes[x].operands[usize::from(operation == Operation::Low)];
            }
            // x + (y + z) is (x + y) + z if z alone changes more often than x: fewer additions in the loop.
            (Operation::Add, &[x, y]) => {
                let (x, y) = if self.rates[x] <= self.rates[y] { (x, y) } else { (y, x) };
                if let (Operation::Add, &[low, high]) = (&self.nodes[y].operation, &*self.nodes[y].operands) {
                    if self.rates[low] < self.rates[high] && self.rates[x] < self.rates[high] {
                        let low = self.push(Operation::Add, vec![x, low], nbits);
                        return self.push(Operation::Add, vec![low, high], nbits);
                    }
                }
                let rate = self.rates[x].with(self.rates[y]);
                return self.node(operation, vec![x, y], nbits, rate);
            }
            _ => {}
        }
        let rate = operands.iter().fold(Rate::Never, |rate, &x| rate.with(self.rates[x]));
        let is_linear = matches!(
            operation,
            Operation::Xor | Operation::Xor3 | Operation::Rol(_) | Operation::Shr(_) | Operation::Join
        );
        if rate == Rate::Round && is_linear {
            let parts = operands.iter().map(|&x| self.slow_and_fast(x)).collect::<Option<Vec<_>>>();
            if let Some((slow, fast)) = parts.map(|parts| parts.into_iter().unzip()) {
                let slow = self.push(operation.clone(), slow, nbits);
                let fast = self.push(operation, fast, nbits);
                return self.node(Operation::Xor, vec![slow, fast], nbits, rate);
            }
        }
        self.node(operation, operands, nbits, rate)
    }

    /// A word as the xor of one that an invocation knows before its loop and one of the table, if it is one.
    fn slow_and_fast(&mut self, x: Id) -> Option<(Id, Id)> {
        let nothing = self.constant(0, self.nodes[x].nbits);
        match (self.rates[x], &self.nodes[x].operation, &*self.nodes[x].operands) {
            (Rate::Table, ..) => Some((nothing, x)),
            (Rate::Round, Operation::Xor, &[slow, fast])
                if self.rates[slow] <= Rate::Invocation && self.rates[fast] == Rate::Table =>
            {
                Some((slow, fast))
            }
            (Rate::Round, ..) => None,
            _ => Some((x, nothing)),
        }
    }

    fn node(&mut self, operation: Operation, operands: Vec<Id>, nbits: u32, rate: Rate) -> Id {
        let node = Node { operation, operands, nbits };
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        self.known.insert(node.clone(), self.nodes.len());
        self.nodes.push(node);
        self.rates.push(rate);
        self.nodes.len() - 1
    }

    /// The operations that the results need, each after those that it needs.
    fn needed(&self, results: &[Id]) -> Vec<Id> {
        let mut is_needed = vec![false; self.nodes.len()];
        results.iter().for_each(|&x| is_needed[x] = true);
        for x in (0..self.nodes.len()).rev().filter(|&x| !self.rates[x].is_by_cpu()) {
            if is_needed[x] {
                self.nodes[x].operands.iter().for_each(|&operand| is_needed[operand] = true);
            }
        }
        (0..self.nodes.len()).filter(|&x| is_needed[x]).collect()
    }

    /// The words that the CPU computes and the shader uses: the parameters of a call, or the words of the table.
    pub fn known(&self, results: &[Id], rate: Rate) -> Vec<Id> {
        self.needed(results).into_iter().filter(|&x| self.rates[x] == rate).collect()
    }

    /// Their number, each of 64 bits counted as two.
    pub fn nwords(&self, known: &[Id]) -> usize {
        known.iter().map(|&x| self.nodes[x].nbits as usize / 32).sum()
    }

    /// The values of known words, from those that are given. One of 64 bits is two words, the high one first.
    pub fn values(&self, known: &[Id], given: &[u32]) -> Vec<u32> {
        let mut is_needed = vec![false; known.iter().max().map_or(0, |&x| x + 1)];
        known.iter().for_each(|&x| is_needed[x] = true);
        for x in (0..is_needed.len()).rev() {
            if is_needed[x] {
                self.nodes[x].operands.iter().for_each(|&operand| is_needed[operand] = true);
            }
        }
        let mut values = vec![0; is_needed.len()];
        for x in (0..values.len()).filter(|&x| is_needed[x]) {
            let node = &self.nodes[x];
            let operands: Vec<u64> = node.operands.iter().map(|&operand| values[operand]).collect();
            values[x] = match node.operation {
                Operation::Given(index, _) => u64::from(given[index]),
                _ => value_of(&node.operation, &operands, node.nbits),
            };
        }
        let words = |x: &Id| match self.nodes[*x].nbits {
            32 => vec![values[*x] as u32],
            _ => vec![(values[*x] >> 32) as u32, values[*x] as u32],
        };
        known.iter().flat_map(words).collect()
    }

    /// Writes the operations. Names begin with `prefix`; `param` names the i-th word of the parameters. Four words of
    /// the table's row are loaded at once.
    pub fn write(&self, language: Language, prefix: &str, results: &[Id], param: impl Fn(usize) -> String) -> Text {
        let needed = self.needed(results);
        // Uses in a text; a use in the loop of what is before it needs a name.
        let mut nuses = vec![0; self.nodes.len()];
        for &x in needed.iter().filter(|&&x| !self.rates[x].is_by_cpu()) {
            let node = &self.nodes[x];
            for (i, &operand) in node.operands.iter().enumerate() {
                let is_twice = match node.operation {
                    Operation::Ch => i == 2,
                    Operation::Maj => i < 2,
                    Operation::Rol(_) | Operation::Shr(_) => true,
                    _ => false,
                };
                nuses[operand] += if is_twice || self.rates[operand] < self.rates[x] { 2 } else { 1 };
            }
        }
        let mut text = Text { before: String::new(), inside: String::new(), results: vec![], nrounds: 0, nbefore: 0 };
        let mut written = vec![String::new(); self.nodes.len()];
        let (mut nparams, mut ntable) = (0, 0);
        let mut nnames = 0;
        for x in needed {
            let Node { operation, operands, nbits } = &self.nodes[x];
            // One instruction rotates a word and adds another. Other sums are for the pipe that multiplies.
            let is_rotated = |&x: &Id| matches!(self.nodes[x].operation, Operation::Rol(_)) && nuses[x] < 2;
            let is_product = language == Language::Cuda && *nbits == 32 && !operands.iter().any(is_rotated);
            let operands: Vec<&str> = operands.iter().map(|&operand| &*written[operand]).collect();
            let mut known = |i: usize| match self.rates[x] {
                Rate::Call => param(nparams + i),
                _ => {
                    let at = ntable + i;
                    if at % 4 == 0 {
                        text.inside += &row_of_table(language, at / 4);
                    }
                    format!("r{}.{}", at / 4, ["x", "y", "z", "w"][at % 4])
                }
            };
            let is_known = matches!(self.rates[x], Rate::Call | Rate::Table);
            let expression = match operation {
                Operation::Constant(value) => literal(language, *value, *nbits),
                Operation::Named(name) => name.clone(),
                _ if is_known && *nbits == 32 => known(0),
                _ if is_known => {
                    let (high, low) = (known(0), known(1));
                    expression(language, &Operation::Join, 64, &[&high, &low])
                }
                _ => {
                    let (rounds, before) = (&mut text.nrounds, &mut text.nbefore);
                    let is_counted = !matches!(operation, Operation::Join | Operation::High | Operation::Low);
                    *(if self.rates[x] == Rate::Round { rounds } else { before }) += usize::from(is_counted);
                    match (operation, &*operands) {
                        (Operation::Add, &[x, y]) if is_product => format!("plus({x}, {y})"),
                        _ => expression(language, operation, *nbits, &operands),
                    }
                }
            };
            match self.rates[x] {
                Rate::Call => nparams += *nbits as usize / 32,
                Rate::Table => ntable += *nbits as usize / 32,
                _ => {}
            }
            let is_short = expression.len() < 60 && nuses[x] < 2;
            let is_plain =
                matches!(operation, Operation::Constant(_) | Operation::Named(_)) || is_known && *nbits == 32;
            written[x] = if is_plain || is_short && !results.contains(&x) {
                expression
            } else {
                let place = if self.rates[x] >= Rate::Table { &mut text.inside } else { &mut text.before };
                let declared = match (language, nbits) {
                    (Language::Cuda, 32) => "const uint32_t",
                    (Language::Cuda, _) => "const uint64_t",
                    _ => "let",
                };
                *place += &format!("    {declared} {prefix}{nnames} = {expression};\n");
                nnames += 1;
                format!("{prefix}{}", nnames - 1)
            };
        }
        text.results = results.iter().map(|&x| written[x].clone()).collect();
        text
    }
}

/// Functions that the texts of a language use.
pub(crate) fn functions(language: Language) -> &'static str {
    match language {
        Language::Wgsl => {
            "
fn swapped(x: u32) -> u32 {
    return (x << 24u) | ((x & 0xff00u) << 8u) | ((x >> 8u) & 0xff00u) | (x >> 24u);
}
fn sum(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
    let low = x.x + y.x;
    return vec2<u32>(low, x.y + y.y + select(0u, 1u, low < x.x));
}
"
        }
        Language::WgslInt64 => {
            "
fn swapped(x: u32) -> u32 {
    return (x << 24u) | ((x & 0xff00u) << 8u) | ((x >> 8u) & 0xff00u) | (x >> 24u);
}
"
        }
        // Compilers make no funnel shifts of shifts of 64 bits. A sum as a product by 1 goes through the pipe of
        // multiplications, which is idle; that of sums, rotations and logic is full. `gridDim.y` is 1, which compilers
        // do not know. G nonces/s of the kernel without products, with them, and if rotated words also go there: SHA-1
        // 46.1, 48.0, 42.1; SHA-256 15.9, 16.1, 16.3; RIPEMD-160 27.7, 30.6, 24.7; MD5 97.8, 97.4, 79.9 (NVIDIA H200,
        // driver 580.159.04, 2026-11-27). Before compute capability 7.0 a product takes more than one instruction.
        Language::Cuda => {
            "\
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
static __device__ inline uint64_t rotated(uint64_t x, int n)
{
    const uint32_t low = (uint32_t)(n < 32 ? x : x >> 32), high = (uint32_t)(n < 32 ? x >> 32 : x);
    return (uint64_t)__funnelshift_l(low, high, n % 32) << 32 | __funnelshift_l(high, low, n % 32);
}
static __device__ inline uint32_t plus(uint32_t x, uint32_t y)
{
#if __CUDA_ARCH__ >= 700
    asm(\"mad.lo.u32 %0, %0, %1, %2;\" : \"+r\"(y) : \"r\"(gridDim.y), \"r\"(x));
    return y;
#else
    return x + y;
#endif
}
"
        }
    }
}

/// Four words of the round's row of the table.
fn row_of_table(language: Language, i: usize) -> String {
    let declared = if language == Language::Cuda { "const uint4" } else { "let" };
    format!("    {declared} r{i} = table[row + {i}u];\n")
}

fn literal(language: Language, value: u64, nbits: u32) -> String {
    match (language, nbits) {
        (_, 32) => format!("0x{value:08x}u"),
        (Language::Wgsl, _) => format!("vec2<u32>(0x{:08x}u, 0x{:08x}u)", value as u32, value >> 32),
        (Language::WgslInt64, _) => format!("0x{value:016x}lu"),
        (Language::Cuda, _) => format!("0x{value:016x}ull"),
    }
}

fn expression(language: Language, operation: &Operation, nbits: u32, operands: &[&str]) -> String {
    let (x, y, z) = (
        operands.first().copied().unwrap_or_default(),
        operands.get(1).copied().unwrap_or_default(),
        operands.get(2).copied().unwrap_or_default(),
    );
    let is_pair = nbits == 64 && language == Language::Wgsl;
    let is_cuda = language == Language::Cuda;
    match *operation {
        Operation::Constant(_) | Operation::Named(_) | Operation::Given(..) => unreachable!("these have no operands"),
        Operation::Add if is_pair => format!("sum({x}, {y})"),
        Operation::Add => format!("({x} + {y})"),
        Operation::Xor => format!("({x} ^ {y})"),
        Operation::Xor3 => format!("({x} ^ {y} ^ {z})"),
        Operation::Ch => format!("((({y} ^ {z}) & {x}) ^ {z})"),
        Operation::Maj => format!("(({x} & {y}) | ({z} & ({x} | {y})))"),
        Operation::OrnXor => format!("(({x} | ~{y}) ^ {z})"),
        Operation::Rol(n) if is_pair => {
            let (low, high) = if n < 32 { ("x", "y") } else { ("y", "x") };
            match n % 32 {
                0 => format!("{x}.{low}{high}"),
                n => format!(
                    "vec2<u32>(({x}.{low} << {n}u) | ({x}.{high} >> {m}u), ({x}.{high} << {n}u) | ({x}.{low} >> {m}u))",
                    m = 32 - n
                ),
            }
        }
        Operation::Rol(n) if is_cuda && nbits == 32 => format!("__funnelshift_l({x}, {x}, {n})"),
        Operation::Rol(n) if is_cuda => format!("rotated({x}, {n})"),
        Operation::Rol(n) => format!("(({x} << {n}u) | ({x} >> {}u))", nbits - n),
        Operation::Shr(n) if is_pair => {
            format!("vec2<u32>(({x}.x >> {n}u) | ({x}.y << {}u), {x}.y >> {n}u)", 32 - n)
        }
        Operation::Shr(n) => format!("({x} >> {n}u)"),
        Operation::Join => match language {
            Language::Wgsl => format!("vec2<u32>({y}, {x})"),
            Language::WgslInt64 => format!("((u64({x}) << 32u) | u64({y}))"),
            Language::Cuda => format!("((uint64_t){x} << 32 | {y})"),
        },
        Operation::High => match language {
            Language::Wgsl => format!("{x}.y"),
            Language::WgslInt64 => format!("u32({x} >> 32u)"),
            Language::Cuda => format!("(uint32_t)({x} >> 32)"),
        },
        Operation::Low => match language {
            Language::Wgsl => format!("{x}.x"),
            Language::WgslInt64 => format!("u32({x})"),
            Language::Cuda => format!("(uint32_t){x}"),
        },
        Operation::Swap if is_cuda => format!("__byte_perm({x}, 0, 0x0123)"),
        Operation::Swap => format!("swapped({x})"),
    }
}

/// The result of an operation on words of these bits.
fn value_of(operation: &Operation, operands: &[u64], nbits: u32) -> u64 {
    let of = |i: usize| operands.get(i).copied().unwrap_or_default();
    let (x, y, z) = (of(0), of(1), of(2));
    let value = match *operation {
        Operation::Constant(value) => value,
        Operation::Named(_) | Operation::Given(..) => 0,
        Operation::Add => x.wrapping_add(y),
        Operation::Xor => x ^ y,
        Operation::Xor3 => x ^ y ^ z,
        Operation::Ch => ((y ^ z) & x) ^ z,
        Operation::Maj => (x & y) | (z & (x | y)),
        Operation::OrnXor => (x | !y) ^ z,
        Operation::Rol(n) if nbits == 32 => u64::from((x as u32).rotate_left(n)),
        Operation::Rol(n) => x.rotate_left(n),
        Operation::Shr(n) => x >> n,
        Operation::Join => x << 32 | y,
        Operation::High => x >> 32,
        Operation::Low => x,
        Operation::Swap => u64::from((x as u32).swap_bytes()),
    };
    if nbits == 32 { value & u64::from(u32::MAX) } else { value }
}
