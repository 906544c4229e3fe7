package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// longestText is more than an expression with all values in each field needs.
const longestText = 1024

// shorthands contains the named expressions.
var shorthands = map[string]string{
	"@YEARLY":   "0 0 0 1 1 *",
	"@ANNUALLY": "0 0 0 1 1 *",
	"@MONTHLY":  "0 0 0 1 * *",
	"@WEEKLY":   "0 0 0 * * 0",
	"@DAILY":    "0 0 0 * * *",
	"@MIDNIGHT": "0 0 0 * * *",
	"@HOURLY":   "0 0 * * * *",
}

// Parse parses an expression. It returns a *SyntaxError if the expression is invalid.
func Parse(text string) (Expr, error) {
	if len(text) > longestText {
		return Expr{}, tooLong(text)
	}
	words := splitWords(text)
	if len(words) == 0 {
		return Expr{}, &SyntaxError{Column: 1, Problem: "the expression is empty; " + fieldsRemedy}
	}
	first := words[0]
	switch name := upper(first.text); {
	case name == "@EVERY":
		return parseEvery(words[1:])
	case name[0] == '@':
		long, known := shorthands[name]
		if !known || len(words) > 1 {
			return Expr{}, &SyntaxError{
				Part: strings.TrimSpace(text), Column: first.column,
				Problem: "is not a known macro; use @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every 90s",
			}
		}
		return Parse(long)
	case strings.HasPrefix(name, "TZ=") || strings.HasPrefix(name, "CRON_TZ="):
		return Expr{}, &SyntaxError{
			Part: first.text, Column: first.column,
			Problem: "is not allowed here; set the time zone in its own field of the schedule",
		}
	}
	return parseFields(words)
}

const fieldsRemedy = "give 5 fields (minute, hour, day of month, month, day of week) or 6 with seconds first"

func parseFields(words []word) (Expr, error) {
	specs := []*spec{&secondSpec, &minuteSpec, &hourSpec, &dateSpec, &monthSpec, &weekdaySpec}
	missing := len(specs) - len(words)
	if missing != 0 && missing != 1 {
		return Expr{}, &SyntaxError{Column: 1, Problem: fmt.Sprintf("the expression has %d fields; %s", len(words), fieldsRemedy)}
	}
	fields := make([]*field, len(specs))
	for i, word := range words {
		fields[i+missing] = &field{
			spec: specs[i+missing], text: upper(word.text), given: word.text,
			column: word.column, position: i + 1, of: len(words),
		}
	}

	e := Expr{seconds: 1}
	for i, into := range []*set{&e.seconds, &e.minutes, &e.hours, nil, &e.months} {
		if into == nil || fields[i] == nil {
			continue
		}
		values, _, err := fields[i].plain()
		if err != nil {
			return Expr{}, err
		}
		*into = values
	}
	if err := e.days.readDates(fields[3]); err != nil {
		return Expr{}, err
	}
	if err := e.days.readWeekdays(fields[5]); err != nil {
		return Expr{}, err
	}
	e.always = e.hours == span(0, 23) || strings.HasPrefix(fields[2].text, "*/") && len(fields[2].parts()) == 1
	if err := e.checkFires(fields[3], fields[5]); err != nil {
		return Expr{}, err
	}
	return e, nil
}

// checkFires rejects an expression that may not be due for more than eight years. The
// calendar repeats after 400 years.
func (e *Expr) checkFires(dates, weekdays *field) error {
	silent, longest, fires := 0, 0, false
	for year := 2000; year < 2400+horizonYears; year++ {
		if year == 2028 && longest == 0 {
			return nil // all types of years are covered
		}
		if e.firesIn(year) {
			silent, fires = 0, true
			continue
		}
		silent++
		longest = max(longest, silent)
	}
	f := dates
	if e.days.anyDate {
		f = weekdays
	}
	whole := part{f, f.text, f.column}
	switch {
	case !fires:
		return whole.refuse("never occurs in these months; use a day that exists in them")
	case longest >= horizonYears:
		return whole.refuse("may not occur for more than eight years in these months; use a day that occurs more often")
	default:
		return nil
	}
}

func (e *Expr) firesIn(year int) bool {
	for months := e.months; months != 0; months &= months - 1 {
		if e.days.of(monthOf(year, months.first())) != 0 {
			return true
		}
	}
	return false
}

func parseEvery(words []word) (Expr, error) {
	if len(words) != 1 {
		return Expr{}, &SyntaxError{Column: 1, Problem: "@every needs one duration after it, such as @every 90s"}
	}
	interval, err := time.ParseDuration(words[0].text)
	if err != nil {
		return Expr{}, &SyntaxError{
			Part: words[0].text, Column: words[0].column,
			Problem: "is not a duration; use hours, minutes and seconds such as 90s, 15m or 1h30m",
		}
	}
	e, err := Every(interval)
	var wrong *SyntaxError
	if errors.As(err, &wrong) {
		wrong.Part, wrong.Column = words[0].text, words[0].column
	}
	return e, err
}

// word is a sequence of characters between spaces.
type word struct {
	text   string
	column int // in the text, starting at 1
}

func splitWords(text string) []word {
	var words []word
	start := -1
	for i, c := range []byte(text + " ") {
		switch space := c == ' ' || (c >= '\t' && c <= '\r'); {
		case !space && start < 0:
			start = i
		case space && start >= 0:
			words = append(words, word{text[start:i], start + 1})
			start = -1
		}
	}
	return words
}

func tooLong(text string) error {
	return &SyntaxError{Column: 1, Problem: fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(text), longestText)}
}
