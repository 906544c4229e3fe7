package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

const (
	retentionFlag     = "retention"
	kindRetentionFlag = "kind-retention"
	holdRetentionFlag = "hold-retention"

	retentionTimes = "a duration such as 12h or 30d, or forever"
)

// retentionOptions configures the retention of finished jobs and of holds.
type retentionOptions struct {
	outcomes, kinds []string
	holds           string
}

func (o *retentionOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.outcomes, retentionFlag, nil, "retention period of finished jobs, as OUTCOME=TIME, where TIME is a duration such as 12h or 30d, or forever (repeatable; default succeeded=24h failed=7d cancelled=24h skipped=24h)")
	f.StringArrayVar(&o.kinds, kindRetentionFlag, nil, "retention period of finished jobs of one kind on all nodes, as KIND=OUTCOME:TIME...; overrides --retention (repeatable; default: none)")
	holdRetentionFlagVar(f, &o.holds)
}

func holdRetentionFlagVar(f *pflag.FlagSet, holds *string) {
	f.StringVar(holds, holdRetentionFlag, "7d", "retention period of the hold history (what kept jobs waiting): a duration such as 12h or 30d, forever, or off to record no holds on this node")
}

// set applies the given values to the options of a node.
func (o *retentionOptions) set(node *engine.Options) error {
	if len(o.outcomes) > 0 {
		node.Retention = engine.DefaultRetention()
	}
	for _, text := range o.outcomes {
		outcome, age, ok := strings.Cut(text, "=")
		if !ok {
			return usagef("--%s %q: use OUTCOME=TIME, such as failed=30d", retentionFlag, text)
		}
		if err := setRetention(&node.Retention, outcome, age); err != nil {
			return usagef("--%s %q: %w", retentionFlag, text, err)
		}
	}
	for _, text := range o.kinds {
		kind, rest, ok := strings.Cut(text, "=")
		if !ok || kind == "" || strings.TrimSpace(rest) == "" {
			return usagef("--%s %q: use KIND=OUTCOME:TIME, such as http=failed:30d", kindRetentionFlag, text)
		}
		if node.KindRetention == nil {
			node.KindRetention = map[string]fairlead.Retention{}
		}
		own := node.KindRetention[kind]
		for _, part := range strings.Fields(rest) {
			outcome, age, _ := strings.Cut(part, ":")
			if err := setRetention(&own, outcome, age); err != nil {
				return usagef("--%s %q: %w", kindRetentionFlag, text, err)
			}
		}
		node.KindRetention[kind] = own
	}
	var err error
	node.HoldRetention, err = parseHoldRetention(o.holds)
	return err
}

// parseHoldRetention parses the value for a node's HoldRetention.
func parseHoldRetention(text string) (time.Duration, error) {
	if text == "off" {
		return -1, nil
	}
	age, err := parseRetention(text)
	if err != nil {
		return 0, usagef("--%s %w, or off", holdRetentionFlag, err)
	}
	return age, nil
}

// setRetention sets the retention of jobs with one outcome.
func setRetention(keep *fairlead.Retention, outcome, text string) error {
	age, err := parseRetention(text)
	if err != nil {
		return err
	}
	switch outcome {
	case "succeeded":
		keep.Succeeded = age
	case "failed":
		keep.Failed = age
	case "cancelled":
		keep.Cancelled = age
	case "skipped":
		keep.Skipped = age
	default:
		return fmt.Errorf("unknown outcome %q; use succeeded, failed, cancelled or skipped", outcome)
	}
	return nil
}

func parseRetention(text string) (time.Duration, error) {
	if text == "forever" {
		return fairlead.Forever, nil
	}
	const day, most = 24 * time.Hour, 100 * 365
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= most {
			return time.Duration(n) * day, nil
		}
	} else if age, err := time.ParseDuration(text); err == nil && age > 0 {
		return age, nil
	}
	return 0, fmt.Errorf("invalid retention %q; use %s", text, retentionTimes)
}
