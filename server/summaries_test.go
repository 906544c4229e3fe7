package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestRunsAreSummedUpByHowTheyEnded(t *testing.T) {
	due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	jobs := map[int64]*fairlead.Job{}
	run := func(id int64, late, took time.Duration) {
		job := &fairlead.Job{ID: id}
		job.StartedAt = due.Add(late)
		if took > 0 {
			job.FinishedAt = job.StartedAt.Add(took)
		}
		jobs[id] = job
	}
	run(1, time.Second, 10*time.Second)
	run(2, 3*time.Second, 30*time.Second)
	run(3, 2*time.Second, 20*time.Second)
	run(4, time.Hour, time.Minute) // by hand: it is not late
	run(5, 4*time.Second, 0)
	jobs[6] = &fairlead.Job{ID: 6}
	run(8, 90*time.Second, 15*time.Second) // its first attempt failed: the start includes the delay
	jobs[8].Attempt = 2
	run(9, 90*time.Second, 15*time.Second) // its schedule repeats runs that failed
	fires := []schedule.Fire{
		{Job: 1, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Succeeded},
		{Job: 2, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Succeeded},
		{Job: 3, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Failed},
		{Job: 4, Due: due, Trigger: schedule.TriggerManual, State: fairlead.Cancelled},
		{Job: 5, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Running},
		{Job: 6, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Skipped},
		{Job: 7, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Cancelled, Skip: "overlap"},
		{Job: 8, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Succeeded},
		{Job: 9, Due: due, Trigger: schedule.TriggerCron, State: fairlead.Failed, Number: 2},
	}
	out := statsOf(fires, jobs)
	if out.GetRuns() != 9 || out.GetActive() != 1 || out.GetSkipped() != 2 || out.GetFailed() != 3 || out.GetSucceeded() != 3 || out.GetSuccessRate() != 0.5 {
		t.Errorf("they are summed up as %v", out)
	}
	got := fmt.Sprint(out.GetDurationP50().AsDuration(), out.GetDurationP95().AsDuration(), out.GetDurationMax().AsDuration(), out.GetLatenessP50().AsDuration(), out.GetLatenessMax().AsDuration())
	if want := "15s 1m0s 1m0s 2s 4s"; got != want {
		t.Errorf("they took and were late %s, want %s", got, want)
	}
	if out := statsOf(fires[5:7], jobs); out.SuccessRate != nil || out.GetDurationMax() != nil || out.GetLatenessP50() != nil {
		t.Errorf("those that never ran are summed up as %v", out)
	}
}

func TestAScheduleThatCannotBeReadSaysSo(t *testing.T) {
	broken := scheduleTo(schedule.Schedule{Name: "s", Broken: "is no schedule", Reason: "old"})
	if got := broken.GetReason(); got != "the stored schedule is no schedule; replace or delete it" {
		t.Errorf("its reason is %q", got)
	}
	if got := scheduleTo(schedule.Schedule{Name: "s", Reason: "old"}).GetReason(); got != "old" {
		t.Errorf("its reason is %q", got)
	}
}

func TestTheReasonOfTheBusinessIsFoundInItsAnswer(t *testing.T) {
	for body, want := range map[string]string{
		`{"reason":"r","detail":"d","message":"m","error":"e"}`: "r",
		`{"detail":"d","message":"m","error":"e"}`:              "d",
		`{"message":"m","error":"e"}`:                           "m",
		`{"error":"e"}`:                                         "e",
		`{"colour":"red"}`:                                      `{"colour":"red"}`,
		" plain\x00text \n":                                     "plain text",
		"\xff":                                                  "�",
		"":                                                      "it responded with 403",
		`{"reason":" "}`:                                        "it responded with 403",
		strings.Repeat("ü", mostReason):                         strings.Repeat("ü", mostReason),
		strings.Repeat("ü", mostReason+1):                       strings.Repeat("ü", mostReason) + "…",
	} {
		if got := reasonIn(httpcall.Reply{Status: 403, Body: []byte(body)}); got != want {
			t.Errorf("%.40q is told as %.40q, want %.40q", body, got, want)
		}
	}
}

func TestAnObjectMayBeGivenAsItsText(t *testing.T) {
	for raw, want := range map[string]string{
		` {"a":1} `: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `" {\"a\":1} "`: `{"a":1}`,
		``: "", `null`: "", `"null"`: "", `""`: "", `" "`: "", `{}`: "", `"{}"`: "",
		`7`: "refused", `[]`: "refused", `"x"`: "refused", `"`: "refused", `"[1]"`: "refused",
	} {
		got, err := opened([]byte(raw))
		if (err != nil) != (want == "refused") || err == nil && (string(got) != want || (got == nil) != (want == "")) {
			t.Errorf("%s is opened as %s, %v", raw, got, err)
		}
	}
}

// A check that fails itself has not found anything wrong with the args.
func TestAnErrorOfACheckIsNoRefusal(t *testing.T) {
	oh := errors.New("oh")
	checks := ArgsChecks{"k": func(json.RawMessage) error { return oh }}
	if err := checks.check([]*fairlead.Job{{Kind: "k"}}); !errors.Is(err, oh) {
		t.Errorf("of a job: %v", err)
	}
	if err := checks.checkSchedule(&schedule.Schedule{Job: fairlead.Job{Kind: "k"}}); !errors.Is(err, oh) {
		t.Errorf("of a schedule: %v", err)
	}
}
