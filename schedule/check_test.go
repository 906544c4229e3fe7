package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

const year = 366 * 24 * time.Hour

// change is something that is said of a schedule that is fine without it.
type change = func(s *schedule.Schedule)

// said is a schedule of which something is said.
func said(do change) *schedule.Schedule {
	s := &schedule.Schedule{Name: "s", Cron: "@daily", Job: fairlead.Job{Kind: "k"}, Alert: &schedule.Alert{URL: "http://there"}}
	do(s)
	return s
}

// onlyField reports whether an error is about one field and no other.
func onlyField(err error, field string) bool {
	var invalid *fairlead.InvalidError
	return errors.As(err, &invalid) && len(invalid.Fields) == 1 && invalid.Fields[0].Field == field
}

func TestAScheduleNamesTheFieldThatIsWrong(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for field, changes := range map[string][]change{
		"name":        {func(s *schedule.Schedule) { s.Name = "" }, func(s *schedule.Schedule) { s.Name = strings.Repeat("s", fairlead.MaxName+1) }},
		"description": {func(s *schedule.Schedule) { s.Description = strings.Repeat("d", 2001) }, func(s *schedule.Schedule) { s.Description = "\xff" }},
		"cron": {
			func(s *schedule.Schedule) { s.Cron = "" }, func(s *schedule.Schedule) { s.Cron = "never" },
			func(s *schedule.Schedule) { s.Every = time.Minute }, func(s *schedule.Schedule) { s.Delay = time.Minute },
			func(s *schedule.Schedule) { s.Daily = "03:00" }, func(s *schedule.Schedule) { s.At = at },
		},
		"daily": {func(s *schedule.Schedule) { s.Cron, s.Daily = "", "25:00" }},
		"every": {
			func(s *schedule.Schedule) { s.Cron, s.Every = "", time.Second-1 }, func(s *schedule.Schedule) { s.Cron, s.Every = "", year+1 },
			func(s *schedule.Schedule) { s.Cron, s.Every = "", -time.Minute },
		},
		"delay":    {func(s *schedule.Schedule) { s.Cron, s.Delay = "", time.Second-1 }, func(s *schedule.Schedule) { s.Cron, s.Delay = "", year+1 }},
		"timezone": {func(s *schedule.Schedule) { s.Zone = "Mars" }, func(s *schedule.Schedule) { s.Zone = "Local" }},
		"ends_at":  {func(s *schedule.Schedule) { s.StartsAt, s.EndsAt = at, at }, func(s *schedule.Schedule) { s.StartsAt, s.EndsAt = at, at.Add(-1) }},
		"jitter":   {func(s *schedule.Schedule) { s.Jitter = -1 }, func(s *schedule.Schedule) { s.Jitter = 24*time.Hour + 1 }},
		"calendar": {func(s *schedule.Schedule) { s.Calendar = "\x00" }},

		"overlap_action":     {func(s *schedule.Schedule) { s.Overlap = "x" }},
		"failure_action":     {func(s *schedule.Schedule) { s.AfterFailure = "x" }},
		"concurrency_policy": {func(s *schedule.Schedule) { s.Concurrency = "x" }},
		"catch_up_mode":      {func(s *schedule.Schedule) { s.CatchUp = "x" }},
		"max_concurrency":    {func(s *schedule.Schedule) { s.MaxConcurrency = -1 }, func(s *schedule.Schedule) { s.MaxConcurrency = fairlead.MaxCap + 1 }},
		"queue_depth":        {func(s *schedule.Schedule) { s.QueueDepth = -1 }, func(s *schedule.Schedule) { s.QueueDepth = 100_001 }},
		"catch_up_limit":     {func(s *schedule.Schedule) { s.CatchUpLimit = -1 }, func(s *schedule.Schedule) { s.CatchUpLimit = 1001 }},
		"catch_up_window":    {func(s *schedule.Schedule) { s.CatchUpWindow = -1 }, func(s *schedule.Schedule) { s.CatchUpWindow = year + 1 }},

		"job.kind":       {func(s *schedule.Schedule) { s.Job.Kind = "" }},
		"job.not_before": {func(s *schedule.Schedule) { s.Job.NotBefore = at }, func(s *schedule.Schedule) { s.Job.StartBy = at }},

		"alert.url":            {func(s *schedule.Schedule) { s.Alert.URL = "" }, func(s *schedule.Schedule) { s.Alert.URL = "\xff" }, func(s *schedule.Schedule) { s.Alert.URL = strings.Repeat("u", 2001) }},
		"alert.signing_secret": {func(s *schedule.Schedule) { s.Alert.SigningSecret = "\xff" }, func(s *schedule.Schedule) { s.Alert.SigningSecret = strings.Repeat("s", 2001) }},
		"alert.headers": {
			func(s *schedule.Schedule) { s.Alert.Headers = map[string]string{"X": "\xff"} },
			func(s *schedule.Schedule) { s.Alert.Headers = map[string]string{"X": strings.Repeat("h", 2000)} },
			func(s *schedule.Schedule) { s.Alert.Headers = headers(33) },
		},
		"alert.on":       {func(s *schedule.Schedule) { s.Alert.On = []schedule.AlertEvent{"rain"} }},
		"alert.failures": {func(s *schedule.Schedule) { s.Alert.Failures = 1 }, func(s *schedule.Schedule) { s.Alert.Failures = 1001 }},
		"alert.quiet":    {func(s *schedule.Schedule) { s.Alert.Quiet = -1 }, func(s *schedule.Schedule) { s.Alert.Quiet = year + 1 }},
		"alert.body":     {func(s *schedule.Schedule) { s.Alert.Body = []byte("{") }, func(s *schedule.Schedule) { s.Alert.Body = quoted(64<<10 + 1) }},
	} {
		for i, do := range changes {
			if err := schedule.Normalize(said(do)); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
}

// headers are so many.
func headers(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all["X-"+strings.Repeat("h", i)] = "v"
	}
	return all
}

// quoted is a JSON text of so many bytes.
func quoted(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }

func TestTheBoundsOfAScheduleAreAccepted(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, do := range map[string]change{
		"the least": func(s *schedule.Schedule) {
			s.QueueDepth, s.CatchUpLimit, s.CatchUpWindow = 1, 1, 1
			s.Cron, s.Every = "", time.Second
			s.StartsAt, s.EndsAt = at, at.Add(time.Microsecond)
			s.Alert.Failures, s.Alert.Quiet = 2, 1
		},
		"the most": func(s *schedule.Schedule) {
			s.Name, s.Description, s.Calendar = strings.Repeat("s", fairlead.MaxName), strings.Repeat("d", 2000), strings.Repeat("c", fairlead.MaxName)
			s.Cron, s.Delay, s.Jitter = "", year, 24*time.Hour
			s.MaxConcurrency, s.QueueDepth, s.CatchUpLimit, s.CatchUpWindow = fairlead.MaxCap, 100_000, 1000, year
			s.Alert = &schedule.Alert{
				URL: strings.Repeat("u", 2000), SigningSecret: strings.Repeat("s", 2000), Headers: headers(32),
				Failures: 1000, Quiet: year, Body: quoted(64 << 10),
			}
		},
		"a long header": func(s *schedule.Schedule) { s.Alert.Headers = map[string]string{"X": strings.Repeat("h", 1999)} },
		"an end alone":  func(s *schedule.Schedule) { s.EndsAt = at },
		"no alert":      func(s *schedule.Schedule) { s.Alert = nil },
	} {
		if err := schedule.Normalize(said(do)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatAScheduleDoesNotSayHasADefault(t *testing.T) {
	s := said(func(*schedule.Schedule) {})
	given := s.Alert
	if err := schedule.Normalize(s); err != nil {
		t.Fatal(err)
	}
	if s.Zone != "UTC" || s.Overlap != schedule.OverlapAllow || s.AfterFailure != schedule.FailureRunNew ||
		s.Concurrency != schedule.ConcurrencyQueue || s.QueueDepth != 100 ||
		s.CatchUp != schedule.CatchUpNone || s.CatchUpLimit != 100 || s.CatchUpWindow != 24*time.Hour {
		t.Errorf("got %+v", s)
	}
	if a := s.Alert; len(a.On) != 2 || a.On[0] != schedule.AlertFailure || a.On[1] != schedule.AlertRecovery || a.Failures != 3 || a.Quiet != time.Minute {
		t.Errorf("the alert is %+v", a)
	}
	if given.Failures != 0 {
		t.Error("the caller's own alert was changed")
	}
}

func TestTwoWaysToWriteATimeAreTheSame(t *testing.T) {
	for _, c := range []struct {
		field string
		do    change
		got   func(s *schedule.Schedule) string
		want  string
	}{
		{"cron", func(s *schedule.Schedule) { s.Cron = "5  4 * * *" }, func(s *schedule.Schedule) string { return s.Cron }, "0 5 4 * * *"},
		{"daily", func(s *schedule.Schedule) { s.Cron, s.Daily = "", "15:30,03:00" }, func(s *schedule.Schedule) string { return s.Daily }, "03:00,15:30"},
	} {
		s := said(c.do)
		if err := schedule.Normalize(s); err != nil || c.got(s) != c.want {
			t.Errorf("%s is stored as %q (%v), want %q", c.field, c.got(s), err, c.want)
		}
	}
}

func TestACalendarNamesTheFieldThatIsWrong(t *testing.T) {
	for field, calendars := range map[string][]schedule.Calendar{
		"name":        {{}},
		"description": {{Name: "c", Description: "\xff"}},
		"dates":       {{Name: "c", Dates: repeated("12-25", 5001)}},
		"weekdays":    {{Name: "c", Weekdays: []time.Weekday{-1}}, {Name: "c", Weekdays: []time.Weekday{7}}},
		"dates[1]":    {{Name: "c", Dates: []string{"12-25", "02-30"}}, {Name: "c", Dates: []string{"12-25", "2026-02-29"}}, {Name: "c", Dates: []string{"12-25", "today"}}},
		"ranges[0]": {
			{Name: "c", Ranges: []schedule.DateRange{{From: "2026-12-25", To: "2026-12-24"}}},
			{Name: "c", Ranges: []schedule.DateRange{{From: "12-24", To: "2026-12-25"}}},
			{Name: "c", Ranges: []schedule.DateRange{{From: "2026-12-24", To: "tomorrow"}}},
		},
	} {
		for i := range calendars {
			if err := schedule.NormalizeCalendar(&calendars[i]); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
	fine := schedule.Calendar{
		Name: "c", Weekdays: []time.Weekday{time.Sunday, time.Saturday}, Dates: repeated("02-29", 4999),
		Ranges: []schedule.DateRange{{From: "2026-12-25", To: "2026-12-25"}},
	}
	if err := schedule.NormalizeCalendar(&fine); err != nil {
		t.Error(err)
	}
}

func repeated(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}
