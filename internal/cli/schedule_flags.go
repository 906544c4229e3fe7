package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// scheduleFlags holds the flags of a schedule and its jobs.
type scheduleFlags struct {
	texts                struct{ description, cron, daily, timezone, calendar, overlap, failure, concurrency, catchUp, reason string }
	at, startsAt, endsAt moment
	every, delay, jitter time.Duration
	window, runTimeout   time.Duration
	most, depth, limit   int32
	enabled              bool
	job                  fairleadv1.NewJob
	args                 string
	alert                fairleadv1.Alert
}

func (t *scheduleFlags) register(cmd *cobra.Command, s *session) {
	t.registerTiming(cmd, s)
	f := cmd.Flags()
	f.StringVar(&t.texts.description, "description", "", "description of the schedule (default: none)")
	f.StringVar(&t.texts.overlap, "overlap-action", "", "action if an earlier run is still active: allow, skip, cancel_prev or parallel (default \"allow\")")
	f.StringVar(&t.texts.failure, "failure-action", "", "action after a failed run: run_new, retry or skip (default \"run_new\")")
	f.Int32Var(&t.most, "max-concurrency", 0, "maximum number of active runs (0 = unlimited)")
	f.StringVar(&t.texts.concurrency, "concurrency-policy", "", "action for runs above --max-concurrency: queue, skip or parallel (default \"queue\")")
	f.Int32Var(&t.depth, "queue-depth", 0, "maximum number of queued runs (default 100)")
	f.StringVar(&t.texts.catchUp, "catch-up-mode", "", "missed runs to start: none, compact (only the latest) or full (default \"none\")")
	f.Int32Var(&t.limit, "catch-up-limit", 0, "maximum number of missed runs to start (default 100)")
	f.DurationVar(&t.window, "catch-up-window", 0, "maximum age of missed runs to start (default 24h)")
	f.BoolVar(&t.enabled, "enabled", true, "enable the schedule")
	f.StringVar(&t.texts.reason, "reason", "", "reason for disabling the schedule (default: none)")
	f.StringVar(&t.alert.Url, "alert-url", "", "URL to call when an event listed in --alert-on occurs (default: none)")
	f.StringSliceVar(&t.alert.On, "alert-on", nil, "events that trigger an alert: failure, failures, recovery or missed (repeatable; default failure,recovery)")
	f.StringVar(&t.args, "args", "", "input for the handler: JSON, @FILE, or - for standard input (default: none)")
	f.StringVar(&t.job.Queue, "queue", "", "queue whose nodes may run the jobs (default \"default\")")
	f.StringVar(&t.job.Tenant, "tenant", "", "tenant that owns the jobs (default \"default\")")
	f.Int32Var(&t.job.Priority, "priority", 0, "priority of the jobs; higher values start first (default 0)")
	f.Int32Var(&t.job.MaxAttempts, "max-attempts", 0, "maximum number of failed attempts per job (0 = the handler's limit)")
	f.StringVar(&t.job.ConcurrencyKey, "concurrency-key", "", "jobs with the same concurrency key run one at a time (default: no key)")
	f.DurationVar(&t.runTimeout, "run-timeout", 0, "timeout per attempt of a job (0 = the handler's timeout)")
	complete(cmd, "overlap-action", oneOf("allow", "skip", "cancel_prev", "parallel"))
	complete(cmd, "failure-action", oneOf("run_new", "retry", "skip"))
	complete(cmd, "concurrency-policy", oneOf("queue", "skip", "parallel"))
	complete(cmd, "catch-up-mode", oneOf("none", "compact", "full"))
	complete(cmd, "alert-on", oneOf("failure", "failures", "recovery", "missed"))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// registerTiming registers the flags of the timing.
func (t *scheduleFlags) registerTiming(cmd *cobra.Command, s *session) {
	f := cmd.Flags()
	f.StringVar(&t.texts.cron, "cron", "", "cron expression: 5 or 6 fields, or a macro such as @daily (default: none)")
	f.DurationVar(&t.every, "every", 0, "fixed interval between the starts of consecutive runs (default: none)")
	f.DurationVar(&t.delay, "delay", 0, "delay between the end of one run and the start of the next (default: none)")
	f.StringVar(&t.texts.daily, "daily", "", "times of day at which to run, such as \"03:00, 15:30\" (default: none)")
	f.Var(&t.at, "at", "time of a single run: a timestamp, or a duration from now such as 10m (default: none)")
	f.StringVar(&t.texts.timezone, "timezone", "", "time zone of the schedule, such as Europe/Paris (default \"UTC\")")
	f.Var(&t.startsAt, "starts-at", "time at which the schedule becomes active (default: immediately)")
	f.Var(&t.endsAt, "ends-at", "time at which the schedule ends (default: never)")
	f.DurationVar(&t.jitter, "jitter", 0, "maximum random delay added to each start (default: none)")
	f.StringVar(&t.texts.calendar, "calendar", "", "calendar of days to skip (default: none)")
	complete(cmd, "calendar", s.asked(calendarNames))
}

// timing returns the timing from the given flags.
func (t *scheduleFlags) timing(cmd *cobra.Command) *fairleadv1.PreviewTimingRequest {
	x := &t.texts
	said := &fairleadv1.PreviewTimingRequest{
		Cron: x.cron, Every: durationpb.New(t.every), Delay: durationpb.New(t.delay), Daily: x.daily, At: t.at.proto(),
		Timezone: x.timezone, StartsAt: t.startsAt.proto(), EndsAt: t.endsAt.proto(), Jitter: durationpb.New(t.jitter), Calendar: x.calendar,
	}
	given := &fairleadv1.PreviewTimingRequest{}
	setGiven(cmd, said.ProtoReflect(), given.ProtoReflect())
	return given
}

// message returns the values of all flags, whether given or not.
func (t *scheduleFlags) message() *fairleadv1.Schedule {
	x := &t.texts
	return &fairleadv1.Schedule{
		Description: &x.description, Cron: &x.cron, Every: durationpb.New(t.every), Delay: durationpb.New(t.delay), Daily: &x.daily, At: t.at.proto(),
		Timezone: &x.timezone, StartsAt: t.startsAt.proto(), EndsAt: t.endsAt.proto(), Jitter: durationpb.New(t.jitter), Calendar: &x.calendar,
		OverlapAction: &x.overlap, FailureAction: &x.failure, MaxConcurrency: &t.most, ConcurrencyPolicy: &x.concurrency, QueueDepth: &t.depth,
		CatchUpMode: &x.catchUp, CatchUpLimit: &t.limit, CatchUpWindow: durationpb.New(t.window), Enabled: &t.enabled, Reason: &x.reason,
	}
}

// apply sets the fields of a schedule and its job whose flags were given.
func (t *scheduleFlags) apply(cmd *cobra.Command, c *call, to *fairleadv1.Schedule) error {
	setGiven(cmd, t.message().ProtoReflect(), to.ProtoReflect())
	setGiven(cmd, t.job.ProtoReflect(), to.GetJob().ProtoReflect())
	if cmd.Flags().Changed("run-timeout") {
		to.Job.Timeout = durationpb.New(t.runTimeout)
	}
	if cmd.Flags().Changed("args") {
		var err error
		if to.Job.Args, err = readDocument("--args", t.args, c.in); err != nil {
			return err
		}
	}
	return nil
}

// applyAlert sets the URL and the events of the alert. The other alert fields, which only
// files can set, remain unchanged.
func (t *scheduleFlags) applyAlert(cmd *cobra.Command, current *fairleadv1.Alert, to *fairleadv1.Schedule) {
	url, on := cmd.Flags().Changed("alert-url"), cmd.Flags().Changed("alert-on")
	switch {
	case url && t.alert.GetUrl() == "":
		to.Clear = append(to.Clear, "alert")
		return
	case !url && !on:
		return
	case current == nil:
		current = &fairleadv1.Alert{}
	}
	if url {
		current.Url = t.alert.GetUrl()
	}
	if on {
		current.On = t.alert.GetOn()
	}
	to.Alert = current
}

// setGiven copies the fields whose flags were given. It ignores flags that all commands
// have, such as the timeout of a call, and flags with a special format.
func setGiven(cmd *cobra.Command, from, into protoreflect.Message) {
	for i := range from.Descriptor().Fields().Len() {
		f := from.Descriptor().Fields().Get(i)
		flag := cmd.LocalNonPersistentFlags().Lookup(strings.ReplaceAll(string(f.Name()), "_", "-"))
		if flag != nil && flag.Changed && flag.Name != "clear" && flag.Name != "args" {
			into.Set(f, from.Get(f))
		}
	}
}
