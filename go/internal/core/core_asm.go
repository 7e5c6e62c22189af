// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The C core of this repository as Go assembly. A folder named gen makes it, and describes how it works.
//
//go:generate python3 gen/text.py

// Compiled says whether the C core is in the program.
const Compiled = true

// Enabled says whether the C core is in use: on amd64 it needs AVX2.
func Enabled() bool { return isAvailable() && !machine.off.Load() }

func isAvailable() bool {
	setUp()
	return machine.available
}

// Ctx is a running computation: hl_ctx of the C core. Its zero value must be initialised.
type Ctx struct {
	state  [25]uint64
	nbytes uint64
	block  [168]byte
	alg, _ uint32
}

// Key is an HMAC key, ready for use: hl_hmac_key of the C core. It may be copied.
type Key struct {
	inner, outer [25]uint64
	alg, _       uint32
}

// scratch is the memory of one call: C's stack, and the streams of long messages. It holds no Go pointers that are
// needed after the call.
type scratch struct {
	slots [slotsSize / 8]uint64 // struct slots of gen/entry.c
	stack [stackSize / 8]uint64
}

const (
	slotsSize = 48 * (384 + 200 + 16)
	// The core's calls take up to 30 KiB, entry.c up to 12.
	stackSize = 48 << 10
)

// kept has memory for calls that no garbage collection takes away: about one for each CPU. Goroutines use the place
// that the address of their stack leads to, so that they seldom wait for each other's cache lines. pool has what finds
// no place there.
var (
	kept = make([]place, 1<<bits.Len(uint(runtime.GOMAXPROCS(0)-1)))
	pool = sync.Pool{New: func() any { return new(scratch) }}
)

// place is a cache line.
type place struct {
	scratch atomic.Pointer[scratch]
	_       [56]byte
}

func placeOf(c *call) *place {
	const stackSize = 8 << 10 // goroutines' stacks are apart by this much, or less
	return &kept[int(uintptr(unsafe.Pointer(c))/stackSize)&(len(kept)-1)]
}

func takeScratch(from *place) *scratch {
	if s := from.scratch.Swap(nil); s != nil {
		return s
	}
	return pool.Get().(*scratch)
}

func (s *scratch) free(to *place) {
	if !to.scratch.CompareAndSwap(nil, s) {
		pool.Put(s)
	}
}

// op is the number of a call in gen/entry.c.
type op uint32

const (
	opSetup op = iota
	opISA
	opRestrict
	opCosts
	opKernel
	opOne
	opSum
	opUpdate
	opPeek
	opKey
	opSearch
)

// call is the argument of a call: struct call of gen/entry.c.
type call struct {
	op  op
	alg Alg
	costs
	dst            *byte
	digestLen      int
	slices         *[]byte
	rows           *byte
	rowLen, stride int
	count          int
	begin          *Ctx
	keys           *Key
	keyStride      uintptr
	ctxs           **Ctx
	next           int
	_, _           int // pos, nslots: what earlier slices have done
	status         uint32
	again          Alg
	search         *search
}

// search is a search, and what it has found: struct search of gen/entry.c.
type search struct {
	job    searchJob
	cost   uint64 // of a nonce
	nonces *uint64
	room   int
	nfound int
}

// searchJob is hl_search_job of the C core.
type searchJob struct {
	size                    uintptr
	alg, again              Alg
	prefix                  *byte
	prefixLen               int
	suffix                  *byte
	suffixLen               int
	alphabet                *byte
	base, width             uint32
	nonceOrder, digestOrder uint32 // 1: the least significant digit, or byte, is the first
	first, last             uint64
	target                  [MaxSize]byte
}

// enter calls the core: enter_amd64.s, enter_arm64.s.
//
//go:noescape
func enter(c *call, s *scratch) uint64

// run makes a call.
func (c *call) run() {
	from := placeOf(c)
	s := takeScratch(from)
	c.runOn(s) // after a fault in a message, nobody gets s, in which a secret may be
	s.free(from)
}

// runOn makes a call in slices: between them the garbage collector may stop the goroutine.
func (c *call) runOn(s *scratch) {
	if !Enabled() {
		c.runInGo(s)
		return
	}
	c.runInC(s)
}

func (c *call) runInC(s *scratch) {
	for enter(c, s) != 0 {
	}
	if c.status != 0 {
		panic("hashloom: internal error: " + statuses[c.status])
	}
}

// The values of hl_status that a wrong argument can have.
var statuses = [...]string{
	1: "unknown algorithm",
	2: "a pointer is nil",
	3: "a message is too long",
	4: "a stream or key is not initialised, or has another algorithm than the others",
	5: "an instruction set is not available",
	8: "two arguments contradict each other",
}

