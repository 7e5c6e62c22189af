// SPDX-License-Identifier: MIT OR Apache-2.0

// Uploads hashes the parts of many uploads that arrive at once, as an object store does: a server of HTTP whose uploads
// are answered with SHA-256 and MD5, which S3 calls x-amz-checksum-sha256 and ETag. Without an address it prints the
// digests of files, which it reads at once.
//
//	go run ./examples/uploads -listen localhost:8080      then: curl -T FILE localhost:8080
//	go run ./examples/uploads FILE...
package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/sha256"
)

// hasher hashes the uploads of all requests together.
type hasher struct {
	server *hashloom.Server
}

// newHash begins an upload: both digests in one read.
func (u hasher) newHash() hash.Hash { return u.server.NewHash(sha256.New(), md5.New()) }

// ServeHTTP answers an upload with its digests.
func (u hasher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := u.newHash()
	// A store would write the body to a file too: io.Copy(h, io.TeeReader(r.Body, file)).
	if _, err := io.Copy(h, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sum := h.Sum(nil)
	w.Header().Set("x-amz-checksum-sha256", base64.StdEncoding.EncodeToString(sum[:sha256.Size]))
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[sha256.Size:])+`"`)
}

// printFiles writes a line for each file that can be read. It returns the errors of the others.
func (u hasher) printFiles(w io.Writer, names []string) error {
	sums, errs := u.server.SumFiles(context.Background(), u.newHash, names...)
	for i, sum := range sums {
		if sum != nil {
			fmt.Fprintf(w, "%x  %x  %s\n", sum[:sha256.Size], sum[sha256.Size:], names[i])
		}
	}
	return errors.Join(errs...)
}

func main() {
	address := flag.String("listen", "", "address to listen at for uploads, such as localhost:8080")
	flag.Parse()
	u := hasher{hashloom.NewServer(context.Background())}
	err := u.printFiles(os.Stdout, flag.Args())
	if err == nil && *address != "" {
		err = http.ListenAndServe(*address, u)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
