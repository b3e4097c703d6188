package member_test

import (
	"context"
	"fmt"
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/member"
	"schedq/cluster/queue"
	"schedq/cluster/record"
)

// A scheduler with a cluster's queue in it. It needs an etcd, so it is not run here.
func Example() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://127.0.0.1:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	plugins := []record.Plugin{{Name: "Fit", Events: []string{"NodeAdd"}}}
	m, err := member.Open(ctx, member.Options{Etcd: client, Create: record.NewConfig(256, plugins)})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	pods := make([]queue.Popped, 64)
	count, err := m.Pop(ctx, pods) // waits for the first
	for _, pod := range pods[:count] {
		switch {
		case !fits(pod):
			err = m.Fail(ctx, pod.Ticket, 1<<0) // plugin 0 of the configuration rejected it
		case m.Alive(pod.Ticket) == nil: // bind now
			err = m.Done(ctx, pod.Ticket) // waits until that is decided; goroutines' dones go together
		}
		fmt.Println(pod.Name, err)
	}
	err = m.Leave(ctx) // gives all shards away
	fmt.Println(err)
}

func fits(queue.Popped) bool { return true }
