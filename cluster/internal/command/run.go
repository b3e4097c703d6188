package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"schedq/cluster/member"
	"schedq/cluster/owner"
	"schedq/cluster/record"
	"schedq/cluster/serve"
)

// run owns shards until it is told to end.
func run(o *options, _ []string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	create := record.NewConfig(o.shards, nil)
	if o.plugins != "" {
		text, err := os.ReadFile(o.plugins)
		if err == nil {
			err = json.Unmarshal(text, &create.Plugins)
		}
		if err != nil {
			return fmt.Errorf("--plugins %s: %w", o.plugins, err)
		}
	}
	if err := create.Check(); err != nil {
		return err
	}
	if o.etcd == "" {
		end, err := embedded(ctx, o)
		if err != nil {
			return err
		}
		defer end()
	}
	etcd, err := connect(o)
	if err != nil {
		return err
	}
	defer etcd.Close()

	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	defer listener.Close()
	first, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	m, err := member.Open(first, member.Options{
		Etcd: etcd, Prefix: o.prefix, Name: o.name, Create: create, Timeout: o.timeout, Log: log,
		Owner: owner.Config{
			Address: listener.Addr().String(), Engine: engines[o.engine], Strict: o.strict, TTL: int64(o.ttl), Renew: int64(o.renew),
			Skew: max(int64(o.skew), 1), Grace: max(int64(o.grace), 1),
		},
	})
	if err != nil {
		return fmt.Errorf("etcd %s: %w", o.urls(), err)
	}
	defer m.Close()
	server := &http.Server{Handler: serve.Handler(m), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Printf("%s: %d shards, http://%s\n", m.ID(), m.Config().Shards, listener.Addr())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop() // a second signal ends it at once
	log.Info("leaving")
	leaving, cancel := context.WithTimeout(context.Background(), o.ttl+o.grace)
	defer cancel()
	if err := m.Leave(leaving); err != nil {
		return errors.New("some shards could not be given away: their next owners wait for the end of the lease")
	}
	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.Close()
	_ = server.Shutdown(closing)
	return nil
}
