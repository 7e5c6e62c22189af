// SPDX-License-Identifier: MIT OR Apache-2.0

package blockchain

import (
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/hashloom/hashloom/go/bitcoin"
)

func (s *rollingMerkleTreeStore) calcMerkleRoot(adds []*btcutil.Tx, witness bool) chainhash.Hash {
	layer := make([][32]byte, len(adds), len(adds)+1)
	for i, tx := range adds {
		if !witness {
			layer[i] = *tx.Hash()
		} else if i > 0 {
			layer[i] = *tx.WitnessHash()
		}
	}
	for len(layer) > 1 {
		if len(layer)%2 == 1 {
			layer = append(layer, layer[len(layer)-1])
		}
		bitcoin.SHA256dPairs(layer[:len(layer)/2], layer)
		layer = layer[:len(layer)/2]
	}
	return layer[0]
}
