package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

var noon = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

// atTerminal returns a printer on a terminal and the buffer that it writes to.
func atTerminal(format string) (*printer, *bytes.Buffer) {
	var out bytes.Buffer
	return &printer{Screen: &screen.Screen{Out: &out, Terminal: true, Color: true, Width: 80, Now: func() time.Time { return noon }}, format: format}, &out
}

func TestATerminalGetsColoursAndTimesAsTheyFeel(t *testing.T) {
	jobs := []*fairleadv1.Job{
		{Id: 1, Kind: "noop", State: "failed", CreatedAt: timestamppb.New(noon.Add(-3 * time.Minute)), Error: strings.Repeat("long ", 30)},
		{Id: 2, Kind: "noop", State: "scheduled", CreatedAt: timestamppb.New(noon), NotBefore: timestamppb.New(noon.Add(time.Hour))},
		{Id: 3, Kind: "noop", State: "running", CancelWish: true},
		{Id: 4, Kind: "noop", State: "running", Node: 9},
		{Id: 5, Kind: "noop", State: "waiting", Deadline: timestamppb.New(noon.Add(time.Minute))},
	}
	p, out := atTerminal("table")
	if err := p.printTable(&fairleadv1.ListJobsResponse{}, jobTable(p.Screen, jobs)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if screen.Width(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("it is too wide: %q", line)
		}
	}
	for _, want := range []string{"\x1b[31mfailed", "3m ago", "due in 1h", "stop requested", "on node 9", "times out in 1m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestJSONOnATerminalHasLines(t *testing.T) {
	p, out := atTerminal("json")
	if err := p.say(&fairleadv1.Job{Id: 7, Args: []byte(`{"n":12345678901234567890}`)}, "nothing"); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"id\": \"7\",\n  \"args\": {\n    \"n\": 12345678901234567890\n  }\n}\n"; out.String() != want {
		t.Errorf("it is %s", out)
	}
}

func TestYAMLKeepsNumbersAndSeparatesDocuments(t *testing.T) {
	p, out := atTerminal("yaml")
	for range 2 {
		if err := p.say(&fairleadv1.Job{Id: 7, Kind: "true", Args: []byte(`{"n":12345678901234567890,"f":1.5}`)}, "nothing"); err != nil {
			t.Fatal(err)
		}
	}
	document := "id: \"7\"\nkind: \"true\"\nargs:\n  \"n\": 12345678901234567890\n  f: 1.5\n"
	if want := document + "---\n" + document; out.String() != want {
		t.Errorf("it is\n%s", out)
	}
}

func TestExplanationsAreSentences(t *testing.T) {
	p, _ := atTerminal("table")
	text := explanation(p, &fairleadv1.Explanation{
		Id: 3, State: "ready", Ahead: 2, Start: timestamppb.New(noon.Add(time.Minute)),
		Obstacles: []*fairleadv1.Obstacle{{Text: "tenant \"acme\" has 3 of 3 jobs running"}, {Text: "it is over its rate", Until: timestamppb.New(noon.Add(2 * time.Second))}},
	})
	for _, want := range []string{"job 3 is ready and cannot start yet:\n  - tenant \"acme\" has 3 of 3", "rate (in 2s)\n", "2 jobs are ahead of it\n", "estimated start: ", "(in 1m)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	inLine := explanation(p, &fairleadv1.Explanation{Id: 3, State: "ready", Ahead: 2, Obstacles: []*fairleadv1.Obstacle{{Code: "in_line", Text: "2 jobs are ahead of it"}}})
	if strings.Count(inLine, "ahead of it") != 1 {
		t.Errorf("it is said twice that others go first:\n%s", inLine)
	}
	shared := explanation(p, &fairleadv1.Explanation{Id: 3, State: "ready", Share: &fairleadv1.Share{Text: "tenant \"acme\" has weight 3"}})
	if !strings.HasSuffix(shared, "\ntenant \"acme\" has weight 3\n") {
		t.Errorf("the share is missing in\n%s", shared)
	}
	if text := explanation(p, &fairleadv1.Explanation{Id: 3, State: "ready"}); text != "job 3 is ready and nothing prevents it from starting\n" {
		t.Errorf("it is %q", text)
	}
}

func TestProgressIsABarIfItCanBe(t *testing.T) {
	for progress, want := range map[string]string{
		`{"done":5,"total":10}`: "  ██████████░░░░░░░░░░ 50%", `{"at":"\u001b"}`: `  {"at":"\u001b"}`, ``: "",
	} {
		if got := shownProgress(&fairleadv1.Job{State: "running", Progress: []byte(progress)}); got != want {
			t.Errorf("%s is %q", progress, got)
		}
	}
}

func TestWaitingAtATerminalShowsALineAndTakesItAway(t *testing.T) {
	r := newRig(t)
	c, out, shown := waitingAtTerminal(r)
	r.typed(ExitOK, "job", "enqueue", "noop")
	if err := (&waiting{}).all(t.Context(), c, []int64{1}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "job 1 succeeded\n" || !strings.Contains(shown.String(), "job 1 (1 of 1)") || !strings.HasSuffix(shown.String(), "\r\x1b[K") {
		t.Errorf("stdout %q, stderr %q", out.String(), shown.String())
	}
}

func waitingAtTerminal(r *rig) (c *call, out, shown *bytes.Buffer) {
	out, shown = &bytes.Buffer{}, &bytes.Buffer{}
	return &call{
		clients: newClients(target{Server: r.url}, time.Minute), printer: &printer{Screen: &screen.Screen{Out: out, Now: time.Now}, format: "table"},
		errors: &screen.Screen{Out: shown, Terminal: true, Width: 40, Now: time.Now},
	}, out, shown
}

// After an interrupt, the user still needs to know the ID of the job.
func TestInterruptedWaitingNamesTheJob(t *testing.T) {
	r := newRig(t)
	c, _, _ := waitingAtTerminal(r)
	r.typed(ExitOK, "job", "enqueue", "noop", "--not-before", "1h")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := (&waiting{}).all(ctx, c, []int64{1}); err == nil || !strings.Contains(err.Error(), "interrupted; job 1 continues") {
		t.Errorf("it ended with %v", err)
	}
}

func TestOnlyYesIsYes(t *testing.T) {
	for answer, want := range map[string]int{"y\n": ExitOK, "YES\n": ExitOK, "\n": ExitFailure, "n\n": ExitFailure, "": ExitFailure, "yess\n": ExitFailure} {
		c := &call{in: strings.NewReader(answer), errors: &screen.Screen{Out: &bytes.Buffer{}}}
		if code := ExitCode(c.confirm("delete 3 jobs?")); code != want {
			t.Errorf("%q: exit %d, want %d", answer, code, want)
		}
	}
}

func TestMomentsAreTimesDaysOrSpans(t *testing.T) {
	for text, want := range map[string]time.Duration{"10m": 10 * time.Minute, "90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0s": 0} {
		for _, past := range []bool{false, true} {
			m := moment{past: past}
			if err := m.Set(text); err != nil {
				t.Fatal(err)
			}
			span := time.Until(m.at)
			if past {
				span = -span
			}
			if (span - want).Abs() > 10*time.Second {
				t.Errorf("%s is %s from now", text, span)
			}
		}
	}
	var m moment
	if err := m.Set("2030-05-17T12:00:00Z"); err != nil || !m.proto().AsTime().Equal(noon) {
		t.Errorf("%v, %v", err, m.at)
	}
	for _, text := range []string{"soon", "d", "1dx", "1d-2h", "-1d", "99999999d"} {
		if err := m.Set(text); err == nil {
			t.Errorf("%s is taken for %v", text, m.at)
		}
	}
}

func TestNamesAreCompleted(t *testing.T) {
	r := newRig(t)
	r.typed(ExitOK, "job", "enqueue", "noop", "--wait")
	r.typed(ExitOK, "tenant", "create", "acme")
	r.typed(ExitOK, "queue", "pause", "mail")
	r.typed(ExitOK, "limit", "set", "kind:noop", "--rate", "9")
	t.Setenv("FAIRLEAD_SERVER", r.url)
	for args, want := range map[string]string{
		"job list --state ": "cancelled", "job enqueue ": "noop", "tenant get ": "acme", "queue pause ": "mail", "node drain ": "here",
		"limit set ": "kind:noop", "job bulk ": "retry", "job list -o ": "yaml", "token create --role ": "operator", "job enqueue noop --on-duplicate ": "replace",
		"job enqueue noop --tenant ": "acme",
	} {
		stdout, _, _ := run(t.Context(), nil, append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
		if !strings.Contains(stdout, want) {
			t.Errorf("%s: %q", args, stdout)
		}
	}
	t.Setenv("FAIRLEAD_SERVER", "http://127.0.0.1:1")
	if stdout, _, code := run(t.Context(), nil, "__complete", "tenant", "get", ""); code != ExitOK || stdout != ":4\n" {
		t.Errorf("without a server: exit %d, %q", code, stdout)
	}
}
