// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
)

// A message in a mapping of a file that became shorter is a panic under debug.SetPanicOnFault, and the program goes on.
func TestFault(t *testing.T) {
	page := os.Getpagesize()
	name := filepath.Join(t.TempDir(), "shrinking")
	if err := os.WriteFile(name, make([]byte, 64*page), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapped, err := syscall.Mmap(int(file.Fd()), 0, 64*page, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	if err := os.Truncate(name, int64(page)); err != nil {
		t.Fatal(err)
	}
	good := make([]byte, 1000)
	eachImplementation(t, func(t *testing.T, _ bool) {
		for _, alg := range All {
			got, want := make([]byte, 20*alg.Size()), make([]byte, alg.Size())
			hashOf(alg, want, good)
			for _, rowLen := range []int{64, 3 * page} {
				if faultOf(func() { SumRows(alg, got, mapped, 20, rowLen, page) }) == nil {
					t.Errorf("%v: a row of %d bytes that is not there has a digest", alg, rowLen)
				}
				runtime.GC()
				SumRows(alg, got, good, 1, len(good), 0)
				if string(got[:alg.Size()]) != string(want) {
					t.Errorf("%v: a wrong digest after a fault", alg)
				}
			}
		}
	})
}

func faultOf(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
	defer func() {
		runtime.GC() // with the frames of the core on the stack
		if fault, ok := recover().(runtime.Error); ok {
			err = fault
		}
	}()
	f()
	return nil
}
