package cron_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/cron"
)

func TestExpressionsHaveANormalForm(t *testing.T) {
	for text, want := range map[string]string{
		"* * * * *":                   "0 * * * * *",
		"* * * * * *":                 "* * * * * *",
		"  5\t4 * *\n* ":              "0 5 4 * * *",
		"0-59 0-23 ? 1-12 ?":          "0 * * * * *",
		"*/1 */1 */1 */1 */1":         "0 * * * * *",
		"*/15 * * * * *":              "*/15 * * * * *",
		"0,15,30,45 * * * *":          "0 */15 * * * *",
		"5/20 * * * *":                "0 5-45/20 * * * *",
		"10-30/5 * * * *":             "0 10-30/5 * * * *",
		"3,1,2,1 * * * *":             "0 1-3 * * * *",
		"1,2,5,6,7,30 * * * *":        "0 1,2,5-7,30 * * * *",
		"007 09 01 1 *":               "0 7 9 1 1 *",
		"0 */6 * * *":                 "0 0 */6 * * *",
		"0 0,6,12,18 * * *":           "0 0 0-18/6 * * *", // names hours, */6 follows real time
		"0 0/6 * * *":                 "0 0 0-18/6 * * *",
		"0 */6,3 * * *":               "0 0 0,3,6,12,18 * * *",
		"0 */12 * * *":                "0 0 */12 * * *",
		"0 0 * jan,Mar,DEC sun":       "0 0 0 * 1,3,12 0",
		"0 0 * JAN-MAR MON-FRI":       "0 0 0 * 1-3 1-5",
		"0 0 * */3 *":                 "0 0 0 * */3 *",
		"0 0 * * 7":                   "0 0 0 * * 0",
		"0 0 * * 5-7":                 "0 0 0 * * 0,5,6",
		"0 0 * * FRI-SUN":             "0 0 0 * * 0,5,6",
		"0 0 * * SUN-TUE":             "0 0 0 * * 0-2",
		"0 0 * * 7-2":                 "0 0 0 * * 0-2",
		"0 0 * * 0-7":                 "0 0 0 * * 0-6",
		"0 0 * * 1/2":                 "0 0 0 * * 1-5/2",
		"0 0 * * 7/2":                 "0 0 0 * * 0-6/2",
		"0 0 1-31 * MON":              "0 0 0 1-31 * 1", // restricted, so all days
		"0 0 */2 * MON":               "0 0 0 1-31/2 * 1",
		"0 0 L * *":                   "0 0 0 L * *",
		"0 0 l-3,15w,lw,L-0,1 * *":    "0 0 0 1,15W,L,L-3,LW * *",
		"0 0 * * 5L,fri#3,7#1,1,MONL": "0 0 0 * * 1,0#1,5#3,1L,5L",
		"0 0 L-3w,Lw * *":             "0 0 0 LW,L-3W * *",
		"0 0 * january,May *":         "0 0 0 * 1,5 *",
		"0 0 * June-SEP Friday":       "0 0 0 * 6-9 5",
		"0 0 * * friday-Sunday":       "0 0 0 * * 0,5,6",
		"0 0 * * FridayL,Tuesday#2":   "0 0 0 * * 2#2,5L",
		"0 0 29 2 *":                  "0 0 0 29 2 *",
		"0 0 29W FEB ?":               "0 0 0 29W 2 *",
		"0 0 L-28 2 *":                "0 0 0 L-28 2 *",
		"0 0 * 4 5#5":                 "0 0 0 * 4 5#5",
		"0 0 30 2 1":                  "0 0 0 30 2 1", // Mondays at least
		"@yearly":                     "0 0 0 1 1 *",
		"@Annually":                   "0 0 0 1 1 *",
		"@monthly":                    "0 0 0 1 * *",
		"@weekly":                     "0 0 0 * * 0",
		"@daily":                      "0 0 0 * * *",
		"@midnight":                   "0 0 0 * * *",
		" @hourly ":                   "0 0 * * * *",
		"@every 90s":                  "@every 1m30s",
		"@EVERY 1h":                   "@every 1h",
		"@every 1500ms":               "@every 1.5s",
		"@every 10m":                  "@every 10m",
		"@every 100h0m5s":             "@every 100h0m5s",
		"@every 70272h":               "@every 70272h",
		"0 0 " + strings.Repeat("1,", 400) + "1 * *": "0 0 0 1 * *",
	} {
		e, err := cron.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := e.String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again, err := cron.Parse(e.String()); err != nil || again != e {
			t.Errorf("%q is another expression when its normal form is read: %v", text, err)
		}
	}
}

