package console

import (
	"regexp"
	"strings"
	"time"
)

// timingWords describes a timing in the viewer's language if there is a translation, and
// otherwise in English.
type timingWords struct {
	Text    string
	English bool // whether it is in English although the viewer's language is different
}

// TimingWords translates the API's description of a timing: either completely, or not at
// all.
func (v *visit) TimingWords(english string) timingWords {
	if v.Lang == languages[0] || english == "" {
		return timingWords{Text: english}
	}
	if text, known := v.timingPhrase(english); known {
		return timingWords{Text: text}
	}
	return timingWords{Text: english, English: true}
}

// timingRules lists the phrases of timings that have a translation, outer ones first.
var timingRules = []phrase{
	{regexp.MustCompile(`^(.+) \(([A-Za-z0-9_+/-]+)\)$`), "pt", "%s (%s)"},
	{regexp.MustCompile(`^(at .+) every day$`), "p", "%s every day"},
	{regexp.MustCompile(`^(.+) on ((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day.*)$`), "pl", "%s on %s"},
	{regexp.MustCompile(`^on (.+) of every month (at .+)$`), "lp", "on %s of every month %s"},
	{regexp.MustCompile(`^(every .+) from (\d\d:\d\d) to (\d\d:\d\d)$`), "ptt", "%s from %s to %s"},
	{regexp.MustCompile(`^every second$`), "", "every second"},
	{regexp.MustCompile(`^every minute$`), "", "every minute"},
	{regexp.MustCompile(`^every hour$`), "", "every hour"},
	{regexp.MustCompile(`^every (\d+) seconds$`), "t", "every %s seconds"},
	{regexp.MustCompile(`^every (\d+) minutes$`), "t", "every %s minutes"},
	{regexp.MustCompile(`^every (\d+) hours$`), "t", "every %s hours"},
	{regexp.MustCompile(`^every ([0-9.hmµns]+)$`), "d", "every %s"},
	{regexp.MustCompile(`^at minutes? (\d.*) of every hour$`), "l", "at minute %s of every hour"},
	{regexp.MustCompile(`^at (\d\d:\d\d.*)$`), "l", "at %s"},
	{regexp.MustCompile(`^([0-9.hmµns]+) after the end of each run$`), "d", "%s after the end of each run"},
	{regexp.MustCompile(`^once, at (.+)$`), "t", "once, at %s"},
}

func (v *visit) timingPhrase(english string) (text string, known bool) {
	return v.rephrase(timingRules, english, func(kind rune, part string) (text string, known bool) {
		switch kind {
		case 'p':
			return v.timingPhrase(part)
		case 'l':
			return v.timingList(part)
		case 'd':
			length, err := time.ParseDuration(part)
			return v.Dur(length), err == nil
		}
		return part, true
	})
}

var (
	listBreaks = regexp.MustCompile(`, | and `)
	timeOrDay  = regexp.MustCompile(`^\d+(:\d\d)*$`)
	dayOf      = regexp.MustCompile(`^the (\d+)(?:st|nd|rd|th)$`)
)

// timingList translates times of day, minutes, weekdays, or days of a month.
func (v *visit) timingList(english string) (text string, known bool) {
	var items []string
	for _, item := range listBreaks.Split(english, -1) {
		from, to, ranges := strings.Cut(item, " to ")
		if text, known = v.timingItem(from); !known {
			return "", false
		}
		if ranges {
			until, known := v.timingItem(to)
			if !known {
				return "", false
			}
			if timeOrDay.MatchString(from) {
				text = v.T("%s to %s", text, until)
			} else { // names need no space in Chinese
				text = v.T("%s through %s", text, until)
			}
		}
		items = append(items, text)
	}
	return strings.Join(items, v.T(", ")), true
}

func (v *visit) timingItem(english string) (text string, known bool) {
	if timeOrDay.MatchString(english) {
		return english, true
	}
	if day := dayOf.FindStringSubmatch(english); day != nil {
		return v.T("day %s", day[1]), true
	}
	if english == "the last day" {
		return v.T("the last day"), true
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if english == day.String() {
			return v.T(english), true
		}
	}
	return "", false
}

// Weekday translates a time with its weekday, as formatted by the API.
func (v *visit) Weekday(local string) string {
	day, rest, found := strings.Cut(local, " ")
	if !found || len(day) != len("Mon") {
		return local
	}
	return v.T(day) + " " + rest
}
