// SPDX-License-Identifier: MIT OR Apache-2.0

package minio

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// storage answers as a server that takes every part of an upload, without a network.
type storage struct{}

func (storage) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	body := ""
	switch query := r.URL.Query(); {
	case query.Has("uploads"):
		body = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
	case r.Method == http.MethodPost:
		body = "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><ETag>e</ETag></CompleteMultipartUploadResult>"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"e"`}}, Request: r,
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}, nil
}

// 16 goroutines put an object of 8 MiB each in parts of 5 MiB, with the MD5 of each part.
func BenchmarkPutObject16(b *testing.B) {
	data := bytes.Repeat([]byte("eight MB"), 1<<20)
	for _, secure := range []bool{true, false} {
		name := map[bool]string{true: "https, MD5", false: "http, MD5 and SHA-256"}[secure]
		client, err := New("127.0.0.1:9", &Options{Creds: credentials.NewStaticV4("a", "b", ""), Secure: secure,
			Transport: storage{}, Region: "us-east-1"})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(name, " ", ""), func(b *testing.B) {
			for b.Loop() {
				var group sync.WaitGroup
				for range 16 {
					group.Go(func() {
						_, err := client.PutObject(context.Background(), "bucket", "object", bytes.NewReader(data), -1,
							PutObjectOptions{PartSize: 5 << 20, SendContentMd5: true})
						if err != nil {
							b.Error(err)
						}
					})
				}
				group.Wait()
			}
		})
	}
}