func TestErrorsPointAtTheField(t *testing.T) {
	for text, want := range map[string]string{
		"60 * * * *":                          `minute (field 1 of 5): "60" is out of range; use 0 to 59`,
		"60 * * * * *":                        `second (field 1 of 6): "60" is out of range; use 0 to 59`,
		"0 1,24 * * *":                        `hour (field 2 of 5): "24" is out of range; use 0 to 23`,
		"0 0 L-31W * *":                       `day of month (field 3 of 5): "L-31W" needs a number of days from 0 to 30 after L-`,
		"0 0 * Janu *":                        `month (field 4 of 5): "Janu" is not valid; use 1 to 12 or JAN to DEC`,
		"0 0 0 * *":                           `day of month (field 3 of 5): "0" is out of range; use 1 to 31, L, L-3, 15W, LW or L-3W`,
		"0 0 * 13 *":                          `month (field 4 of 5): "13" is out of range; use 1 to 12 or JAN to DEC`,
		"0 0 * * 8":                           `day of week (field 5 of 5): "8" is out of range; use 0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L or 5#3`,
		"0 0 * foo *":                         `month (field 4 of 5): "foo" is not valid; use 1 to 12 or JAN to DEC`,
		"0 0 * * ſun":                         `day of week (field 5 of 5): "ſun" is not valid; use 0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L or 5#3`,
		"-1 * * * *":                          `minute (field 1 of 5): "-1" is not valid; use 0 to 59`,
		"+1 * * * *":                          `minute (field 1 of 5): "+1" is not valid; use 0 to 59`,
		"1-2-3 * * * *":                       `minute (field 1 of 5): "1-2-3" is not valid; use 0 to 59`,
		"99999999999 * * * *":                 `minute (field 1 of 5): "99999999999" is out of range`,
		"0 22-2 * * *":                        `hour (field 2 of 5): "22-2" runs backwards; write two ranges, 22-23 and 0-2`,
		"*/0 * * * *":                         `minute (field 1 of 5): "*/0" needs a step from 1 to 59 after the slash`,
		"*/60 * * * *":                        `minute (field 1 of 5): "*/60" needs a step from 1 to 59`,
		"0 */24 * * *":                        `hour (field 2 of 5): "*/24" needs a step from 1 to 23`,
		"0 0 * * */7":                         `day of week (field 5 of 5): "*/7" needs a step from 1 to 6`,
		"1/ * * * *":                          `minute (field 1 of 5): "1/" needs a step from 1 to 59`,
		"1/2/3 * * * *":                       `minute (field 1 of 5): "1/2/3" needs a step from 1 to 59`,
		"/5 * * * *":                          `minute (field 1 of 5): "/5" is missing a value; use 0 to 59`,
		"1,,2 * * * *":                        `minute (field 1 of 5): "" is missing a value; use 0 to 59`,
		"? * * * *":                           `minute (field 1 of 5): "?" is allowed only in the day of month and the day of week; use *`,
		"*,5 * * * *":                         `minute (field 1 of 5): "*" already means every value; it must be alone`,
		"0 0 ?,L * *":                         `day of month (field 3 of 5): "?" already means every value`,
		"0 0 32W * *":                         `day of month (field 3 of 5): "32W" needs one day from 1 to 31, or L, before W`,
		"0 0 1-5W * *":                        `day of month (field 3 of 5): "1-5W" needs one day`,
		"0 0 W * *":                           `day of month (field 3 of 5): "W" needs one day`,
		"0 0 L-31 * *":                        `day of month (field 3 of 5): "L-31" needs a number of days from 0 to 30 after L-`,
		"0 0 5L * *":                          `day of month (field 3 of 5): "5L" is not valid; use 1 to 31, L, L-3, 15W, LW or L-3W`,
		"0 0 * * L":                           `day of week (field 5 of 5): "L" needs a weekday before it; 5L is the last Friday`,
		"0 0 * * 5#6":                         `day of week (field 5 of 5): "5#6" needs a number from 1 to 5 after #`,
		"0 0 * * #2":                          `day of week (field 5 of 5): "#2" is not valid; use 0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L or 5#3`,
		"0 0 * * 1-5L":                        `day of week (field 5 of 5): "1-5L" is not valid; use 0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L or 5#3`,
		"0 0 30 2 *":                          `day of month (field 3 of 5): "30" never occurs in these months; use a day that exists in them`,
		"0 0 31 2,4,6,9,11 *":                 `day of month (field 3 of 5): "31" never occurs in these months; use a day that exists in them`,
		"0 0 L-29,30W feb *":                  `day of month (field 3 of 5): "L-29,30W" never occurs in these months; use a day that exists in them`,
		"0 0 * 2 5#5":                         `day of week (field 5 of 5): "5#5" may not occur for more than eight years in these months`,
		"* *":                                 `the expression has 2 fields; give 5 fields (minute, hour, day of month, month, day of week) or 6 with seconds first`,
		"* * * * * * 2025":                    `the expression has 7 fields`,
		" ":                                   `the expression is empty; give 5 fields`,
		"@reboot":                             `"@reboot" is not a known macro; use @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every 90s`,
		"@daily 3":                            `"@daily 3" is not a known macro; use @yearly`,
		"@every":                              `@every needs one duration after it, such as @every 90s`,
		"@every 1m 30s":                       `@every needs one duration after it`,
		"@every 1d":                           `"1d" is not a duration; use hours, minutes and seconds such as 90s, 15m or 1h30m`,
		"@every 999ms":                        `"999ms" is too short an interval; the shortest is 1s`,
		"@every -1h":                          `"-1h" is too short an interval`,
		"@every 1.0005s":                      `"1.0005s" is too fine an interval; use whole milliseconds`,
		"@every 70273h":                       `"70273h" is too long an interval; the longest is 70272h, eight years`,
		"TZ=UTC 0 0 * * *":                    `"TZ=UTC" is not allowed here; set the time zone in its own field of the schedule`,
		"CRON_TZ=UTC 0 0 * * *":               `"CRON_TZ=UTC" is not allowed here; set the time zone in its own field of the schedule`,
		strings.Repeat("x", 100) + " * * * *": `minute (field 1 of 5): "` + strings.Repeat("x", 40) + `"… is not valid; use 0 to 59`,
		strings.Repeat("*", 1025):             `the expression has 1025 bytes; at most 1024 are allowed`,
	} {
		e, err := cron.Parse(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if e != (cron.Expr{}) {
			t.Errorf("%q is refused and yet read", text)
		}
	}
}

func TestErrorsKnowTheirColumn(t *testing.T) {
	for text, want := range map[string]cron.SyntaxError{
		" 0  1,24,x * * *":  {Field: "hour", Position: 2, Fields: 5, Part: "24", Column: 7},
		"0 0 0 * * mon,fra": {Field: "day of week", Position: 6, Fields: 6, Part: "fra", Column: 15},
		"@every  5x":        {Part: "5x", Column: 9},
		"@every 5ms":        {Part: "5ms", Column: 8},
	} {
		_, err := cron.Parse(text)
		var got *cron.SyntaxError
		if !errors.As(err, &got) {
			t.Errorf("%q: %v is not a SyntaxError", text, err)
			continue
		}
		want.Problem = got.Problem
		if *got != want {
			t.Errorf("%q: %+v, want %+v", text, *got, want)
		}
	}
}
