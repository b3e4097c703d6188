// A pod goes in, the best one comes out, and its cycle ends.
package main

import (
	"errors"
	"fmt"
	"log"

	"schedq"
)

func main() {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer queue.DestroyWithPods()

	_, err = queue.Add("web", &schedq.PodSpec{Object: 1})
	if err != nil {
		log.Fatal(err)
	}
	_, err = queue.Add("db", &schedq.PodSpec{Object: 2, Priority: 100})
	if err != nil {
		log.Fatal(err)
	}
	for {
		popped, err := queue.TryPop()
		if errors.Is(err, schedq.ErrEmpty) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: object %d\n", popped.Name, popped.Object)
		if err := queue.Done(popped.Token); err != nil { // placed; Fail if it fits nowhere
			log.Fatal(err)
		}
	}
}
