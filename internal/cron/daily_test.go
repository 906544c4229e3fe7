package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

func TestTimesOfDayAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"03:00":                   "03:00",
		"15:30, 3:00":             "03:00,15:30",
		" 23:59:30 ,00:00:00,":    "a time is missing; use HH:MM or HH:MM:SS, such as 03:00,15:30",
		"23:59:30,00:00:00":       "00:00,23:59:30",
		"12:00,12:00:00":          "12:00",
		"":                        "a time is missing",
		"24:00":                   `"24:00" is not a time of day; use HH:MM or HH:MM:SS from 00:00 to 23:59:59`,
		"03:60":                   `"03:60" is not a time of day`,
		"03:00:60":                `"03:00:60" is not a time of day`,
		"3":                       `"3" is not a time of day`,
		"3:0":                     `"3:0" is not a time of day`,
		"003:00":                  `"003:00" is not a time of day`,
		"-3:00":                   `"-3:00" is not a time of day`,
		"3:00pm":                  `"3:00pm" is not a time of day`,
		"1:00:00:00":              `"1:00:00:00" is not a time of day`,
		strings.Repeat("1", 1025): "the expression has 1025 bytes; at most 1024 are allowed",
	} {
		d, err := cron.ParseDaily(text)
		got := d.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestTimesOfDayAreDescribed(t *testing.T) {
	d, err := cron.ParseDaily("3:00,15:30:05")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Describe(), "at 03:00 and 15:30:05 every day"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (cron.Daily{}).Describe(); got != "never" {
		t.Errorf("nothing is %q", got)
	}
}

// TestTimesOfDayAreDueAsExpressionsAre compares with expressions around all
// changes of some zones.
func TestTimesOfDayAreDueAsExpressionsAre(t *testing.T) {
	for times, text := range map[string]string{
		"02:30":                      "30 2 * * *",
		"00:00,00:15":                "0,15 0 * * *",
		"23:00:10,02:00:10,09:00:10": "10 0 2,9,23 * * *",
	} {
		d, err := cron.ParseDaily(times)
		if err != nil {
			t.Fatal(err)
		}
		e := parse(t, text)
		for _, name := range []string{"UTC", "Europe/Paris", "Asia/Beirut", "America/Nuuk", "Pacific/Apia", "Antarctica/Troll"} {
			zone := load(t, name)
			for at := instant(t, "2011-01-01T00:00:00Z"); at.Year() < 2013; at = at.Add(5 * time.Hour) {
				if got, want := d.Next(at, zone), e.Next(at, zone); !got.Equal(want) {
					t.Fatalf("%s in %s after %v: %v, want %v", times, name, at, got, want)
				}
				if got, want := d.Timer(zone).Next(at), e.Timer(zone, at).Next(at); !got.Equal(want) {
					t.Fatalf("%s in %s after %v: the timer says %v, want %v", times, name, at, got, want)
				}
				if got, want := d.Prev(at, zone), e.Prev(at, zone); !got.Equal(want) {
					t.Fatalf("%s in %s before %v: %v, want %v", times, name, at, got, want)
				}
			}
		}
	}
}
