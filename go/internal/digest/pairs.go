// SPDX-License-Identifier: MIT OR Apache-2.0

package digest

import (
	"fmt"
	"unsafe"

	"github.com/hashloom/hashloom/go/internal/core"
)

// NodeSize is the number of bytes in a node of a tree.
const NodeSize = core.PairSize / 2

// Nodes is a layer of a tree: its nodes of 32 bytes, or their bytes.
type Nodes interface {
	[]byte | [][NodeSize]byte
}

// CheckPairs returns the bytes of a layer and of the layer above it. It panics if src is not of pairs, or dst has not
// room for a node of each or overlaps pairs behind its nodes' own. The text of the panic begins with name, a package
// and a call.
func CheckPairs[T Nodes](name string, dst, src T) (above, layer []byte) {
	above, layer = nodes(dst), nodes(src)
	if len(layer)%(2*NodeSize) != 0 {
		panic(fmt.Sprintf("%s: src has %d bytes, which are no pairs of nodes of %d", name, len(layer), NodeSize))
	}
	if len(above) < len(layer)/2 {
		panic(fmt.Sprintf("%s: dst has room for %d nodes, src has %d pairs", name, len(above)/NodeSize,
			len(layer)/(2*NodeSize)))
	}
	above = above[:len(layer)/2]
	if len(layer) > 2*NodeSize && overlap(above, layer) && address(above) > address(layer)+NodeSize {
		panic(name + ": dst overlaps pairs that are still to be hashed: it may begin where src does")
	}
	return above, layer
}

func nodes[T Nodes](layer T) []byte {
	switch layer := any(layer).(type) {
	case []byte:
		return layer
	case [][NodeSize]byte:
		return Flat(layer)
	}
	panic("unreachable")
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// SumPairs writes the digest of prefix and each pair of nodes of layer to above, which CheckPairs returned.
func SumPairs(alg core.Alg, above, layer, prefix []byte) {
	const size = 2 * NodeSize
	if len(prefix) == 0 {
		core.SumPairs(alg, above, layer)
		return
	}
	if len(layer) == size && len(prefix) <= NodeSize { // the short way of one message
		var message [NodeSize + size]byte
		n := copy(message[:], prefix)
		core.Sum(alg, above, message[:n+copy(message[n:], layer)])
		return
	}
	var ctx core.Ctx
	core.Init(&ctx, alg)
	core.Update(&ctx, prefix)
	core.SumRowsFrom(&ctx, above, layer, len(layer)/size, size, size)
}