// ask makes a call of the core itself, which hashes nothing.
func (c *call) ask() {
	from := placeOf(c)
	s := takeScratch(from)
	c.runInC(s)
	s.free(from)
}

// costs are those of an algorithm on this machine, from registry.def. entry.c measures the slices by them.
type costs struct {
	block   uint64 // many messages, one message << 32
	longest int    // the longest message that is no stream
}

// costsOf has those of the algorithms in use: use sets them.
var costsOf [len(rows)]atomic.Pointer[costs]

// choosing is held while kernels become known, or are restricted.
var choosing sync.Mutex

// The functions Use... return alg. They make the kernels of its block function known to the core, which all other calls
// need. A program has only the kernels of the functions that it calls.

func UseSHA1(alg Alg) Alg      { return use(alg, link_sha1, &sha1Way) }
func UseSHA256(alg Alg) Alg    { return use(alg, link_sha256, &sha256Way) }
func UseSHA512(alg Alg) Alg    { return use(alg, link_sha512, &sha512Way) }
func UseRIPEMD160(alg Alg) Alg { return use(alg, link_ripemd160, &ripemd160Way) }
func UseMD5(alg Alg) Alg       { return use(alg, link_md5, &md5Way) }
func UseKeccak(alg Alg) Alg    { return use(alg, link_keccak, &keccakWay) }

func UseSHA1DC() Alg {
	UseSHA1(SHA1)
	return use(SHA1DC, link_sha1dc, &sha1dcWay)
}

func use(alg Alg, link func(), way *way) Alg {
	if costsOf[alg].Load() == nil {
		useFirst(alg, link, way)
	}
	return alg
}

func useFirst(alg Alg, link func(), way *way) {
	setUp()
	choosing.Lock()
	defer choosing.Unlock()
	if costsOf[alg].Load() != nil {
		return // another goroutine was first
	}
	body := alg.Info().Body
	if machine.available {
		link()
		_, _, allowed := isas(0)
		restrict(allowed) // what is chosen depends on the kernels that are known
	}
	for _, alg := range append([]Alg{alg}, All...) {
		if alg.Info().Body == body && ways[alg] == nil {
			fresh[alg].alg = uint32(alg)
			ways[alg] = way
			fresh[alg].setHash(way.new(alg))
			setCosts(alg)
		}
	}
}

// setUp tells the core what this machine has. All calls need it.
func setUp() {
	machine.once.Do(func() {
		c := call{op: opSetup, count: int(hwcap())}
		c.ask()
		machine.available = c.count != 0
	})
}

// machine is what setUp has found out. off: [Restrict] has left out the core.
var machine struct {
	once      sync.Once
	available bool
	off       atomic.Bool
}

func setCosts(alg Alg) {
	if !machine.available {
		costsOf[alg].Store(&inGo)
		return
	}
	c := call{op: opCosts, alg: alg}
	c.ask()
	costsOf[alg].Store(&c.costs)
}

// sumCall is a call for n digests of size bytes each.
func sumCall(alg Alg, dst []byte, size, n int) call {
	if n > len(dst)/size {
		panic("hashloom: internal error: no room for the digests")
	}
	return call{op: opSum, alg: checked(alg), costs: *costsOf[alg].Load(), dst: unsafe.SliceData(dst), digestLen: size,
		count: n}
}

// sumManyCall is sumCall for messages.
func sumManyCall(alg Alg, dst []byte, size int, msgs [][]byte) call {
	c := sumCall(alg, dst, size, len(msgs))
	c.slices = unsafe.SliceData(msgs)
	return c
}

// sumRowsCall is sumCall for rows.
func sumRowsCall(alg Alg, dst []byte, size int, rows []byte, n, rowLen, stride int) call {
	c := sumCall(alg, dst, size, n)
	c.rows = c.setRows(rows, n, rowLen, stride)
	return c
}

func (c *call) setRows(rows []byte, n, rowLen, stride int) *byte {
	if n > 0 {
		high, low := bits.Mul64(uint64(n-1), uint64(stride))
		if rowLen < 0 || stride < 0 || high != 0 || rowLen > len(rows) || low > uint64(len(rows)-rowLen) {
			panic("hashloom: internal error: rows beyond the buffer")
		}
	}
	c.rowLen, c.stride, c.count = rowLen, stride, max(n, 0)
	return unsafe.SliceData(rows)
}

