package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"schedq"
)

// perform does an operation and returns its result in the vector's words.
func (host *host) perform(text string) string {
	result, err := host.run(host.begin(text))
	if err != nil {
		return fmt.Sprint("error ", err)
	}
	return result
}

// begin sets the time of an operation.
func (host *host) begin(text string) (verb string, line line) {
	line = parseLine(text)
	time, _ := strconv.ParseInt(line.words[0], 10, 64)
	verb = line.words[1]
	line.words = line.words[2:]
	host.now = startNS + time*1_000_000
	return verb, line
}

// identityOf is the pod that an operation names first.
func identityOf(line line) identity {
	if len(line.words) == 0 {
		return identity{}
	}
	return identity{line.words[0], line.text("uid", line.words[0])}
}

func (host *host) run(verb string, line line) (string, error) {
	id := identityOf(line)
	switch verb {
	case "add":
		return host.add(id, line)
	case "pop":
		return host.pop()
	case "fail":
		return host.fail(id, line)
	case "done":
		return host.done(id)
	case "update":
		return host.update(id, line)
	case "delete":
		return host.delete(id)
	case "nominate":
		return host.nominate(id, host.node(nominatedNode(line)))
	case "denominate":
		return host.nominate(id, 0)
	case "move":
		return host.move(line)
	case "assigned-add":
		return host.assigned(line, schedq.ActionAdd, "AssignedPodAdd")
	case "assigned-update":
		return host.assigned(line, schedq.ActionUpdate, "AssignedPodUpdate")
	case "activate":
		return host.activate(line.words[0])
	case "tick":
		return host.tick()
	case "get":
		return host.get(id)
	case "pending":
		return host.queue.PendingText(), nil
	case "close":
		host.queue.Close()
		return "ok", nil
	}
	return "", fmt.Errorf("there is no operation %q", verb)
}

// nominatedNode reads NODE, "-" or status nominated=NODE.
func nominatedNode(line line) string {
	switch node := line.words[1]; node {
	case "-":
		return ""
	case "status":
		return line.text("nominated", "")
	default:
		return node
	}
}

// historyText is COUNTERS of docs/CONFORMANCE.md.
func historyText(history *schedq.History) string {
	initial := "-"
	if history.InitialAttempt != 0 {
		initial = milliseconds(history.InitialAttempt)
	}
	return fmt.Sprintf("attempts=%d unschedulable=%d errors=%d timestamp=%s initial-attempt=%s", history.Attempts,
		history.Rejections, history.Errors, milliseconds(history.Timestamp), initial)
}

// milliseconds since the vector's time 0, with a fraction if there is one.
func milliseconds(time int64) string {
	text := strconv.FormatInt((time-startNS)/1_000_000, 10)
	if rest := (time - startNS) % 1_000_000; rest != 0 {
		text += fmt.Sprintf("%+dns", rest)
	}
	return text
}

func (host *host) writeState(out io.Writer) {
	pods, err := host.queue.Snapshot()
	if err != nil {
		fmt.Fprintln(out, "error", err)
	}
	for i := range pods {
		id := identity{strings.TrimPrefix(pods[i].Name, namespace+"/"), host.objects[pods[i].Object].uid}
		fmt.Fprintln(out, stateText(id, &pods[i]))
	}
	host.writeNominated(out)
}

func stateText(id identity, pod *schedq.PodInfo) string {
	return fmt.Sprintf("pod %s %s %v %d %d %d %d", id.name, id.uid, placeName(pod.Place), pod.Priority,
		pod.History.Timestamp-startNS, pod.BackoffExpiry-startNS, pod.PopOrder)
}

func (host *host) writeNominated(out io.Writer) {
	for number := 1; number < len(host.nodes); number++ {
		nominated, err := host.queue.NominatedPods(uint64(number))
		if err != nil {
			fmt.Fprintln(out, "error", err)
		}
		for i := range nominated {
			fmt.Fprintln(out, "nominated", host.nodes[number], strings.TrimPrefix(nominated[i].Name, namespace+"/"))
		}
	}
}

// placeName is what vectors name a place: kube's word for a parked pod.
func placeName(place schedq.Place) string {
	if place == schedq.Parked {
		return "unschedulable"
	}
	return place.String()
}
