// Package command is the program schedq-shard: its options, and its commands.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"schedq"
	"schedq/cluster/record"
)

const usage = `usage: schedq-shard [run] [OPTION...]
       schedq-shard status [OPTION...]
       schedq-shard key NAME [OPTION...]
       schedq-shard put NAME [SPEC] [OPTION...]
       schedq-shard event EVENT [OPTION...]

One queue over many machines, on etcd: docs/CLUSTER.md.

  run     owns its share of the shards, and gives their pods away by HTTP, until SIGTERM or SIGINT; then it gives the shards
          to the others, in order. Without --etcd it starts an etcd of its own.
  status  who owns what, how many pods, how old, how far the watches are, who pops below others' priorities
  key     prints the key of a pod: namespace/name
  put     submits a pod, and prints its UID; SPEC is JSON, like {"priority":5}; default {}
  event   tells that something happened: pods that wait for it are tried again

options:
`

// options are those of all commands.
type options struct {
	etcd               string
	cacert, cert, key  string
	user, passwordFile string
	prefix             string
	timeout            time.Duration

	data, etcdListen string
	listen           string
	name             string
	shards           int
	plugins          string
	engine           string
	ttl, skew, renew time.Duration
	grace            time.Duration
	strict           bool
	verbose          bool

	lot string
}

func (o *options) flags() *flag.FlagSet {
	set := flag.NewFlagSet("schedq-shard", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.etcd, "etcd", "", "`URL,URL,...` of the etcd to use; for all commands but run the default is that of --etcd-listen")
	set.StringVar(&o.cacert, "cacert", "", "`FILE` with the certificate authority of etcd's certificates")
	set.StringVar(&o.cert, "cert", "", "`FILE` with the certificate to show to etcd")
	set.StringVar(&o.key, "key", "", "`FILE` with that certificate's key")
	set.StringVar(&o.user, "user", "", "`NAME` of the user of etcd")
	set.StringVar(&o.passwordFile, "password-file", "", "`FILE` whose first line is that user's password")
	set.StringVar(&o.prefix, "prefix", record.DefaultPrefix, "`PREFIX` that all keys begin with; ends in /")
	set.DurationVar(&o.timeout, "timeout", 2*time.Second, "how long an answer of etcd is waited for")
	set.StringVar(&o.data, "data", "schedq-data", "run without --etcd: `DIRECTORY` of the etcd that it starts")
	set.StringVar(&o.etcdListen, "etcd-listen", "127.0.0.1:2379", "run without --etcd: `ADDRESS` of the etcd that it starts")
	set.StringVar(&o.listen, "listen", "127.0.0.1:7730", "run: `ADDRESS` to answer HTTP on; port 0: any")
	set.StringVar(&o.name, "name", "", "run: `NAME` that this process' name begins with; default: the host's")
	set.IntVar(&o.shards, "shards", 256, "run, when the cluster is created: `COUNT` of shards, 1..4096")
	set.StringVar(&o.plugins, "plugins", "", "run, when the cluster is created: `FILE` of JSON: [{\"name\":\"Fit\",\"events\":[\"NodeAdd\"]}]")
	set.StringVar(&o.engine, "engine", "lockfree", "run: `ENGINE` of the queue, lockfree or mutex")
	set.DurationVar(&o.ttl, "ttl", 5*time.Second, "run: length of the lease, whole seconds, 2s..60s")
	set.DurationVar(&o.renew, "renew", 1500*time.Millisecond, "run: how often it is renewed; less than half of --ttl")
	set.DurationVar(&o.skew, "skew", 500*time.Millisecond, "run: how long before its end it is not trusted; less than --ttl less --renew")
	set.DurationVar(&o.grace, "grace", 2*time.Second, "run: how long a shard that is given away waits for its pods in flight")
	set.BoolVar(&o.strict, "strict", false, "run: pop nothing while another process has a pod of a higher priority")
	set.BoolVar(&o.verbose, "verbose", false, "run: log what happens to each shard")
	set.StringVar(&o.lot, "lot", "", "key, put: `LOT` of the pod; pods of one lot stay together; default: the namespace")
	return set
}

func (o *options) check() error {
	switch {
	case o.prefix == "" || o.prefix[len(o.prefix)-1] != '/':
		return fmt.Errorf("--prefix %q: has to end in /", o.prefix)
	case o.ttl < 2*time.Second || o.ttl > time.Minute || o.ttl%time.Second != 0:
		return fmt.Errorf("--ttl %v: legal are whole seconds, 2s..60s", o.ttl)
	case o.renew < 100*time.Millisecond || o.renew > o.ttl/2:
		return fmt.Errorf("--renew %v: legal are 100ms..%v, half of --ttl", o.renew, o.ttl/2)
	case o.skew < 0 || o.skew >= o.ttl-o.renew:
		return fmt.Errorf("--skew %v: legal are 0s..%v, --ttl less --renew", o.skew, o.ttl-o.renew)
	case o.timeout < 10*time.Millisecond || o.timeout > time.Minute:
		return fmt.Errorf("--timeout %v: legal are 10ms..1m", o.timeout)
	case engines[o.engine] == 0:
		return fmt.Errorf("--engine %q: legal are lockfree and mutex", o.engine)
	case (o.cert == "") != (o.key == ""):
		return errors.New("--cert and --key need each other")
	case (o.user == "") != (o.passwordFile == ""):
		return errors.New("--user and --password-file need each other")
	}
	return nil
}

var engines = map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex}

// command is what a word does, and how many words follow it.
type command struct {
	do       func(o *options, words []string) error
	min, max int
}

var commands = map[string]command{
	"run": {run, 0, 0}, "status": {status, 0, 0}, "key": {key, 1, 1}, "put": {put, 1, 2}, "event": {event, 1, 1},
}

// Start does what the arguments say, and returns the exit status.
func Start(args []string, stdout, stderr io.Writer) int {
	var o options
	set := o.flags()
	words, err := parse(set, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		set.SetOutput(stdout)
		set.PrintDefaults()
		fmt.Fprint(stdout, "\nExit status: 0 it ended in order; 1 something failed; 2 bad usage.\n")
		return 0
	}
	if err == errVersion {
		major, minor, patch := schedq.Version()
		fmt.Fprintf(stdout, "schedq-shard %d.%d.%d\n", major, minor, patch)
		return 0
	}
	name := "run"
	if len(words) > 0 {
		name, words = words[0], words[1:]
	}
	chosen, known := commands[name]
	if err == nil && !known {
		err = fmt.Errorf("unknown command %q: legal are run, status, key, put, event", name)
	}
	if err == nil && (len(words) < chosen.min || len(words) > chosen.max) {
		err = fmt.Errorf("%s: %d arguments: legal are %d..%d", name, len(words), chosen.min, chosen.max)
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		fmt.Fprintf(stderr, "schedq-shard: %v (--help)\n", err)
		return 2
	}
	if err := chosen.do(&o, words); err != nil {
		fmt.Fprintf(stderr, "schedq-shard: %v\n", err)
		return 1
	}
	return 0
}

var errVersion = errors.New("version")

// parse takes options before, between and after words.
func parse(set *flag.FlagSet, args []string) (words []string, err error) {
	version := set.Bool("version", false, "which one this is")
	for {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		if *version {
			return nil, errVersion
		}
		args = set.Args()
		if len(args) == 0 {
			return words, nil
		}
		words, args = append(words, args[0]), args[1:]
	}
}