// Sum writes the digest of msg to dst, which has room for it.
func Sum(alg Alg, dst, msg []byte) {
	c := sumOneCall(alg, dst, msg)
	c.run()
}

func sumOneCall(alg Alg, dst, msg []byte) call {
	c := sumCall(alg, dst, alg.Size(), 1)
	c.rows, c.rowLen = unsafe.SliceData(msg), len(msg)
	if len(msg) <= c.longest {
		c.op = opOne
	}
	return c
}

// SumMany writes the digest of msgs[i] to dst[i*size:], with len(dst) == len(msgs)*size.
func SumMany(alg Alg, dst []byte, msgs [][]byte) {
	c := sumManyCall(alg, dst, alg.Size(), msgs)
	c.run()
}

// SumRows writes the digest of rows[i*stride:i*stride+rowLen] to dst[i*size:], for i from 0 to n-1.
func SumRows(alg Alg, dst, rows []byte, n, rowLen, stride int) {
	c := sumRowsCall(alg, dst, alg.Size(), rows, n, rowLen, stride)
	c.run()
}

// enterPairs calls the core for at most fewPairs pairs. They take half of its frame.
//
//go:noescape
func enterPairs(nodes *byte, count int, digests *byte)

const fewPairs = 16

// SumPairs is SumRows for n pairs of nodes of 32 bytes, in a call that is not copied.
func SumPairs(alg Alg, dst, rows []byte) {
	const size = PairSize
	n := len(rows) / size
	if alg.Size() != size/2 || len(dst) < n*size/2 {
		panic("hashloom: internal error: no room for the nodes")
	}
	if alg == SHA256 && uint(n-1) < fewPairs && Enabled() {
		enterPairs(unsafe.SliceData(rows), n, unsafe.SliceData(dst))
		return
	}
	c := call{op: opSum, alg: checked(alg), costs: *costsOf[alg].Load(), dst: unsafe.SliceData(dst), digestLen: size / 2,
		rows: unsafe.SliceData(rows), rowLen: size, stride: size, count: n}
	c.run()
}

// SumManyXOF is SumMany with digests of size bytes each, by an XOF.
func SumManyXOF(alg Alg, dst []byte, size int, msgs [][]byte) {
	c := sumManyCall(alg, dst, size, msgs)
	if size > c.longest { // a call could not squeeze a group of them
		sumManyXOF(alg, dst, size, msgs)
		return
	}
	c.run()
}

// SumRowsXOF is SumRows with digests of size bytes each, by an XOF.
func SumRowsXOF(alg Alg, dst []byte, size int, rows []byte, n, rowLen, stride int) {
	c := sumRowsCall(alg, dst, size, rows, n, rowLen, stride)
	if size > c.longest {
		sumRowsXOF(alg, dst, size, rows, n, rowLen, stride)
		return
	}
	c.run()
}

// SumManyFrom is SumMany for messages that continue the one of ctx, which does not change.
func SumManyFrom(ctx *Ctx, dst []byte, msgs [][]byte) {
	alg := ctx.algorithm()
	c := sumManyCall(alg, dst, alg.Size(), msgs)
	c.begin = ctx
	c.run()
}

// SumRowsFrom is SumRows for rows that continue the message of ctx, which does not change.
func SumRowsFrom(ctx *Ctx, dst, rows []byte, n, rowLen, stride int) {
	alg := ctx.algorithm()
	c := sumRowsCall(alg, dst, alg.Size(), rows, n, rowLen, stride)
	c.begin = ctx
	c.run()
}

func (ctx *Ctx) algorithm() Alg { return checked(Alg(ctx.alg)) }

func checked(alg Alg) Alg {
	if !alg.IsOffered() {
		panic("hashloom: internal error: unknown algorithm, or a stream or key is not initialised")
	}
	return alg
}

// SumAgainMany writes the digest by again of the digest of msgs[i] to dst[i*size:], where size is again's.
func SumAgainMany(alg, again Alg, dst []byte, msgs [][]byte) {
	c := sumManyCall(again, dst, again.Size(), msgs) // the digests are again's
	c.alg, c.again, c.costs = checked(alg), again, *costsOf[alg].Load()
	c.run()
}

// SumAgainRows is SumAgainMany for rows, as in SumRows.
func SumAgainRows(alg, again Alg, dst, rows []byte, n, rowLen, stride int) {
	c := sumRowsCall(again, dst, again.Size(), rows, n, rowLen, stride)
	c.alg, c.again, c.costs = checked(alg), again, *costsOf[alg].Load()
	c.run()
}

// fresh has a context of each algorithm before the first byte of a message.
var fresh [len(rows)]Ctx

