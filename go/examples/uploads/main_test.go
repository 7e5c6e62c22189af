// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	hashloom "github.com/hashloom/hashloom/go"
)

func content(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*5003) }

func TestUploads(t *testing.T) {
	server := httptest.NewServer(hasher{hashloom.NewServer(context.Background())})
	defer server.Close()
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			answer, err := server.Client().Post(server.URL, "", bytes.NewReader(content(i)))
			if err != nil {
				t.Error(err)
				return
			}
			answer.Body.Close()
			sum := sha256.Sum256(content(i))
			checksum, etag := base64.StdEncoding.EncodeToString(sum[:]), fmt.Sprintf(`"%x"`, md5.Sum(content(i)))
			if h := answer.Header; h.Get("x-amz-checksum-sha256") != checksum || h.Get("ETag") != etag {
				t.Errorf("upload %d: %v", i, h)
			}
		})
	}
	group.Wait()
}

func TestUploadThatBreaks(t *testing.T) {
	body := io.MultiReader(bytes.NewReader(content(50)), iotest.ErrReader(io.ErrClosedPipe))
	request := httptest.NewRequest(http.MethodPut, "/", body)
	answer := httptest.NewRecorder()
	hasher{hashloom.NewServer(context.Background())}.ServeHTTP(answer, request)
	if answer.Code != http.StatusBadRequest || answer.Header().Get("ETag") != "" {
		t.Error(answer)
	}
}

func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content(40), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := hasher{hashloom.NewServer(context.Background())}.printFiles(&out, []string{name, name + ".missing"})
	want := fmt.Sprintf("%x  %x  %s\n", sha256.Sum256(content(40)), md5.Sum(content(40)), name)
	if !errors.Is(err, fs.ErrNotExist) || out.String() != want {
		t.Errorf("%q, %v, want %q", out.String(), err, want)
	}
}
