// main.go: Go's standard library, in a process of its own that the benchmark drives.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads requests from standard input and answers on standard output:
//
//	load ALGORITHM COUNT   then COUNT lengths (32 bits, little-endian), then the messages; answers with the digests
//	run REPEAT             hashes the messages once, then REPEAT times; answers with the nanoseconds of
//	                       the REPEAT passes, as a decimal, and a newline
//
// The one-shot functions allocate nothing, and the collector is off: no round pays for the garbage of another.
package main

import (
	"bufio"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

func hash(algorithm string, messages [][]byte, digests []byte) {
	switch algorithm {
	case "sha1":
		for i, message := range messages {
			*(*[sha1.Size]byte)(digests[i*sha1.Size:]) = sha1.Sum(message)
		}
	case "sha256":
		for i, message := range messages {
			*(*[sha256.Size]byte)(digests[i*sha256.Size:]) = sha256.Sum256(message)
		}
	case "sha512":
		for i, message := range messages {
			*(*[sha512.Size]byte)(digests[i*sha512.Size:]) = sha512.Sum512(message)
		}
	case "sha3-256":
		for i, message := range messages {
			*(*[32]byte)(digests[i*32:]) = sha3.Sum256(message)
		}
	case "sha3-512":
		for i, message := range messages {
			*(*[64]byte)(digests[i*64:]) = sha3.Sum512(message)
		}
	}
}

func serve(in *bufio.Reader, out io.Writer) error {
	sizes := map[string]int{
		"sha1": sha1.Size, "sha256": sha256.Size, "sha512": sha512.Size, "sha3-256": 32, "sha3-512": 64,
	}
	var algorithm string
	var messages [][]byte
	var digests []byte
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var count, repeat int
		if _, err := fmt.Sscanf(line, "load %s %d", &algorithm, &count); err == nil {
			lengths := make([]uint32, count)
			if err := binary.Read(in, binary.LittleEndian, lengths); err != nil {
				return err
			}
			messages, digests = nil, nil
			runtime.GC()
			total := 0
			for _, length := range lengths {
				total += int(length)
			}
			// One array, as on the other side of the pipe.
			data := make([]byte, total)
			if _, err := io.ReadFull(in, data); err != nil {
				return err
			}
			messages = make([][]byte, count)
			for i, length := range lengths {
				messages[i], data = data[:length], data[length:]
			}
			digests = make([]byte, count*sizes[algorithm])
			hash(algorithm, messages, digests)
			if _, err := out.Write(digests); err != nil {
				return err
			}
		} else if _, err := fmt.Sscanf(line, "run %d", &repeat); err == nil {
			hash(algorithm, messages, digests)
			start := time.Now()
			for i := 0; i < repeat; i++ {
				hash(algorithm, messages, digests)
			}
			if _, err := fmt.Fprintln(out, time.Since(start).Nanoseconds()); err != nil {
				return err
			}
		} else {
			return fmt.Errorf("unknown request %q", line)
		}
	}
}

func main() {
	debug.SetGCPercent(-1)
	if _, err := fmt.Println(runtime.Version()); err != nil {
		os.Exit(2)
	}
	if err := serve(bufio.NewReader(os.Stdin), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "go peer:", err)
		os.Exit(2)
	}
}