// Init begins a message.
func Init(ctx *Ctx, alg Alg) { *ctx = fresh[checked(alg)] }

// Copy makes dst an independent copy of src.
func Copy(dst, src *Ctx) { *dst = *src }

// Holds reports whether n more bytes complete no block, so that Update only keeps them.
func (ctx *Ctx) Holds(n int) bool { return n < ctx.room() }

// room returns the bytes that the message lacks to a whole block.
func (ctx *Ctx) room() int {
	blockSize := ctx.algorithm().Info().BlockSize
	return blockSize - int(ctx.nbytes%uint64(blockSize))
}

// Update appends p to the message of ctx.
func Update(ctx *Ctx, p []byte) {
	if room := ctx.room(); len(p) < room {
		copy(ctx.block[ctx.algorithm().Info().BlockSize-room:], p)
		ctx.nbytes += uint64(len(p))
		return
	}
	c := call{op: opUpdate, costs: *costsOf[ctx.algorithm()].Load(), ctxs: &ctx}
	c.rows = c.setRows(p, 1, len(p), 0)
	c.run()
}

// Peek writes the digest of ctx to dst. ctx does not change.
func Peek(ctx *Ctx, dst []byte) {
	alg := ctx.algorithm()
	c := sumCall(alg, dst, alg.Size(), 1)
	c.op, c.ctxs = opPeek, &ctx
	c.run()
}

// UpdateMany appends chunks[i] to the message of ctxs[i]. The contexts have one algorithm and are all different.
func UpdateMany(ctxs []*Ctx, chunks [][]byte) {
	if len(ctxs) == 0 {
		return
	}
	_ = chunks[len(ctxs)-1]
	c := call{op: opUpdate, costs: *costsOf[ctxs[0].algorithm()].Load(), ctxs: unsafe.SliceData(ctxs), count: len(ctxs)}
	c.slices = unsafe.SliceData(chunks)
	c.run()
}

// PeekMany writes the digest of ctxs[i] to dst[i*size:]. The contexts have one algorithm, and do not change.
func PeekMany(ctxs []*Ctx, dst []byte) {
	if len(ctxs) == 0 {
		return
	}
	alg := ctxs[0].algorithm()
	c := sumCall(alg, dst, alg.Size(), len(ctxs))
	c.op, c.ctxs = opPeek, unsafe.SliceData(ctxs)
	c.run()
}

// KeyInit prepares a key of any length (FIPS 198-1, section 4).
func KeyInit(k *Key, alg Alg, secret []byte) {
	var digest [MaxSize]byte
	c := call{op: opKey, alg: alg, costs: *costsOf[alg].Load(), keys: k}
	from := placeOf(&c)
	s := takeScratch(from)
	if len(secret) > alg.Info().BlockSize { // in slices
		c := sumOneCall(alg, digest[:], secret)
		c.runOn(s)
		clear(s.slots[:])
		clear(s.stack[:]) // kernels leave parts of a message there
		secret = digest[:alg.Size()]
	}
	c.rows = c.setRows(secret, 1, len(secret), 0)
	c.runOn(s)
	s.free(from)
	clear(digest[:])
}

// Alg returns the algorithm of the key.
func (k *Key) Alg() Alg { return checked(Alg(k.alg)) }

// putStates appends the marshaled states of OneKey.
func (k *Key) putStates(inner, outer []byte) {
	info := k.Alg().Info()
	nbytes := uint64(info.BlockSize)
	AppendState(&Ctx{state: k.inner, nbytes: nbytes}, k.Alg(), inner)
	AppendState(&Ctx{state: k.outer, nbytes: nbytes + uint64(info.Size)}, k.Alg(), outer)
}

// MACMany writes the tag of msgs[i] to dst[i*size:].
func MACMany(k *Key, dst []byte, msgs [][]byte) {
	c := sumManyCall(k.Alg(), dst, k.Alg().Size(), msgs)
	c.keys = k
	c.run()
}

// MACManyKeys writes the tag of msgs[i] by keys[i] to dst[i*size:]. All keys have one algorithm.
func MACManyKeys(keys []Key, dst []byte, msgs [][]byte) {
	if len(msgs) == 0 {
		return
	}
	_ = keys[len(msgs)-1]
	alg := keys[0].Alg()
	c := sumManyCall(alg, dst, alg.Size(), msgs)
	c.keys, c.keyStride = unsafe.SliceData(keys), unsafe.Sizeof(Key{})
	c.run()
}

