// Command kube-bench runs the real kube-scheduler over an API in memory, on its own queue and on schedq's, and shows what differs.
//
// Exit status: 0 all that was asked for ran and holds; 1 something does not hold; 2 bad usage.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

var (
	scenario = flag.String("scenario", "all", strings.Join(scenarioNames, ", ")+", or all of them; several with commas")
	gates    = flag.String("feature-gates", "", "kube-scheduler's, as it takes them: GenericWorkload=true")
	queues   = flag.String("queues", "original,lockfree,mutex", "which queues, of these and classes: lockfree that tries one of the pods that fail alike; commas between them")
	pairs    = flag.Int("pairs", 7, "throughput, storm: runs of each queue, in turns; starvation: three of them at most")
	gangs    = flag.Int("gangs", 20, "gangs: how many are bound in each run")
	gangSize = flag.Int("gang-size", 100, "gangs: pods of each")
	podCount = flag.Int("pods", 2000, "throughput: pods that are bound in each run")
	parked   = flag.String("parked", "0,1000,5000,20000", "throughput: how many pods that fit nowhere are parked; commas")
	patience = flag.Duration("patience", 3*time.Second, "throughput: how long a run may bind; what it did until then counts")
	seeds    = flag.Int("seeds", 100, "random: scenarios")
	seed     = flag.Int64("seed", 1, "random: the first seed")
	verbose  = flag.Bool("verbose", false, "show the scheduler's log, and the steps of random scenarios")
)

var scenarios = withGangs(map[string]func([]queueName) error{
	"mixed": runMixed, "throughput": runThroughput, "storm": runStorm, "random": runRandom, "starvation": runStarvation,
})

func main() {
	flag.Parse()
	if !*verbose {
		klog.SetLogger(logr.Discard())
	}
	chosen, err := chosenQueues(*queues)
	if err == nil && *pairs < 1 {
		err = fmt.Errorf("--pairs: %d: at least 1", *pairs)
	}
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("kube-bench takes no arguments, got %q", flag.Arg(0))
	}
	if err == nil {
		err = utilfeature.DefaultMutableFeatureGate.Set(*gates)
	}
	names := strings.Split(*scenario, ",")
	if *scenario == "all" {
		names = scenarioNames
	}
	for _, name := range names {
		if err == nil && scenarios[name] == nil {
			err = fmt.Errorf("--scenario=%q: legal are %s and all", name, strings.Join(scenarioNames, ", "))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed := false
	for _, name := range names {
		fmt.Printf("== %s\n", name)
		if err := scenarios[name](chosen); err != nil {
			fmt.Printf("FAILED %s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func chosenQueues(list string) (chosen []queueName, err error) {
	for _, name := range strings.Split(list, ",") {
		if queueName(name) != original && engines[queueName(name)] == 0 {
			return nil, fmt.Errorf("--queues: %q: legal are original, lockfree, mutex and classes", name)
		}
		chosen = append(chosen, queueName(name))
	}
	return chosen, nil
}
