// SPDX-License-Identifier: MIT OR Apache-2.0

package dirhash

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	hashloom "github.com/hashloom/hashloom/go"
	lanes "github.com/hashloom/hashloom/go/sha256"
)

func Hash1(files []string, open func(string) (io.ReadCloser, error)) (string, error) {
	h := sha256.New()
	files = slices.Sorted(slices.Values(files))
	if slices.ContainsFunc(files, func(name string) bool { return strings.Contains(name, "\n") }) {
		return "", errors.New("dirhash: filenames with newlines are not supported")
	}
	var server hashloom.Server
	sums, errs := server.SumOpened(context.Background(), lanes.New, len(files), func(i int) (io.ReadCloser, error) {
		return open(files[i])
	})
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	for i, sum := range sums {
		fmt.Fprintf(h, "%x  %s\n", sum, files[i])
	}
	return "h1:" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
