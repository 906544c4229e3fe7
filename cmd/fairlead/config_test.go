package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

type settings struct {
	slots  int
	poll   time.Duration
	queues []string
}

func load(t *testing.T, yaml string, env map[string]string, args ...string) (settings, error) {
	t.Helper()
	var s settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.IntVar(&s.slots, "slots", 32, "")
	flags.DurationVar(&s.poll, "poll", time.Second, "")
	flags.StringArrayVar(&s.queues, "queue", nil, "")
	flags.Duration("request-timeout", 0, "")
	flags.Int("queue-size", 1000, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fairlead.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	err := configure(flags, file, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	return s, err
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	yaml := "slots: 1\npoll: 1ms\nqueue: [a, b]\n"
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want int
	}{
		{"file", nil, nil, 1},
		{"environment", map[string]string{"FAIRLEAD_SLOTS": "2"}, nil, 2},
		{"flag", map[string]string{"FAIRLEAD_SLOTS": "2"}, []string{"--slots", "3"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := load(t, yaml, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if s.slots != c.want || s.poll != time.Millisecond || strings.Join(s.queues, ",") != "a,b" {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestAnEmptyVariableCountsAsNotSet(t *testing.T) {
	t.Setenv("FAIRLEAD_DB", "")
	t.Setenv("FAIRLEAD_DB_FILE", "")
	t.Setenv("FAIRLEAD_SLOTS", "")
	t.Setenv("FAIRLEAD_ADDR", "127.0.0.1:1")
	cmd := newServeCommand()
	if err := configure(cmd.Flags(), "", environment); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"db": false, "db-file": false, "slots": false, "addr": true} {
		if cmd.Flags().Changed(name) != want {
			t.Errorf("--%s was set: %v", name, !want)
		}
	}
}

func TestKeysOfTheSourcesAreAccepted(t *testing.T) {
	s, err := load(t, "scheduler:\n  poll_interval: 250ms\nexecutor:\n  worker_pool_size: 7\n  request_timeout: 3s\nqueue_size: 5\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.poll != 250*time.Millisecond || s.slots != 7 {
		t.Errorf("got %+v", s)
	}
}

func TestMistakesInTheConfigurationAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"slotz: 3\n":           `unknown key "slotz"`,
		"slots: many\n":        "slots",
		"poll: [\n":            "fairlead.yaml",
		"a:\n  b:\n    c: 1\n": `unknown key "a.b.c"`,
	} {
		_, err := load(t, text, nil)
		if err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != exitUsage {
			t.Errorf("%q: got %v (exit %d), want it to name %q", text, err, exitCode(err), want)
		}
	}
	_, err := load(t, "", map[string]string{"FAIRLEAD_POLL": "soon"})
	if err == nil || !strings.Contains(err.Error(), "FAIRLEAD_POLL") {
		t.Errorf("environment: got %v", err)
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://ada:secret@db/x":               "postgres://db/x",
		"postgres://ada@db:5432/x?password=secret": "postgres://db:5432/x",
		"mysql://a:p%40ss@db/x":                    "mysql://db/x",
		"host=h user=u password=secret":            "the database",
		"sqlite://fairlead.db":                     "sqlite://fairlead.db",
	} {
		if got := shown(url); got != want {
			t.Errorf("%s became %s, want %s", url, got, want)
		}
	}
}
