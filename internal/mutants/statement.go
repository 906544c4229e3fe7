package main

import (
	"regexp"
	"strings"
	"unicode"
)

// damage is one mutation of a statement.
type damage struct {
	kind string
	text string // original text
	is   string // the whole mutated statement
}

// damages returns the mutations of a statement.
func damages(statement string) []damage {
	var found []damage
	add := func(kind string, from, to int, instead string) {
		found = append(found, damage{kind: kind, text: flat(statement[from:to]), is: statement[:from] + instead + statement[to:]})
	}
	for _, way := range plainDamages {
		for _, at := range way.where.FindAllStringSubmatchIndex(statement, -1) {
			add(way.kind, at[0], at[1], string(way.where.ExpandString(nil, way.instead, statement, at)))
		}
	}
	for _, c := range conjuncts(statement) {
		text := statement[c.from:c.to]
		kind := "predicate"
		switch {
		case fenced.MatchString(text):
			kind = "fence"
		case leased.MatchString(text):
			kind = "lease"
		}
		add(kind, c.from, c.to, "("+text+" or true)") // all parameters are still used
		if turned, ok := turnTime(text); ok {
			add("time", c.from, c.to, turned)
		}
	}
	return found
}

// plainDamages lists mutations found by matching words.
var plainDamages = []struct {
	kind    string
	where   *regexp.Regexp
	instead string
}{
	{"lock", regexp.MustCompile(`\bfor (?:no key )?(?:update|share)(?: of \w+(?:, \w+)*)?(?: skip locked| nowait| \{\{wait\}\})?`), ``},
	{"lock", regexp.MustCompile(`\block in share mode(?: skip locked| nowait)?`), ``},
	{"wait", regexp.MustCompile(` (?:skip locked|nowait)\b`), ``},
	{"lock", regexp.MustCompile(`\bpg_advisory_xact_lock(?:_shared)?\(([^()]+)\)`), `($1 is null)`},
	{"lock", regexp.MustCompile(`\bpg_try_advisory_xact_lock\(([^(),]+), ([^(),]+)\)`), `($1 is null or $2 is not null)`},
	{"lock", regexp.MustCompile(`\bget_lock\(\?, \?\)`), `(1 + 0 * length(concat(?, ?)))`},
	{"conflict", regexp.MustCompile(`\binsert (?:or )?ignore\b`), `insert`},
	{"conflict", regexp.MustCompile(`\bon conflict(?: \([^()]*\))?(?: where [^$?]+?)? do nothing`), ``},
	{"conflict", regexp.MustCompile(`\bon conflict(?: \([^()]*\))? do update set [^$?]*?(\nreturning|\)|$)`), `on conflict do nothing $1`},
	{"conflict", regexp.MustCompile(`\bon duplicate key update [^?]*$`), `on duplicate key update id = id`},
	{"limit", regexp.MustCompile(`\border by ([^()]*?)\s+limit \?`), `order by $1, (? is null)`},
	{"limit", regexp.MustCompile(`\blimit (\$\d+(?:::\w+)?)`), `limit greatest(${1}, 1000000)`},
	{"limit", regexp.MustCompile(`\blimit (\d+|\{\{limit\}\})( |\)|\n|$)`), `limit 1000000$2`},
}

var (
	fenced  = regexp.MustCompile(`\bfence\b`)
	leased  = regexp.MustCompile(`\b(?:dead|lease_until|token|last_beat|beat_at|lived)\b`)
	timed   = regexp.MustCompile(`\b\w*(?:_at|_until|_before|_by|due|deadline|last_beat)\b|\{\{now\}\}`)
	ordered = regexp.MustCompile(`(^|[^<>=!])(<=|>=|<|>)([^<>=]|$)`)
	turns   = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}
)

// turnTime reverses the comparison of a predicate that compares times.
func turnTime(text string) (turned string, ok bool) {
	at := ordered.FindAllStringSubmatchIndex(text, -1)
	if !timed.MatchString(text) || len(at) != 1 {
		return "", false
	}
	return text[:at[0][4]] + turns[text[at[0][4]:at[0][5]]] + text[at[0][5]:], true
}

// span is a part of a statement.
type span struct{ from, to int }

// conjuncts finds the predicates of a statement that are joined by "and".
func conjuncts(statement string) []span {
	var found []span
	words := split(statement)
	for i, w := range words {
		if !opensPredicate(words, i) {
			continue
		}
		from, to := w.to, predicateEnd(words, i, len(statement))
		for from < to && unicode.IsSpace(rune(statement[from])) {
			from++
		}
		for to > from && unicode.IsSpace(rune(statement[to-1])) {
			to--
		}
		if from < to {
			found = append(found, span{from, to})
		}
	}
	return found
}

// opensPredicate reports whether a predicate follows a word. An "and" that belongs to
// "between", to a case or to an expression in brackets does not.
func opensPredicate(words []word, i int) bool {
	switch words[i].text {
	case "where", "on":
		return i+1 < len(words) && !followsOn[words[i+1].text]
	case "and":
		return inClause(words, i)
	}
	return false
}

// inClause reports whether an "and" joins predicates of a clause.
func inClause(words []word, and int) bool {
	met := 0 // further occurrences, one of them for each "between"
	for i := and - 1; i >= 0; i-- {
		switch w := words[i]; {
		case w.depth > words[and].depth || w.text == ")":
		case w.depth < words[and].depth || w.text == "(":
			return false
		case w.text == "where" || w.text == "on":
			return true
		case w.text == "and":
			met++
		case w.text == "between" && met > 0:
			met--
		case w.text == "between" || w.text == "when" || w.text == "or":
			return false
		case endsPredicate[w.text]:
			return false
		}
	}
	return false
}

// followsOn lists words that make an "on" something other than the condition of a join.
var followsOn = map[string]bool{"conflict": true, "duplicate": true}

// endsPredicate lists the words that end a clause of predicates.
var endsPredicate = map[string]bool{
	"and": true, "order": true, "group": true, "having": true, "limit": true, "for": true, "lock": true, "returning": true, "union": true,
	"join": true, "left": true, "cross": true, "straight_join": true, "where": true, "set": true, "select": true, "window": true,
	"on": true, "offset": true, ";": true,
}

// predicateEnd returns the end of the predicate that follows the word opener.
func predicateEnd(words []word, opener, end int) int {
	depth, between := words[opener].depth, false
	for _, w := range words[opener+1:] {
		switch {
		case w.depth < depth:
			return w.from
		case w.depth > depth || w.text == ")":
		case w.text == "between":
			between = true
		case w.text == "and" && between:
			between = false
		case endsPredicate[w.text]:
			return w.from
		}
	}
	return end
}

// word is a word or a bracket of a statement, with the number of open brackets around it.
// An opening bracket counts as inside of itself, a closing one does not.
type word struct {
	span
	text  string
	depth int
}

var words = regexp.MustCompile(`'(?:[^']|'')*'|\{\{\w+\}\}|\w+|[();]`)

func split(statement string) []word {
	var found []word
	depth := 0
	for _, at := range words.FindAllStringIndex(statement, -1) {
		text := statement[at[0]:at[1]]
		switch text {
		case "(":
			depth++
		case ")":
			depth--
		}
		found = append(found, word{span: span{at[0], at[1]}, text: text, depth: depth})
	}
	return found
}

// flat returns a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
