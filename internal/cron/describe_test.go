package cron_test

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/cron"
)

func TestExpressionsAreDescribedInPlainEnglish(t *testing.T) {
	for text, want := range map[string]string{
		"* * * * * *":            "every second",
		"*/15 * * * * *":         "every 15 seconds",
		"*/7 * * * * *":          "every 7 seconds from the start of every minute",
		"30 * * * * *":           "at second 30 of every minute",
		"0,30 5 * * * *":         "every 30 seconds of minute 5 of every hour",
		"10,30 */5 * * * *":      "at seconds 10 and 30 of a minute, every 5 minutes",
		"* 1 2 * * *":            "every second of minute 1 in the hour 2",
		"* * * * *":              "every minute",
		"*/5 * * * *":            "every 5 minutes",
		"*/7 * * * *":            "every 7 minutes from the start of every hour",
		"30 * * * *":             "at minute 30 of every hour",
		"1,2,3,10 * * * *":       "at minutes 1 to 3 and 10 of every hour",
		"1-59/2 * * * *":         "at minutes 1, 3 and so on to 59 of every hour",
		"0 * * * *":              "every hour",
		"0 */6 * * *":            "every 6 hours",
		"0 */5 * * *":            "every 5 hours from midnight",
		"15 */2 * * *":           "at minute 15 of every 2nd hour",
		"* */3 * * *":            "every minute of every 3rd hour",
		"*/15 9-17 * * 1-5":      "every 15 minutes from 09:00 to 17:59 on Monday to Friday",
		"*/20 9,12,15 * * *":     "every 20 minutes in the hours 9, 12 and 15",
		"0 9-17 * * MON-FRI":     "every hour from 09:00 to 17:00 on Monday to Friday",
		"30 9-17 * * *":          "every hour from 09:30 to 17:30",
		"0 1,3,4,6,7,9,20 * * *": "at minute 0 in the hours 1, 3, 4, 6, 7, 9 and 20",
		"0 3 * * *":              "at 03:00 every day",
		"15 0 3 * * *":           "at 03:00:15 every day",
		"0,30 9,15 * * *":        "at 09:00, 09:30, 15:00 and 15:30 every day",
		"30 9 * * MON-FRI":       "at 09:30 on Monday to Friday",
		"0 0 * * FRI-SUN":        "at 00:00 on Friday to Sunday",
		"0 0 * * 1,3":            "at 00:00 on Monday and Wednesday",
		"0 0 * 6-8 1":            "at 00:00 on Monday in June to August",
		"0 0 * 1,3 *":            "at 00:00 every day in January and March",
		"0 18 * * 5L":            "on the last Friday of every month at 18:00",
		"0 18 * * 5#3,1":         "on the third Friday of every month and on Monday at 18:00",
		"0 18 1 6 1":             "on the 1st of June and on Monday in these months at 18:00",
		"0 0 1,15 * *":           "on the 1st and the 15th of every month at 00:00",
		"0 0 2-4,11,12,13 * *":   "on the 2nd to the 4th and the 11th to the 13th of every month at 00:00",
		"0 0 21,22,23 * *":       "on the 21st to the 23rd of every month at 00:00",
		"0 0 */2 * *":            "on every 2nd day from the 1st to the 31st of every month at 00:00",
		"0 0 L,L-1,L-3 * *":      "on the last day, the day before the last and the day 3 days before the last of every month at 00:00",
		"0 0 L-3W * *":           "on the weekday nearest the day 3 days before the last of every month at 00:00",
		"0 0 15W,LW 1 *":         "on the weekday nearest the 15th and the last weekday of January at 00:00",
		"*/10 * 1 * *":           "on the 1st of every month, every 10 minutes",
		"@yearly":                "on the 1st of January at 00:00",
		"@every 1s":              "every second",
		"@every 1h":              "every hour",
		"@every 90s":             "every 1 minute and 30 seconds",
		"@every 2h3m4.005s":      "every 2 hours, 3 minutes, 4 seconds and 5 milliseconds",
	} {
		if got := parse(t, text).Describe(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := (cron.Expr{}).Describe(); got != "never" {
		t.Errorf("nothing is %q", got)
	}
}
