// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import "testing"

func TestMain(m *testing.M) {
	if err := Restrict(); err != nil {
		panic(err)
	}
	m.Run()
}
