package console

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// failed is something that failed, to be grouped with others by its error.
type failed struct {
	Error string
	At    time.Time
	Name  string // of what has failed
	Href  string // leads to it; empty: to nothing
}

// errorGroup is failures whose errors are alike.
type errorGroup struct {
	Like   string // what their errors have in common
	Count  count
	Newest failed
}

// noError is what an empty error is like: an empty parameter would be none.
const noError = "(no error)"

const likeLength = 200 // letters of an error that are compared

// variable are the parts of errors that differ where the cause is the same, with what
// stands for them. Those before count first.
var variable = []struct {
	part  *regexp.Regexp
	stand string
}{
	{regexp.MustCompile(`"[^"]*"|'[^']*'|` + "`[^`]*`"), "“…”"},
	{regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^\s,;)]+`), "URL"},
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "#"},
	{regexp.MustCompile(`\[[0-9a-fA-F:.%]+\](:\d+)?|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "ADDRESS"},
	{regexp.MustCompile(`\b[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*:\d{2,5}\b`), "ADDRESS"},
	{regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]*\d[0-9a-fA-F]*[a-fA-F][0-9a-fA-F]*\d[0-9a-fA-F]*\b`), "#"},
	{regexp.MustCompile(`\d+([.,]\d+)*`), "#"},
	{regexp.MustCompile(`\s+`), " "},
}

// normaliseError is what an error has in common with others of the same cause: its first
// line, without numbers, ids, quoted texts and addresses.
func normaliseError(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if letters := []rune(line); len(letters) > 2*likeLength {
		line = string(letters[:2*likeLength])
	}
	for _, v := range variable {
		line = v.part.ReplaceAllString(line, v.stand)
	}
	if letters := []rune(line); len(letters) > likeLength {
		line = string(letters[:likeLength])
	}
	if line = strings.TrimSpace(line); line == "" {
		return noError
	}
	return line
}

// groupErrors groups failures whose errors are alike, the largest group first.
func groupErrors(all []failed) []errorGroup {
	var groups []errorGroup
	places := map[string]int{}
	for _, one := range all {
		like := normaliseError(one.Error)
		place, known := places[like]
		if !known {
			place = len(groups)
			places[like] = place
			groups = append(groups, errorGroup{Like: like, Newest: one})
		}
		group := &groups[place]
		group.Count.N++
		if one.At.After(group.Newest.At) {
			group.Newest = one
		}
	}
	slices.SortStableFunc(groups, func(a, b errorGroup) int {
		return cmp.Or(cmp.Compare(b.Count.N, a.Count.N), cmp.Compare(a.Like, b.Like))
	})
	return groups
}
