//go:build !kube134

package kubeshard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"

	v1 "k8s.io/api/core/v1"

	"schedq/cluster/client"
	"schedq/cluster/member"
	"schedq/cluster/owner"
	"schedq/cluster/record"
	"schedq/cluster/shard"
	"schedq/cluster/store/etcd"
	"schedq/examples/kube-scheduler/kubequeue"
)

// Options are how schedulers share pods. Without URLs of an etcd they do not.
type Options struct {
	Etcd   etcd.Access
	Prefix string
	// LotLabel is the label whose value says which pods stay together; "", and for pods without it: their namespace says so.
	LotLabel string
}

// DefaultPrefix begins the keys.
const DefaultPrefix = "/schedq-kube-scheduler/"

// AddFlags adds the program's options.
func (options *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&options.Etcd.URLs, "schedq-etcd", nil,
		"URLs of an etcd. With it all replicas are active, and share the pods: each binds those of the shards that it owns there. "+
			"Needs --leader-elect=false.")
	flags.StringVar(&options.Etcd.CACert, "schedq-etcd-cacert", "", "File with the certificate authority of etcd's certificates.")
	flags.StringVar(&options.Etcd.Cert, "schedq-etcd-cert", "", "File with the certificate to show to etcd.")
	flags.StringVar(&options.Etcd.Key, "schedq-etcd-key", "", "File with that certificate's key.")
	flags.StringVar(&options.Etcd.User, "schedq-etcd-user", "", "Name of the user of etcd.")
	flags.StringVar(&options.Etcd.PasswordFile, "schedq-etcd-password-file", "", "File whose first line is that user's password.")
	flags.StringVar(&options.Prefix, "schedq-prefix", DefaultPrefix, "What all keys in etcd begin with; ends in /.")
	flags.StringVar(&options.LotLabel, "schedq-lot-label", "",
		"Pods with this label are shared out by its value, others by their namespace: those of one value are scheduled by one replica.")
}

// Wanted says whether pods are shared.
func (options *Options) Wanted() bool { return len(options.Etcd.URLs) > 0 }

// Check refuses options that do not fit. ours: the scheduler has schedq's queue.
func (options *Options) Check(ours, leaderElection bool) error {
	access := options.Etcd
	switch {
	case !options.Wanted():
		if access.CACert+access.Cert+access.Key+access.User+access.PasswordFile+options.LotLabel != "" {
			return errors.New("--schedq-etcd is missing: --schedq-etcd-* and --schedq-lot-label need it")
		}
	case !ours:
		return errors.New("--schedq-etcd and --schedq-engine=original: kube-scheduler's own queue cannot share its pods")
	case leaderElection:
		return errors.New("--schedq-etcd and leader election: all replicas are active, so --leader-elect=false is needed")
	case !strings.HasSuffix(options.Prefix, "/"):
		return fmt.Errorf("--schedq-prefix=%q: has to end in /", options.Prefix)
	case (access.Cert == "") != (access.Key == ""):
		return errors.New("--schedq-etcd-cert and --schedq-etcd-key need each other")
	case (access.User == "") != (access.PasswordFile == ""):
		return errors.New("--schedq-etcd-user and --schedq-etcd-password-file need each other")
	}
	return nil
}

// cluster is the prefix of the schedulers that share their pods. Schedulers of other profiles, or that share by another rule, are
// another cluster: if they were in one, each could leave a pod to the other.
func (options *Options) cluster(profiles []string) string {
	slices.Sort(profiles)
	rule := "by-namespace/"
	if options.LotLabel != "" {
		rule = "by-label/" + options.LotLabel + "/"
	}
	return options.Prefix + strings.Join(profiles, ",") + "/" + rule
}

// Shares is one scheduler's part of the pods. It implements kubequeue.Shards.
type Shares struct {
	options Options
	prefix  string
	client  *clientv3.Client
	count   int
	binding []atomic.Int64 // by shard: binds under way
	refused [reasons]atomic.Uint64
	member  atomic.Pointer[member.Member] // nil before it joined
	serves  func(shard int) bool
	logger  klog.Logger

	mutex sync.Mutex
	steps []owner.Step // that follow has not seen
	more  chan struct{}
}

