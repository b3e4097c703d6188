// Command kube-scheduler is the ordinary kube-scheduler on another queue: the same flags, the same configuration, and some
// flags more, --schedq-engine and those of package kubeshard.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
	"schedq/examples/kube-scheduler/kubequeue"
)

// original is the engine that is none: kube-scheduler's own queue.
const original = "original"

var engines = map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex}

func main() {
	os.Exit(cli.Run(command()))
}

// command is app.NewSchedulerCommand's with more flags; that one keeps its options to itself.
func command() *cobra.Command {
	opts := options.NewOptions()
	engine := "lockfree"
	var alike alike
	var shared sharing
	cmd := &cobra.Command{
		Use:  "kube-scheduler",
		Long: fmt.Sprintf("kube-scheduler v1.%d with the scheduling queue of schedq. See docs/KUBE.md of schedq.", release.Minor),
		Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return opts.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, opts, engine, &alike, &shared) },
	}
	flags := opts.Flags
	verflag.AddFlags(flags.FlagSet("global"))
	globalflag.AddGlobalFlags(flags.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	flags.FlagSet("schedq").StringVar(&engine, "schedq-engine", engine,
		"The scheduling queue: lockfree, mutex, or original for kube-scheduler's own.")
	alike.addFlags(flags.FlagSet("schedq"))
	shared.addFlags(flags.FlagSet("schedq"))
	for _, set := range flags.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, *flags, columns)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
	return cmd
}

func run(cmd *cobra.Command, opts *options.Options, engine string, alike *alike, shared *sharing) error {
	verflag.PrintAndExitIfRequested()
	if engine != original && engines[engine] == 0 {
		return fmt.Errorf("--schedq-engine=%q: legal are lockfree, mutex and original", engine)
	}
	if err := alike.check(engine != original); err != nil {
		return err
	}
	gates := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gates); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())
	if err := nameInformers(opts); err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := server.SetupSignalHandler()
	go func() {
		<-stop
		shared.leave()
		cancel()
	}()

	config, sched, err := app.Setup(ctx, opts)
	if err != nil {
		return err
	}
	component := &config.ComponentConfig
	queueOptions := kubequeue.Options{
		Engine:         engines[engine],
		InitialBackoff: time.Duration(component.PodInitialBackoffSeconds) * time.Second,
		MaxBackoff:     time.Duration(component.PodMaxBackoffSeconds) * time.Second,
		MaxParked:      config.PodMaxInUnschedulablePodsDuration,
	}
	queueOptions.Classes, queueOptions.ClassPatience = classesBy[alike.by], alike.patience
	if component.PodMaxBackoffSeconds == 0 {
		queueOptions.MaxBackoff = -1
	}
	if err := shared.open(ctx, config, sched, engine != original, &queueOptions); err != nil {
		return err
	}
	if engine != original {
		queue, err := kubequeue.Install(ctx, sched, config.InformerFactory, queueOptions)
		if err != nil {
			return err
		}
		shared.start(ctx, sched, queue)
	}
	gates.(featuregate.MutableFeatureGate).AddMetrics()
	opts.ComponentGlobalsRegistry.AddMetrics()
	err = app.Run(ctx, config, sched)
	if shared.active() && ctx.Err() != nil {
		return nil // it was told to end, and without leader election Run takes every end for an error
	}
	return err
}
