package screen

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

func at(out *strings.Builder) *Screen {
	return &Screen{Out: out, Now: func() time.Time { return noon }}
}

func TestTablesAreAligned(t *testing.T) {
	var out strings.Builder
	table := at(&out).Table("ID", "NAME", "RATE", "NOTE")
	table.Add(int64(7), "東京", 0.5, "first")
	table.Add(int64(1234), "a longer one", 10.0, "")
	if err := table.Write(); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"  ID  NAME          RATE  NOTE\n" +
		"   7  東京           0.5  first\n" +
		"1234  a longer one    10\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestNothingThatATerminalObeysIsWritten(t *testing.T) {
	var out strings.Builder
	screen := at(&out)
	screen.Terminal, screen.Width = true, 30
	table := screen.Table("ERROR")
	table.Add("bad\x1b[2J\x07 and\r\nmore\u202e" + strings.Repeat("x", 50))
	if err := table.Write(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.ContainsAny(line, "\x1b\x07\r\u202e") || Width(strings.TrimSpace(line)) > 30 {
			t.Errorf("a line is %q", line)
		}
	}
}

func TestColoursAreForThoseWhoWantThem(t *testing.T) {
	var out strings.Builder
	screen := at(&out)
	if text := screen.In(Bad, "failed"); text != "failed" {
		t.Errorf("without colours it is %q", text)
	}
	screen.Color = true
	if text := screen.In(Bad, "failed"); !strings.Contains(text, "\x1b[31m") {
		t.Errorf("with colours it is %q", text)
	}
}

func TestTimesAreToldAsTheyFeel(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"now": 0, "3s ago": 3 * time.Second, "2.5s ago": 2500 * time.Millisecond, "3m ago": 3 * time.Minute,
		"3m7s ago": 187 * time.Second, "in 2h5m": -125 * time.Minute, "in 4d1h": -97*time.Hour - time.Minute,
	} {
		if got := Ago(noon.Add(-d), noon); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if got := at(nil).When(noon); got != "2030-05-17T12:00:00Z" {
		t.Errorf("without a terminal it is %q", got)
	}
	if got := at(nil).When(time.Time{}); got != "" {
		t.Errorf("no time is %q", got)
	}
}

func TestBarsAndSparks(t *testing.T) {
	for want, bar := range map[string]string{
		"██░░": Bar(1, 2, 4), "░░░░": Bar(0, 9, 4), "█░░░": Bar(1, 90, 4), "████": Bar(5, 2, 4), "····": Bar(3, 0, 4), "": Bar(1, 1, -1),
	} {
		if bar != want {
			t.Errorf("got %q, want %q", bar, want)
		}
	}
	if got := Spark([]float64{9, 0, 1, 2}, 3); got != "▁▅█" {
		t.Errorf("the spark is %q", got)
	}
	if got := Spark(nil, 10); got != "" {
		t.Errorf("of nothing the spark is %q", got)
	}
}