// Open reads from etcd how many shards there are, and writes that if no scheduler has. Start joins.
//
// Errors: the scheduler binds by an extender; a feature gate; options; etcd's.
func Open(ctx context.Context, options Options, sched *scheduler.Scheduler) (*Shares, error) {
	if utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption) {
		return nil, errors.New("kubeshard: feature gate InPlacePodVerticalScalingSchedulerPreemption is on: " +
			"pods that have a node are not shared")
	}
	for _, extender := range sched.Extenders {
		if extender.IsBinder() {
			return nil, fmt.Errorf("kubeshard: extender %s binds pods: with --schedq-etcd only plugins may", extender.Name())
		}
	}
	var profiles []string
	for name := range sched.Profiles {
		profiles = append(profiles, name)
	}
	connected, err := etcd.Connect(options.Etcd)
	if err != nil {
		return nil, fmt.Errorf("kubeshard: %w", err)
	}
	shares := &Shares{
		options: options, prefix: options.cluster(profiles), client: connected, more: make(chan struct{}, 1), logger: klog.FromContext(ctx),
	}
	first, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	config, err := client.Create(first, connected, shares.prefix, record.NewConfig(shard.Default, nil))
	if err != nil {
		_ = connected.Close()
		return nil, fmt.Errorf("kubeshard: etcd %s: %w", strings.Join(options.Etcd.URLs, ","), err)
	}
	shares.serves = shares.memberServes
	shares.count, shares.binding = config.Shards, make([]atomic.Int64, config.Shards)
	return shares, nil
}

// Of is kubequeue.Shards'.
func (shares *Shares) Of(pod *v1.Pod) int {
	return shard.Of(cmp.Or(pod.Labels[shares.options.LotLabel], pod.Namespace), shares.count)
}

// Serves is kubequeue.Shards'.
func (shares *Shares) Serves(shard int) bool { return shares.serves(shard) }

func (shares *Shares) memberServes(shard int) bool {
	m := shares.member.Load()
	return m != nil && m.Serves(shard)
}

// Start owns shards once the scheduler knows the cluster, until Leave. The queue gains and loses what is owned.
func (shares *Shares) Start(ctx context.Context, sched *scheduler.Scheduler, queue *kubequeue.Queue) {
	shares.wrap(sched, queue)
	register(shares)
	go shares.follow(ctx, queue)
	go func() {
		if sched.WaitForHandlersSync(ctx) == nil {
			shares.join(ctx)
		}
	}()
}

// join tries until etcd answers: until then nothing is owned.
func (shares *Shares) join(ctx context.Context) {
	for ctx.Err() == nil {
		m, err := member.Open(ctx, member.Options{
			Etcd: shares.client, Prefix: shares.prefix, Log: slog.New(logr.ToSlogHandler(shares.logger)),
			Create: record.NewConfig(shares.count, nil),
			Owner: owner.Config{
				Publish: -1, // etcd has no pods, so there are no priorities to tell
				Trace:   shares.note,
				Busy:    func(shard int) int { return int(shares.binding[shard].Load()) },
			},
		})
		if err == nil {
			shares.member.Store(m)
			shares.wake()
			return
		}
		shares.logger.Error(err, "Shards cannot be owned yet", "etcd", shares.options.Etcd.URLs)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// note is called by the member, which does nothing else meanwhile.
func (shares *Shares) note(step owner.Step) {
	shares.mutex.Lock()
	shares.steps = append(shares.steps, step)
	shares.mutex.Unlock()
	shares.wake()
}

func (shares *Shares) wake() {
	select {
	case shares.more <- struct{}{}:
	default:
	}
}

// follow tells the queue what is owned, some steps at once.
func (shares *Shares) follow(ctx context.Context, queue *kubequeue.Queue) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-shares.more:
		}
		shares.mutex.Lock()
		steps := shares.steps
		shares.steps = nil
		shares.mutex.Unlock()
		gained, lost := changes(steps)
		if len(lost) > 0 {
			count := queue.Lose(lost...)
			shares.logger.V(2).Info("Shards are another's", "shards", lost, "podsDropped", count)
		}
		if len(gained) > 0 {
			count := queue.Gain(shares.logger, gained...)
			shares.logger.V(2).Info("Shards are owned", "shards", gained, "podsTakenIn", count)
		}
	}
}

// changes is what some steps come to: the last one of a shard counts.
func changes(steps []owner.Step) (gained, lost []int) {
	owned := map[int]bool{}
	for _, step := range steps {
		switch step.What {
		case owner.Loaded, owner.Resumed:
			owned[step.Shard] = true
		case owner.Stopped, owner.Dropped:
			owned[step.Shard] = false
		}
	}
	for number, is := range owned {
		if is {
			gained = append(gained, number)
		} else {
			lost = append(lost, number)
		}
	}
	slices.Sort(gained)
	slices.Sort(lost)
	return gained, lost
}

// Leave gives all shards away, in order, and waits for that.
func (shares *Shares) Leave() {
	m := shares.member.Load()
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second) // TTL and grace
	defer cancel()
	if err := m.Leave(ctx); err != nil {
		shares.logger.Error(err, "Shards could not be given away: their next owners wait for the end of the lease")
	}
	m.Close()
}
