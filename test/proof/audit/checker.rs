// checker.rs: verifies certificates of certify.py, whose head says what a line means. It trusts nothing of words.py.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//     rustc -O test/proof/audit/checker.rs && ./checker FILE...
//
// A word is a list of bits. A bit is a polynomial over GF(2) (the algebraic normal form) in unknown bits: the same
// polynomial is the same function. A sum is a word of new unknown bits, whose terms are kept. Two sums modulo 2^n are
// equal if their difference is 0: a linear combination of bits, in which equal bits cancel out, and all bits of a sum
// are replaced by its terms, those of the latest sum first. What is left is written as a polynomial over the integers,
// in which x xor y is x + y - 2xy, and must be 0.
//
// Beside that reasoning each unknown bit has 64 random values, and sums have theirs by addition. Nothing is equal that
// differs in one of them.
//
// Exit status: 0 all verified, 1 a line is not: it is printed, with what is wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::rc::Rc;

type Word = Rc<[u32]>; // the numbers of its bits, without zeros at the end
type Term = (Word, i64); // of a sum, and how often it is counted
type Counts = BTreeMap<u32, u64>; // a linear combination of bits
type Outcome<T> = Result<T, String>;

// Limits: a certificate that needs more is refused.
const MOST_ROOM: usize = 1 << 29; // numbers in all lists, and bytes of a file
const MOST_BITS: usize = 1 << 10; // of a word
const MOST_PRODUCTS: usize = 1 << 16; // of two polynomials
const MOST_LEFT: usize = 1 << 12; // bits of a difference, and sums that are replaced in it
const MOST_TERMS: usize = 8; // of a bit that is written over the integers

const ZERO: u32 = 0; // the bit of no term
const ONE: u32 = 1; // the bit whose term is product 0, the empty one

/// Lists that are kept once, with a number and 64 random values each.
#[derive(Default)]
struct Lists {
    items: Vec<u32>, // of all lists, one behind the other
    ends: Vec<usize>,
    values: Vec<u64>,
    table: Vec<u32>, // numbers by hashes; u32::MAX: none
}

impl Lists {
    fn list(&self, number: u32) -> &[u32] {
        let i = number as usize;
        &self.items[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]]
    }

    /// The index in the table of a list's number, or of the free slot for the number.
    fn place(&self, list: &[u32]) -> usize {
        let mix = |h: u64, &x: &u32| (h ^ u64::from(x)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let mut i = list.iter().fold(0, mix) as usize & (self.table.len() - 1);
        while self.table[i] != u32::MAX && self.list(self.table[i]) != list {
            i = (i + 1) & (self.table.len() - 1);
        }
        i
    }

    fn number(&mut self, list: &[u32], value: impl FnOnce() -> u64) -> u32 {
        if self.table.len() < 2 * self.ends.len() + 2 {
            self.table = vec![u32::MAX; 1024.max(4 * self.table.len())];
            for number in 0..self.ends.len() as u32 {
                let place = self.place(self.list(number));
                self.table[place] = number;
            }
        }
        let place = self.place(list);
        if self.table[place] == u32::MAX {
            self.table[place] = self.ends.len() as u32;
            self.items.extend_from_slice(list);
            self.ends.push(self.items.len());
            self.values.push(value());
        }
        self.table[place]
    }

    fn room(&self) -> usize {
        self.items.len() + 4 * self.ends.len() + self.table.len()
    }
}

fn mask(n: usize) -> u64 {
    u64::MAX >> (64 - n)
}

fn word(mut bits: Vec<u32>) -> Outcome<Word> {
    bits.truncate(bits.iter().rposition(|&bit| bit != ZERO).map_or(0, |i| i + 1));
    if bits.len() > MOST_BITS { Err("a word is too long".into()) } else { Ok(bits.into()) }
}

fn at(word: &[u32], i: usize) -> u32 {
    word.get(i).copied().unwrap_or(ZERO)
}

fn number(text: Option<&&str>, low: usize, high: usize) -> Outcome<usize> {
    let n = text.and_then(|x| x.parse().ok()).filter(|n| (low..=high).contains(n));
    n.ok_or_else(|| format!("{text:?} is no number from {low} to {high}"))
}

#[derive(Default)]
struct Checker {
    products: Lists,                        // of unknown bits
    bits: Lists,                            // sums of products
    now: Vec<u32>,                          // for each bit: that which has its place since it was named
    sums: HashMap<u32, (usize, Vec<Term>)>, // of how many bits, by the lowest
    steps: Vec<Word>,
    room: usize,
    nunknown: u32,
    seed: u64,
    nlines: usize,
    nequal: usize,
    nclaims: usize, // of this run
    nruns: usize,
    is_done: bool,
}