// MACRows is MACMany for rows, as in SumRows.
func MACRows(k *Key, dst, rows []byte, n, rowLen, stride int) {
	c := sumRowsCall(k.Alg(), dst, k.Alg().Size(), rows, n, rowLen, stride)
	c.keys = k
	c.run()
}

// SearchNonces tries the nonces first to last, both included, and writes those found to nonces, in order, until nonces
// is full. It returns their number.
func SearchNonces(s *Search, first, last uint64, nonces []uint64) int {
	if first > last || len(nonces) == 0 {
		return 0
	}
	costs := costsOf[s.Alg].Load()
	if !Enabled() || len(s.Suffix) > costs.longest || // one call hashes it at least 16 times
		s.Alg.Info().IsSponge() || s.Again.Info().IsSponge() { // the core does not search by sponges
		return searchEach(s, first, last, nonces)
	}
	var ctx Ctx
	head := s.begin(&ctx)
	blockSize := s.Alg.Info().BlockSize
	// The padding is 9 bytes or, if blocks have 128, 17.
	nblocks := (len(head)+max(s.Digits.Width, s.Digits.Len(last))+len(s.Suffix)+blockSize/8)/blockSize + 1
	all := search{
		job: searchJob{
			size: unsafe.Sizeof(searchJob{}), alg: s.Alg, again: s.Again,
			prefix: unsafe.SliceData(head), prefixLen: len(head),
			suffix: unsafe.SliceData(s.Suffix), suffixLen: len(s.Suffix),
			alphabet: unsafe.StringData(s.Digits.Alphabet), base: uint32(s.Digits.Base()), width: uint32(s.Digits.Width),
			first: first, last: last, target: s.Target,
		},
		cost:   uint64(nblocks) * costs.ofMany(),
		nonces: unsafe.SliceData(nonces), room: len(nonces),
	}
	if s.Digits.Alphabet == "" {
		all.job.alphabet = nil
	}
	if s.Digits.LeastFirst {
		all.job.nonceOrder = 1
	}
	if s.LeastByteFirst {
		all.job.digestOrder = 1
	}
	if s.Again != 0 {
		all.cost += costsOf[s.Again].Load().ofMany()
	}
	c := call{op: opSearch, alg: s.Alg, search: &all}
	if len(head) < len(s.Prefix) {
		c.begin = &ctx
	}
	c.run()
	return all.nfound
}

// ofMany is the cost of a block by the best kernel for many messages.
func (c *costs) ofMany() uint64 { return uint64(uint32(c.block)) }

// isas returns the name of instruction set i, and which sets this machine has and which may be chosen: bit i is set
// i's.
func isas(i int) (name string, available, allowed int) {
	var text [64]byte
	c := call{op: opISA, dst: &text[0], next: i}
	c.ask()
	name, _, _ = strings.Cut(string(text[:]), "\x00")
	return name, c.count & (1<<32 - 1), c.count >> 32
}

func restrict(allowed int) {
	c := call{op: opRestrict, count: allowed}
	c.ask()
}

// Implementations returns "go", and the instruction sets that this machine has kernels for.
func Implementations() []string {
	names := []string{"go"}
	if !isAvailable() {
		return names
	}
	for i := 0; ; i++ {
		name, available, _ := isas(i)
		if name == "" {
			return names
		}
		if available>>i&1 != 0 {
			names = append(names, name)
		}
	}
}

// Kernel returns the name of the kernel that hashes n long messages.
func Kernel(alg Alg, n int) string {
	if !Enabled() {
		return "go"
	}
	var text [64]byte
	c := call{op: opKernel, alg: alg, dst: &text[0], count: n}
	c.ask()
	name, _, _ := strings.Cut(string(text[:]), "\x00")
	return name
}

// Restrict makes the process choose only kernels of the named instruction sets. No names remove the restriction.
func Restrict(names []string) error {
	available := isAvailable()
	wanted := 0
	for _, name := range names {
		for i := 0; name != "go"; i++ {
			known, sets := "", 0
			if available {
				known, sets, _ = isas(i)
			}
			if known == name && sets>>i&1 != 0 {
				wanted |= 1 << i
				break
			}
			if known == "" {
				return fmt.Errorf("hashloom: no instruction set %q here, only %s", name,
					strings.Join(Implementations(), ", "))
			}
		}
	}
	choosing.Lock()
	defer choosing.Unlock()
	machine.off.Store(len(names) > 0 && wanted == 0)
	if !available {
		return nil
	}
	restrict(wanted)
	for _, alg := range All {
		if costsOf[alg].Load() != nil {
			setCosts(alg)
		}
	}
	return nil
}
