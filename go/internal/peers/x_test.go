package peers
import (_ "github.com/1lann/sha256-simd"; _ "golang.org/x/crypto/ripemd160"; _ "github.com/minio/sha256-simd"; _ "github.com/hashloom/hashloom/go")
