package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// callOptions configures the HTTP calls of jobs: allowed targets and secrets, and limits.
type callOptions struct {
	timeout                 time.Duration
	allowTargets            []string
	allowSecrets            []string
	maxRunning, maxFailures int
}

func (o *callOptions) flags(f *pflag.FlagSet) {
	f.DurationVar(&o.timeout, "request-timeout", 15*time.Second, "timeout for HTTP calls that do not set one")
	f.StringArrayVar(&o.allowTargets, "allow-target", nil, "CIDR range or host on a private network that HTTP calls may reach (repeatable; default: none)")
	f.StringArrayVar(&o.allowSecrets, "allow-secret", nil, "secret that HTTP calls may use: env:NAME for ${env:NAME}, or file:PATH for ${file:PATH} (repeatable; default: none)")
	f.IntVar(&o.maxRunning, "target-max-running", 256, "maximum number of concurrent HTTP calls from this node to one host and port (0 = unlimited)")
	f.IntVar(&o.maxFailures, "target-max-failures", 20, "number of consecutive failures after which this node pauses HTTP calls to a host and port (0 = never pause)")
}

// check validates the options, and returns the guard and the secrets.
func (o *callOptions) check(local bool) (*httpcall.Guard, *httpcall.Secrets, error) {
	guard, err := httpcall.NewGuard(o.allowTargets, local)
	if err != nil {
		return nil, nil, usagef("--allow-target: %w", err)
	}
	secrets, err := httpcall.NewSecrets(o.allowSecrets)
	if err != nil {
		return nil, nil, usagef("--allow-secret: %w", err)
	}
	if o.timeout < 0 {
		return nil, nil, usagef("--request-timeout %v must be positive", o.timeout)
	}
	if o.maxRunning < 0 || o.maxFailures < 0 {
		return nil, nil, usagef("--target-max-running and --target-max-failures must be positive, or 0 for no limit")
	}
	return guard, secrets, nil
}

func (o *callOptions) handler(guard *httpcall.Guard, secrets *httpcall.Secrets, store driver.Store) *httpcall.Handler {
	return httpcall.New(httpcall.Options{
		Guard: guard, Secrets: secrets, Timeout: o.timeout, Keeper: store, Schedule: originIn(schedule.NewClient(store)), MaxRunning: o.maxRunning, MaxFailures: o.maxFailures,
	})
}

// originIn returns a function that looks up the schedules of runs. The name of a schedule
// that was deleted in the meantime is unknown.
func originIn(client *schedule.Client) func(context.Context, *fairlead.Job) (httpcall.Origin, error) {
	return func(ctx context.Context, job *fairlead.Job) (httpcall.Origin, error) {
		fire, err := client.FireOf(ctx, job.ID)
		if errors.Is(err, fairlead.ErrNotFound) {
			return httpcall.Origin{}, nil
		}
		if err != nil {
			return httpcall.Origin{}, err
		}
		schedule, err := client.ByID(ctx, fire.Schedule)
		if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			return httpcall.Origin{}, err
		}
		return httpcall.Origin{Schedule: schedule.Name, Due: fire.Due}, nil
	}
}
