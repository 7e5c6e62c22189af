module github.com/hashloom/hashloom/go/internal/peers

go 1.25

require (
	github.com/1lann/sha256-simd v0.0.0-20180403165344-c378aaa965f1
	github.com/hashloom/hashloom/go v0.0.0
	github.com/minio/md5-simd v1.1.2
	golang.org/x/crypto v0.45.0
)

require (
	github.com/klauspost/cpuid/v2 v2.2.3 // indirect
	golang.org/x/sys v0.38.0 // indirect
)

replace github.com/hashloom/hashloom/go => ../..
