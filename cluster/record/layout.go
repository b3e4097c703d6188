// Package record is the documented form of what a cluster keeps in etcd: keys, specs, states, the configuration. docs/CLUSTER.md
// describes all of it for whoever writes or reads it with other tools.
package record

import (
	"fmt"
	"strings"

	"schedq/cluster/shard"
)

// Layout names the keys under a prefix that ends in "/".
type Layout struct{ Prefix string }

// DefaultPrefix is used if nobody says otherwise.
const DefaultPrefix = "/schedq/"

// NameMax is the length of the longest name of a pod: schedq's, less the shard before it.
const NameMax = 312

func (l Layout) Config() string            { return l.Prefix + "config" }
func (l Layout) Pods() string              { return l.Prefix + "pods/" }
func (l Layout) States() string            { return l.Prefix + "states/" }
func (l Layout) Owners() string            { return l.Prefix + "owners/" }
func (l Layout) Members() string           { return l.Prefix + "members/" }
func (l Layout) Events() string            { return l.Prefix + "events/" }
func (l Layout) Tops() string              { return l.Prefix + "tops/" }
func (l Layout) ShardPods(s int) string    { return l.Pods() + number(s) + "/" }
func (l Layout) ShardStates(s int) string  { return l.States() + number(s) + "/" }
func (l Layout) Owner(s int) string        { return l.Owners() + number(s) }
func (l Layout) Clean(s int) string        { return l.Prefix + "clean/" + number(s) }
func (l Layout) Member(id string) string   { return l.Members() + id }
func (l Layout) Top(id string) string      { return l.Tops() + id }
func (l Layout) Event(name string) string  { return l.Events() + name }
func (l Layout) Pod(place string) string   { return l.Pods() + place }
func (l Layout) State(place string) string { return l.States() + place }

func number(s int) string { return fmt.Sprintf("%04d", s) }

// Place is a pod's key without what comes before the shard: "0012/namespace/name". No two pods of a cluster share one.
func Place(s int, name string) string { return number(s) + "/" + name }

// SplitPlace is Place, backwards.
func SplitPlace(place string) (s int, name string, ok bool) {
	digits, name, ok := strings.Cut(place, "/")
	s, good := ParseShard(digits)
	return s, name, ok && good && name != ""
}

// ParseShard reads the 4 digits of a shard.
func ParseShard(digits string) (s int, ok bool) {
	if len(digits) != 4 {
		return 0, false
	}
	for _, digit := range []byte(digits) {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		s = 10*s + int(digit-'0')
	}
	return s, true
}

// PlaceOf is where a pod belongs whose lot is given; "": its namespace.
//
// Errors: the name or the lot is out of range, in words.
func PlaceOf(name, lot string, shards int) (string, error) {
	namespace, rest, ok := strings.Cut(name, "/")
	if !ok || namespace == "" || rest == "" || len(name) > NameMax || strings.IndexByte(name, 0) >= 0 {
		return "", fmt.Errorf("name %q: legal is namespace/name, both not empty, %d bytes at most, none of them 0", name, NameMax)
	}
	if lot == "" {
		lot = shard.Lot(name)
	}
	return Place(shard.Of(lot, shards), name), nil
}
