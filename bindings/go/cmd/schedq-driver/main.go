// Schedq-driver performs the operations of conformance vectors through the Go binding: the child process of
// schedq-conform --driver. It speaks the lines of docs/CONFORMANCE.md and checks nothing.
//
// It is also the smallest whole host of a queue that never calls back: hints, PreEnqueue, preChecks and the log of events
// are here, places, order, time, versions and counters are the library's. plugins.go judges, host.go carries out.
//
// Vectors with groups are decided by the library (grouped.go), which calls hints, gates and preChecks in C (judge.c).
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	answers := bufio.NewWriter(os.Stdout)
	if err := serve(bufio.NewScanner(os.Stdin), answers); err != nil {
		fmt.Fprintln(os.Stderr, "schedq-driver:", err)
		os.Exit(1)
	}
}

// serve answers requests until there are no more.
func serve(requests *bufio.Scanner, answers *bufio.Writer) error {
	var head []string // of the vector that begins
	var host performer

	requests.Buffer(nil, 1<<20)
	for requests.Scan() {
		line := requests.Text()
		switch word, _, _ := strings.Cut(line, " "); word {
		case "vector":
			head = []string{line}
			continue
		case "source", "config", "plugin", "profile":
			head = append(head, line)
			continue
		case "open":
			var err error
			if host, err = openAny(head); err != nil {
				fmt.Fprintln(answers, err)
			}
		case "end":
			if host != nil {
				if err := host.end(); err != nil {
					fmt.Fprintln(answers, err)
				}
			}
			host = nil
		default:
			if host == nil {
				return fmt.Errorf("%q without a vector that is open", line)
			}
			host.answer(line, answers)
		}
		fmt.Fprintln(answers, ".")
		if err := answers.Flush(); err != nil {
			return err
		}
	}
	return requests.Err()
}

// performer is the queue of one vector.
type performer interface {
	answer(line string, answers io.Writer)
	end() error
}

func openAny(head []string) (performer, error) {
	if hasGroups(head) {
		grouped, err := openGrouped(head)
		if err != nil {
			return nil, err
		}
		return grouped, nil
	}
	host, err := open(head)
	if err != nil {
		return nil, err
	}
	return host, nil
}

func (host *host) end() error { return host.queue.DestroyWithPods() }

func (host *host) answer(line string, answers io.Writer) {
	switch line {
	case "state":
		host.writeState(answers)
	case "metrics":
		if err := host.queue.WriteMetrics(answers); err != nil {
			fmt.Fprintln(answers, "error", err)
		}
	default:
		fmt.Fprintln(answers, ">", host.perform(line))
	}
}