impl Checker {
    fn reset(&mut self) {
        (self.products, self.bits, self.sums, self.steps, self.now) = Default::default();
        (self.room, self.nunknown) = (0, 0);
        self.products.number(&[], || u64::MAX);
        self.bit(&[]);
        self.bit(&[0]);
    }

    /// The bit that is a sum of products, by their numbers in order.
    fn bit(&mut self, terms: &[u32]) -> u32 {
        let values = &self.products.values;
        let number = self.bits.number(terms, || terms.iter().fold(0, |x, &p| x ^ values[p as usize]));
        if number as usize == self.now.len() {
            self.now.push(number);
        }
        self.now[number as usize]
    }

    fn unknown(&mut self, value: Option<u64>) -> u32 {
        // xorshift, with a product
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let value = value.unwrap_or(self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let product = self.products.number(&[self.nunknown], || value);
        self.nunknown += 1;
        self.bit(&[product])
    }

    fn value(&self, bit: u32) -> u64 {
        self.bits.values[bit as usize]
    }

    /// The sum modulo 2 of products.
    fn sum(&mut self, mut products: Vec<u32>) -> u32 {
        products.sort();
        let odd = products.chunk_by(|p, q| p == q).filter(|same| same.len() & 1 == 1);
        let terms: Vec<u32> = odd.map(|same| same[0]).collect();
        self.bit(&terms)
    }

    fn xor(&mut self, x: u32, y: u32) -> u32 {
        self.sum([self.bits.list(x), self.bits.list(y)].concat())
    }

    fn and(&mut self, x: u32, y: u32) -> Outcome<u32> {
        let (x, y) = (self.bits.list(x), self.bits.list(y));
        if x.len() * y.len() > MOST_PRODUCTS {
            return Err("a polynomial is too long".into());
        }
        let mut all = Vec::with_capacity(x.len() * y.len());
        for (&p, &q) in x.iter().flat_map(|p| y.iter().map(move |q| (p, q))) {
            let mut both = [self.products.list(p), self.products.list(q)].concat();
            both.sort_unstable();
            both.dedup();
            let value = self.products.values[p as usize] & self.products.values[q as usize];
            all.push(self.products.number(&both, || value));
        }
        Ok(self.sum(all))
    }

    /// A product is a term of a boolean function if the function is true for an odd number of the rows within it.
    fn table(&mut self, rows: usize, words: &[Word; 3]) -> Outcome<Word> {
        let is_term = |p: usize| (0..8).filter(|row| rows >> row & 1 == 1 && row & !p == 0).count() & 1 == 1;
        let products: Vec<usize> = (0..8).filter(|&p| is_term(p)).collect();
        let n = words.iter().map(|x| x.len()).max().filter(|_| rows & 1 == 0).unwrap_or(512);
        let mut out = vec![ZERO; n];
        for (i, sum) in out.iter_mut().enumerate() {
            for p in &products {
                let mut term = ONE;
                for factor in (0..3).filter(|j| p << j & 4 != 0).map(|j| at(&words[j], i)) {
                    term = if term == ONE { factor } else { self.and(term, factor)? };
                }
                *sum = if *sum == ZERO { term } else { self.xor(*sum, term) };
            }
        }
        word(out)
    }

    /// From here on the bits of a word are unknown bits. What they were is what the new ones are, by definition.
    fn name(&mut self, word: &[u32]) {
        for &bit in word {
            let other = self.xor(bit, ONE);
            let (was, inverse) = if self.bits.list(bit).first() == Some(&0) { (other, bit) } else { (bit, other) };
            // A named bit is an unknown bit already.
            let is_unknown = |terms: &[u32]| terms.len() == 1 && self.products.list(terms[0]).len() == 1;
            if was != ZERO && !is_unknown(self.bits.list(was)) {
                let new = self.unknown(Some(self.value(was)));
                self.now[was as usize] = new;
                self.now[inverse as usize] = self.xor(new, ONE);
            }
        }
    }

    /// Adds the bits of a word to a linear combination modulo 2^n. A bit with a constant is 1 - the bit without it.
    fn count(&mut self, counts: &mut Counts, n: usize, word: &[u32], times: u64) {
        for (i, &bit) in word.iter().enumerate().take(n) {
            let (bit, times) = (self.now[bit as usize], times << i);
            let is_inverse = bit != ONE && self.bits.list(bit).first() == Some(&0);
            let parts = if is_inverse {
                [(ONE, times), (self.xor(bit, ONE), times.wrapping_neg())]
            } else {
                [(bit, times), (ZERO, 0)]
            };
            for (bit, times) in parts {
                let sum = counts.entry(bit).or_default();
                *sum = sum.wrapping_add(times) & mask(n);
                if *sum == 0 {
                    counts.remove(&bit);
                }
            }
        }
    }

    /// Whether a sum is 0 for all values of the unknown bits.
    fn is_zero(&mut self, n: usize, terms: &[Term]) -> bool {
        let mut counts = Counts::new();
        for (word, times) in terms {
            self.count(&mut counts, n, word, *times as u64);
        }
        let (mut nreplaced, mut last) = (0, u32::MAX);
        // The terms of a sum were there before it.
        while let Some((&low, &times)) = counts.range(..last).rfind(|x| self.sums.contains_key(x.0)) {
            last = low;
            let (of, terms) = &self.sums[&low];
            let bits = low..low + n.min(*of) as u32;
            let is_other = |bit| counts.get(&bit).copied().unwrap_or(0) != times << (bit - low) & mask(n);
            // Times the sum modulo 2^of must be times the sum modulo 2^n.
            if (*of < n && times << of & mask(n) != 0) || bits.clone().any(is_other) {
                continue;
            }
            counts.retain(|bit, _| !bits.contains(bit));
            for (word, each) in terms.clone() {
                self.count(&mut counts, n, &word, times.wrapping_mul(each as u64));
            }
            nreplaced += 1;
            if nreplaced.max(counts.len()) > MOST_LEFT {
                return false;
            }
        }
        self.is_zero_over_integers(&counts, n)
    }

    /// A sum of k products modulo 2 is the sum of the products of each m of these, times (-2)^(m-1). As a polynomial
    /// over the integers modulo 2^n a function of bits is 0 only if all coefficients are.
    fn is_zero_over_integers(&self, counts: &Counts, n: usize) -> bool {
        let mut coefficients = BTreeMap::<Vec<u32>, u64>::new();
        for (&bit, &count) in counts {
            let terms = self.bits.list(bit);
            if terms.len() > MOST_TERMS {
                return false;
            }
            for some in 1..1usize << terms.len() {
                let of = terms.iter().enumerate().filter(|(i, _)| some >> i & 1 == 1);
                let product: BTreeSet<u32> = of.flat_map(|(_, &p)| self.products.list(p)).copied().collect();
                let times = count.wrapping_mul((-2i64).wrapping_pow(some.count_ones() - 1) as u64);
                let sum = coefficients.entry(product.into_iter().collect()).or_default();
                *sum = sum.wrapping_add(times);
            }
        }
        coefficients.values().all(|x| x & mask(n) == 0)
    }

    /// The sums of the random values.
    fn added(&self, n: usize, terms: &[Term]) -> Vec<u64> {
        let mut out = vec![0; n];
        for (word, times) in terms {
            let flip = if *times < 0 { u64::MAX } else { 0 };
            for k in (0..n).filter(|k| times.unsigned_abs() >> k & 1 == 1) {
                let mut carry = flip;
                for (i, total) in out.iter_mut().enumerate() {
                    let x = if i < k { ZERO } else { at(word, i - k) };
                    let (x, y) = (self.value(x) ^ flip, *total);
                    (*total, carry) = (x ^ y ^ carry, x & y | x & carry | y & carry);
                }
            }
        }
        out
    }

    /// A step or a constant.
    fn operand(&self, text: &str) -> Outcome<Word> {
        if let Some(digits) = text.strip_prefix('#') {
            let digits: Option<Vec<u32>> = digits.chars().rev().map(|x| x.to_digit(16)).collect();
            let digits = digits.ok_or_else(|| format!("{text} is no constant"))?;
            return word(digits.iter().flat_map(|x| (0..4).map(move |i| x >> i & 1)).collect());
        }
        let word = text.parse::<usize>().ok().and_then(|i| self.steps.get(i));
        let word = word.ok_or_else(|| format!("{text} is no step before this one"))?;
        if word.iter().all(|&bit| self.now[bit as usize] == bit) {
            return Ok(Rc::clone(word));
        }
        Ok(word.iter().map(|&bit| self.now[bit as usize]).collect())
    }

    fn operands<const N: usize>(&self, args: &[&str]) -> Outcome<[Word; N]> {
        let words: Vec<Word> = args.iter().map(|x| self.operand(x)).collect::<Outcome<_>>()?;
        words.try_into().map_err(|_| format!("not {N} operands"))
    }

    /// Verifies that a sum modulo 2^n is a word; n = 0: that the only term is.
    fn verify(&mut self, n: usize, mut terms: Vec<Term>, word: &Word) -> Outcome<()> {
        self.nequal += 1;
        if n == 0 && terms[0].0 == *word {
            return Ok(());
        }
        let n = if n == 0 { word.len().max(terms[0].0.len()) } else { n };
        let values: Vec<u64> = (0..n).map(|i| self.value(at(word, i))).collect();
        if word.len() > n || self.added(n, &terms) != values {
            return Err("not equal for random values".into());
        }
        terms.push((Rc::clone(word), -1));
        if n <= 64 && self.is_zero(n, &terms) { Ok(()) } else { Err("not found to be equal".into()) }
    }

    /// The result of a step: n and the terms of a sum modulo 2^n, or 0 and a single word.
    fn made(&mut self, op: &str, args: &[&str]) -> Outcome<(usize, Vec<Term>)> {
        let made = match op {
            "v" => (0..number(args.first(), 1, 64)?).map(|_| self.unknown(None)).collect(),
            "t" => {
                let (rows, words) = (number(args.first(), 0, 255)?, self.operands(&args[1..])?);
                self.table(rows, &words)?
            }
            "j" => {
                let mut bits = Vec::new();
                for part in args.chunks(3) {
                    let [x] = self.operands(&part[..1])?;
                    let (from, n) = (number(part.get(1), 0, MOST_BITS)?, number(part.get(2), 0, MOST_BITS)?);
                    bits.extend((from..from + n).map(|i| at(&x, i)));
                }
                word(bits)?
            }
            "+" => {
                let term = |x: &&str| {
                    let (times, x) = x.split_once('*').unwrap_or(("1", x));
                    Ok((self.operand(x)?, times.parse().map_err(|_| format!("{times} is no number"))?))
                };
                return Ok((number(args.first(), 1, 64)?, args[1..].iter().map(term).collect::<Outcome<_>>()?));
            }
            _ => return Err("no such line".into()),
        };
        Ok((0, vec![(made, 1)]))
    }

    fn step(&mut self, op: &str, args: &[&str], equal: Option<&str>) -> Outcome<()> {
        let equal = equal.map(|x| self.operand(x)).transpose()?;
        let (n, terms) = self.made(op, args)?;
        let out: Word = match equal {
            Some(word) => {
                self.verify(n, terms, &word)?;
                word
            }
            None if n == 0 => Rc::clone(&terms[0].0),
            None => {
                self.room += terms.len() * 8 + 32;
                let bits: Word = self.added(n, &terms).into_iter().map(|x| self.unknown(Some(x))).collect();
                self.sums.insert(bits[0], (n, terms));
                bits
            }
        };
        self.room += out.len() + 8;
        self.steps.push(out);
        Ok(())
    }

    fn line(&mut self, text: &str) -> Outcome<()> {
        let (text, equal) = text.split_once(" ~").map_or((text, None), |(text, equal)| (text, Some(equal)));
        let (op, rest) = text.split_once(' ').unwrap_or((text, ""));
        let args: Vec<&str> = rest.split(' ').collect();
        match op {
            _ if self.is_done => return Err("behind the end".into()),
            "=" => {
                let [x, y] = self.operands(&args)?;
                self.verify(0, vec![(x, 1)], &y)?;
                self.nclaims += 1;
            }
            "n" => {
                let [x] = self.operands(&args)?;
                self.name(&x);
            }
            "s" => {}
            "reset" if self.nclaims == 0 => self.reset(),
            "q" => {
                number(args.first(), self.nclaims.max(1), self.nclaims)?;
                (self.nclaims, self.nruns) = (0, self.nruns + 1);
            }
            "end" if self.nclaims == 0 && self.nruns > 0 => {
                number(args.first(), self.nlines, self.nlines)?;
                self.is_done = true;
            }
            _ => self.step(op, &args, equal)?,
        }
        self.nlines += 1;
        let room = self.room + self.bits.room() + self.products.room();
        if room > MOST_ROOM { Err("the certificate is too large".into()) } else { Ok(()) }
    }
}

fn verified(path: &str) -> Outcome<Checker> {
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?.take(MOST_ROOM as u64);
    let mut checker = Checker { seed: 1, ..Checker::default() };
    checker.reset();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| e.to_string())?;
        checker.line(&line).map_err(|why| format!("line {}: {line}: {why}", checker.nlines + 1))?;
    }
    if checker.is_done { Ok(checker) } else { Err("the end is missing".into()) }
}

fn main() {
    let mut status = 0;
    for path in std::env::args().skip(1) {
        match verified(&path) {
            Ok(c) => println!("{path}: {} lines, {} equalities, {} runs: verified", c.nlines, c.nequal, c.nruns),
            Err(why) => {
                println!("{path}: refused: {why}");
                status = 1;
            }
        }
    }
    std::process::exit(status);
}
