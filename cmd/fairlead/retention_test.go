package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestRetentionIsASettingOfServeAndOfEachKind(t *testing.T) {
	const day = 24 * time.Hour
	file := filepath.Join(t.TempDir(), "serve.yaml")
	yaml := "retention: {failed: 30d, skipped: forever}\nkind_retention:\n  http: succeeded:90m failed:365d\n  noop: cancelled:1h\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		file string
	}{
		"flags": {args: []string{"--retention", "failed=30d", "--retention", "skipped=forever", "--kind-retention", "http=succeeded:90m", "--kind-retention", "http=failed:365d", "--kind-retention", "noop=cancelled:1h"}},
		"file":  {file: file},
	} {
		t.Run(name, func(t *testing.T) {
			var o retentionOptions
			var node engine.Options
			flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
			o.flags(flags)
			for _, step := range []func() error{
				func() error { return flags.Parse(c.args) },
				func() error { return configure(flags, c.file, func(string) (string, bool) { return "", false }) },
				func() error { return o.set(&node) },
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			if want := (fairlead.Retention{Succeeded: day, Failed: 30 * day, Cancelled: day, Skipped: fairlead.Forever}); node.Retention != want {
				t.Errorf("jobs are kept for %+v", node.Retention)
			}
			want := map[string]fairlead.Retention{"http": {Succeeded: 90 * time.Minute, Failed: 365 * day}, "noop": {Cancelled: time.Hour}}
			if !maps.Equal(node.KindRetention, want) {
				t.Errorf("those of kinds for %+v", node.KindRetention)
			}
		})
	}
}

func TestARetentionThatIsNotUnderstoodIsRefused(t *testing.T) {
	for flag, said := range map[string]string{
		"--retention=failed":              "OUTCOME=TIME",
		"--retention=lost=3d":             "use succeeded, failed, cancelled or skipped",
		"--retention=failed=soon":         "or forever",
		"--retention=failed=0s":           "or forever",
		"--retention=failed=-1d":          "or forever",
		"--kind-retention=http":           "KIND=OUTCOME:TIME",
		"--kind-retention=http=failed":    "or forever",
		"--kind-retention==failed:1d":     "KIND=OUTCOME:TIME",
		"--kind-retention=http=failed:1w": "or forever",
		"--hold-retention=none":           "or forever, or off",
	} {
		_, errs := typed(t, exitUsage, "serve", "--addr", "127.0.0.1:0", "--db", "sqlite://:memory:", flag)
		if name, _, _ := strings.Cut(flag, "="); !strings.Contains(errs, said) || !strings.Contains(errs, name) {
			t.Errorf("%s: %s", flag, errs)
		}
	}
}

func TestHoldsAreKeptForAWeekUnlessToldOtherwise(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 7 * 24 * time.Hour, "12h": 12 * time.Hour, "forever": fairlead.Forever, "off": -1} {
		var o retentionOptions
		var node engine.Options
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		o.flags(flags)
		if text != "" {
			if err := flags.Set(holdRetentionFlag, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.set(&node); err != nil || node.HoldRetention != want {
			t.Errorf("with %q they are kept for %v: %v", text, node.HoldRetention, err)
		}
	}
}
