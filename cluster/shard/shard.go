// Package shard says which shard a lot belongs to, and which process should own a shard. Both are pure functions: whoever knows the
// same processes comes to the same answer.
package shard

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Default is how many shards a cluster has if nobody says otherwise; Max is the greatest number.
const (
	Default = 256
	Max     = 4096
)

// Of returns the shard of a lot: FNV-1a, 64 bits, modulo count.
func Of(lot string, count int) int {
	return int(hash(lot) % uint64(count))
}

// Lot is the lot of a name of the form "namespace/name" whose submitter names none: the namespace.
func Lot(name string) string {
	namespace, _, _ := strings.Cut(name, "/")
	return namespace
}

func hash(text string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text))
	return sum.Sum64()
}

// Owner returns the process that should own a shard, by rendezvous hashing: the one with the highest weight; "" of none. A process
// that comes takes shards only for itself, one that goes gives only its own away.
func Owner(shard int, processes []string) (owner string) {
	var best uint64
	for _, process := range processes {
		weight := mix(hash(process) ^ mix(uint64(shard)+1))
		if owner == "" || weight > best || (weight == best && process < owner) {
			owner, best = process, weight
		}
	}
	return owner
}

// mix is the finalizer of splitmix64: every bit of the argument reaches every bit of the answer.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// CheckCount refuses a number of shards that is out of range.
func CheckCount(count int) error {
	if count < 1 || count > Max {
		return fmt.Errorf("shards: %d: legal are 1..%d", count, Max)
	}
	return nil
}
