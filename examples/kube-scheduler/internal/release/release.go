// Package release is what differs between the releases of kube-scheduler that this module builds with: where a type lives, what
// a function takes, how a thing is called. With the tag kube134 and -modfile=kube-1.34.mod it is 1.34, else 1.37. What a
// release does otherwise is said where it is done, by a comparison with [Minor].
package release
