// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestSums(t *testing.T) {
	var sources []io.Reader
	var contents [][]byte
	for i := range 100 {
		content := bytes.Repeat([]byte{byte(i)}, i*5003)
		contents = append(contents, content)
		sources = append(sources, bytes.NewReader(content))
	}
	digests, err := sums(sources)
	if err != nil {
		t.Fatal(err)
	}
	for i, content := range contents {
		if digests[i] != sha256.Sum256(content) {
			t.Errorf("upload %d: %x", i, digests[i])
		}
	}
}

func TestErrorOfSource(t *testing.T) {
	broken := errors.New("broken")
	if _, err := sums([]io.Reader{bytes.NewReader(nil), iotest.ErrReader(broken)}); err != broken {
		t.Error(err)
	}
}
