// SPDX-License-Identifier: MIT OR Apache-2.0

package spectests

import (
	"os"
	"testing"
)

func BenchmarkBeaconState(b *testing.B) {
	data, err := os.ReadFile(TestFileName)
	if err != nil {
		b.Fatal(err)
	}
	var state BeaconStateBellatrix
	if err := state.UnmarshalSSZ(data); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := state.HashTreeRoot(); err != nil {
			b.Fatal(err)
		}
	}
}
