// SPDX-License-Identifier: MIT OR Apache-2.0

// Package peers compares this repository's Go module with others: their digests, and their speed. It is a module of its
// own, so that the other one requires nothing.
//
//	go test                                                    the comparison of digests
//	go test -bench . -cpu 1 -count 10 | benchstat -col /by -   the speeds
//
// With the tag ccore, hashloom's C library is measured too: ../../../bench/go.sh builds it.
package peers
