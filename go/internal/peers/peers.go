// SPDX-License-Identifier: MIT OR Apache-2.0

// Package peers compares this repository's Go module with others: their digests, and their speed. It is a module of its
// own, so that the other one requires nothing.
//
//	go test           the comparison of digests
//	bench/go.sh       the speeds, beside the C library too (tag ccore), from the root of the repository
package peers
