// Command schedq-shard is one process of a cluster: it owns shards of a queue that etcd keeps, and gives their pods to a scheduler beside it.
//
// Exit status: 0 it ended in order; 1 something failed, in words on stderr; 2 bad usage.
package main

import (
	"os"

	"schedq/cluster/internal/command"
)

func main() {
	os.Exit(command.Start(os.Args[1:], os.Stdout, os.Stderr))
}
