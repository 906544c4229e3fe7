package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// scheduleFlags are what can be said of a schedule and its jobs.
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
	f.StringVar(&t.texts.description, "description", "", "what it is for")
	f.StringVar(&t.texts.overlap, "overlap-action", "", "while an earlier run is active: allow, skip, cancel_prev or parallel (default \"allow\")")
	f.StringVar(&t.texts.failure, "failure-action", "", "after a run that failed: run_new, retry or skip (default \"run_new\")")
	f.Int32Var(&t.most, "max-concurrency", 0, "runs that may be active at once (0: no bound)")
	f.StringVar(&t.texts.concurrency, "concurrency-policy", "", "what happens to more of them: queue, skip or parallel (default \"queue\")")
	f.Int32Var(&t.depth, "queue-depth", 0, "runs that may be queued (0: 100)")
	f.StringVar(&t.texts.catchUp, "catch-up-mode", "", "instants that were missed: none, compact or full (default \"none\")")
	f.Int32Var(&t.limit, "catch-up-limit", 0, "most of them that are run (0: 100)")
	f.DurationVar(&t.window, "catch-up-window", 0, "how old they may be (0: a day)")
	f.BoolVar(&t.enabled, "enabled", true, "it makes runs")
	f.StringVar(&t.texts.reason, "reason", "", "why it does not")
	f.StringVar(&t.alert.Url, "alert-url", "", "URL that gets an alert if its runs go wrong; empty: none")
	f.StringSliceVar(&t.alert.On, "alert-on", nil, "what makes an alert: failure, failures, recovery, missed (default failure,recovery)")
	f.StringVar(&t.args, "args", "", "the handler's input: JSON, @FILE or - for what is piped in")
	f.StringVar(&t.job.Queue, "queue", "", "which nodes may run its jobs (default \"default\")")
	f.StringVar(&t.job.Tenant, "tenant", "", "the tenant that its jobs run for (default \"default\")")
	f.Int32Var(&t.job.Priority, "priority", 0, "of its jobs: higher goes first")
	f.Int32Var(&t.job.MaxAttempts, "max-attempts", 0, "attempts that may fail before a job does (0: the handler's)")
	f.StringVar(&t.job.ConcurrencyKey, "concurrency-key", "", "of its jobs: those with the same one run one at a time")
	f.DurationVar(&t.runTimeout, "run-timeout", 0, "of one attempt of a job (0: the handler's)")
	complete(cmd, "overlap-action", oneOf("allow", "skip", "cancel_prev", "parallel"))
	complete(cmd, "failure-action", oneOf("run_new", "retry", "skip"))
	complete(cmd, "concurrency-policy", oneOf("queue", "skip", "parallel"))
	complete(cmd, "catch-up-mode", oneOf("none", "compact", "full"))
	complete(cmd, "alert-on", oneOf("failure", "failures", "recovery", "missed"))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// registerTiming registers the flags that say when it is due.
func (t *scheduleFlags) registerTiming(cmd *cobra.Command, s *session) {
	f := cmd.Flags()
	f.StringVar(&t.texts.cron, "cron", "", "when it is due: five or six fields, or such as @daily")
	f.DurationVar(&t.every, "every", 0, "when it is due: at a fixed rate")
	f.DurationVar(&t.delay, "delay", 0, "when it is due: so long after the end of its last run")
	f.StringVar(&t.texts.daily, "daily", "", "when it is due: times of day, as \"03:00, 15:30\"")
	f.Var(&t.at, "at", "when it is due: once, at a time or after a span such as 10m")
	f.StringVar(&t.texts.timezone, "timezone", "", "such as Europe/Paris (default \"UTC\")")
	f.Var(&t.startsAt, "starts-at", "not due before")
	f.Var(&t.endsAt, "ends-at", "not due from then on")
	f.DurationVar(&t.jitter, "jitter", 0, "start up to so much later")
	f.StringVar(&t.texts.calendar, "calendar", "", "whose days are left out")
	complete(cmd, "calendar", s.asked(calendarNames))
}

// timing is what the given flags say of when it is due.
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

// message is what the flags say, given or not.
func (t *scheduleFlags) message() *fairleadv1.Schedule {
	x := &t.texts
	return &fairleadv1.Schedule{
		Description: &x.description, Cron: &x.cron, Every: durationpb.New(t.every), Delay: durationpb.New(t.delay), Daily: &x.daily, At: t.at.proto(),
		Timezone: &x.timezone, StartsAt: t.startsAt.proto(), EndsAt: t.endsAt.proto(), Jitter: durationpb.New(t.jitter), Calendar: &x.calendar,
		OverlapAction: &x.overlap, FailureAction: &x.failure, MaxConcurrency: &t.most, ConcurrencyPolicy: &x.concurrency, QueueDepth: &t.depth,
		CatchUpMode: &x.catchUp, CatchUpLimit: &t.limit, CatchUpWindow: durationpb.New(t.window), Enabled: &t.enabled, Reason: &x.reason,
	}
}

// apply sets those fields of a schedule, and of its job, whose flags were given.
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

// applyAlert sets where alerts go. The rest of an alert, which only files can say, stays.
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

// setGiven copies the fields whose flags were given. Flags of all commands, such as
// the timeout of an answer, are others, and so are those that are read otherwise.
func setGiven(cmd *cobra.Command, from, into protoreflect.Message) {
	for i := range from.Descriptor().Fields().Len() {
		f := from.Descriptor().Fields().Get(i)
		flag := cmd.LocalNonPersistentFlags().Lookup(strings.ReplaceAll(string(f.Name()), "_", "-"))
		if flag != nil && flag.Changed && flag.Name != "clear" && flag.Name != "args" {
			into.Set(f, from.Get(f))
		}
	}
}
