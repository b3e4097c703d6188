// Package serve answers HTTP for one member: pods for schedulers that are no Go programs, status, readiness and metrics.
//
// Bodies are JSON. What is refused has the status 400 and {"error":"..."}.
//
//	POST /pop      {"max":64,"wait_ms":1000}               [{"ticket":1,"name":"a/b","uid":5,"shard":3,"token":2,"attempts":1,"node":0,"spec":{}}]
//	POST /alive    {"tickets":[1]}                         ["ok"]
//	POST /done     {"tickets":[1]}                         ["ok"], when it is decided
//	POST /fail     {"ticket":1,"rejectors":["Fit"]}        ["ok"], when the state is in etcd
//	POST /nominate {"ticket":1,"node":7}                   ["ok"], the same
//	GET  /status   what this process owns, and what is in there
//	GET  /ready    200 with a lease that is trusted, else 503
//	GET  /metrics  in the Prometheus text format
//
// Instead of "ok": "gone", "lost", "fenced", "unknown", "ticket": see docs/CLUSTER.md.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"schedq"
	"schedq/cluster/member"
	"schedq/cluster/queue"
	"schedq/cluster/record"
)

// Limits of what one question may ask for.
const (
	podsMax = 1024
	waitMax = time.Minute
)

// Handler answers for a member.
func Handler(m *member.Member) http.Handler {
	s := &server{m, map[string]schedq.Plugins{}}
	for n, plugin := range m.Config().Plugins {
		s.plugins[plugin.Name] = 1 << n
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /pop", s.pop)
	mux.HandleFunc("POST /alive", s.alive)
	mux.HandleFunc("POST /done", s.done)
	mux.HandleFunc("POST /fail", s.fail)
	mux.HandleFunc("POST /nominate", s.nominate)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { reply(w, m.Status()) })
	mux.HandleFunc("GET /ready", s.ready)
	mux.Handle("GET /metrics", metrics(m))
	return mux
}

type server struct {
	member  *member.Member
	plugins map[string]schedq.Plugins
}

// Pod is a pod that was popped.
type Pod struct {
	Ticket   uint64      `json:"ticket"`
	Name     string      `json:"name"`
	UID      int64       `json:"uid"`
	Shard    int         `json:"shard"`
	Token    int64       `json:"token"`
	Attempts uint32      `json:"attempts"`
	Node     uint64      `json:"node"`
	Spec     record.Spec `json:"spec"`
}

type question struct {
	Max       int      `json:"max"`
	WaitMS    int64    `json:"wait_ms"`
	Ticket    uint64   `json:"ticket"`
	Tickets   []uint64 `json:"tickets"`
	Rejectors []string `json:"rejectors"`
	Node      uint64   `json:"node"`
}

func read(w http.ResponseWriter, r *http.Request) (asked question, ok bool) {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		refuse(w, fmt.Errorf("body: %w", err))
		return asked, false
	}
	if len(asked.Tickets) > podsMax {
		refuse(w, fmt.Errorf("tickets: %d of them: legal are 0..%d", len(asked.Tickets), podsMax))
		return asked, false
	}
	return asked, true
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *server) pop(w http.ResponseWriter, r *http.Request) {
	asked, ok := read(w, r)
	if !ok {
		return
	}
	wait := time.Duration(asked.WaitMS) * time.Millisecond
	if asked.Max < 1 || asked.Max > podsMax || wait < 0 || wait > waitMax {
		refuse(w, fmt.Errorf("max %d, wait_ms %d: legal are 1..%d and 0..%d", asked.Max, asked.WaitMS, podsMax, waitMax.Milliseconds()))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	popped := make([]queue.Popped, asked.Max)
	count, _ := s.member.Pop(ctx, popped)
	pods := make([]Pod, count)
	for i, pod := range popped[:count] {
		pods[i] = Pod{pod.Ticket, pod.Name, pod.UID, pod.Shard, pod.Token, pod.Attempts, pod.Node, pod.Spec}
	}
	reply(w, pods)
}

// Word is how an answer is written.
func Word(err error) string {
	for _, pair := range []struct {
		err  error
		word string
	}{
		{nil, "ok"}, {queue.ErrGone, "gone"}, {queue.ErrLost, "lost"}, {queue.ErrFenced, "fenced"}, {queue.ErrUnknown, "unknown"},
		{queue.ErrTicket, "ticket"}, {member.ErrClosed, "unknown"}, {context.Canceled, "unknown"},
	} {
		if errors.Is(err, pair.err) {
			return pair.word
		}
	}
	return err.Error()
}

func (s *server) words(w http.ResponseWriter, errs ...error) {
	words := make([]string, len(errs))
	for i, err := range errs {
		words[i] = Word(err)
	}
	reply(w, words)
}

func (s *server) alive(w http.ResponseWriter, r *http.Request) {
	if asked, ok := read(w, r); ok {
		errs := make([]error, len(asked.Tickets))
		for i, ticket := range asked.Tickets {
			errs[i] = s.member.Alive(ticket)
		}
		s.words(w, errs...)
	}
}

func (s *server) done(w http.ResponseWriter, r *http.Request) {
	if asked, ok := read(w, r); ok {
		s.words(w, s.member.DoneMany(r.Context(), asked.Tickets)...)
	}
}

func (s *server) fail(w http.ResponseWriter, r *http.Request) {
	asked, ok := read(w, r)
	if !ok {
		return
	}
	var rejectors schedq.Plugins
	for _, name := range asked.Rejectors {
		bit, known := s.plugins[name]
		if !known {
			refuse(w, fmt.Errorf("rejectors: %q: the cluster's configuration names no such plugin", name))
			return
		}
		rejectors |= bit
	}
	s.words(w, s.member.Fail(r.Context(), asked.Ticket, rejectors))
}

func (s *server) nominate(w http.ResponseWriter, r *http.Request) {
	if asked, ok := read(w, r); ok {
		s.words(w, s.member.Nominate(r.Context(), asked.Ticket, asked.Node))
	}
}

func (s *server) ready(w http.ResponseWriter, _ *http.Request) {
	if !s.member.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}
