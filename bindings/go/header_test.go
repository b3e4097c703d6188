package schedq_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notBound are the functions that doc.go says are not bound, and those that the pool uses without showing them.
var notBound = map[string]bool{
	"schedq_pop":                 true,
	"schedq_pop_for":             true,
	"schedq_pop_until":           true,
	"schedq_pop_many":            true,
	"schedq_pop_many_for":        true,
	"schedq_pop_many_until":      true,
	"schedq_pop_group_for":       true,
	"schedq_pop_group_until":     true,
	"schedq_wait_fd":             true,
	"schedq_wait_callback":       true,
	"schedq_wait_cancel":         true,
	"schedq_next_deadline":       true, // Words.NextDeadline does it without a call
	"schedq_run":                 true,
	"schedq_stop":                true,
	"schedq_worker_adopt":        true,
	"schedq_worker_get":          true,
	"schedq_clock_advance":       true, // Words.advance does it without a call
	"schedq_pod_list_add":        true, // in a pre-queueing hint only, and this package is decided by its host
	"schedq_metrics_write_named": true,
}

var included = regexp.MustCompile(`(?m)^#include <schedq/(\w+\.h)>`)

// Every function of the queue's public headers is called by this package, or is left out on purpose.
func TestTheHeaderIsBoundWhole(t *testing.T) {
	var header strings.Builder
	umbrella, err := os.ReadFile("../../include/schedq/schedq.h")
	if os.IsNotExist(err) {
		t.Skip("the headers are not beside this package")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range included.FindAllSubmatch(umbrella, -1) {
		text, err := os.ReadFile("../../include/schedq/" + string(name[1]))
		if err != nil {
			t.Fatal(err)
		}
		header.Write(text)
	}
	var sources strings.Builder
	files, _ := filepath.Glob("*.[cg]*")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	declared := regexp.MustCompile(`(?m)^SCHEDQ_API [^(]*\b(schedq_[a-z0-9_]+)\(`).FindAllStringSubmatch(header.String(), -1)
	if len(declared) < 70 {
		t.Fatalf("the header declares %d functions: this test does not understand it", len(declared))
	}
	for _, match := range declared {
		name := match[1]
		called := regexp.MustCompile(`(C\.|= )` + name + `\(`).MatchString(sources.String())
		if called == notBound[name] {
			t.Errorf("%s: called %v, left out on purpose %v", name, called, notBound[name])
		}
	}
}
