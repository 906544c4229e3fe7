package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// schema is what of a JSON schema the generator of requests needs.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a text or a list of them; nil: any
	Format     string             `json:"format"`
	Enum       []string           `json:"enum"`
	Examples   []any              `json:"examples"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional any                `json:"additionalProperties"`
	About      string             `json:"description"`
}

// generator draws values that fit a schema, and now and then some that do not.
type generator struct {
	*rand.Rand
	schemas map[string]*schema
	names   []string // of things that exist
	spoil   int      // one of so many values does not fit; 0: all fit
	leave   []string // fields of the body that mostly stay out of it, because the path has them
}

// nasty are values that no schema asks for, as JSON.
var nasty = []string{
	`null`, `true`, `-1`, `0`, `1e400`, `-1e-400`, `9223372036854775808`, `18446744073709551616`, `1.5`, `""`, `" "`, `"\u0000"`, `"a\u0000b"`,
	`"\ud83d\ude00"`, `"\uffff"`, `"../../etc/passwd"`, `"'; drop table job; --"`, `"{{run_id}}"`, `"${env:HOME}"`, `"%00"`, `"%s%n"`, `[]`, `{}`, `[[[[[[]]]]]]`,
	`{"a":{"a":{"a":{"a":{}}}}}`, `"NaN"`, `"Infinity"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.999999Z"`, `"10000-01-01T00:00:00Z"`, `"-1s"`, `"2562047h47m16s"`, `"1ns"`,
	"\"\xff\"", `"` + strings.Repeat("x", 300) + `"`, `"` + strings.Repeat("é", 70_000) + `"`, strings.Repeat("[", 100) + strings.Repeat("]", 100), `{"\u0000":1}`,
}

// kindOf returns the type of a schema, or a random one if it permits several.
func (g *generator) kindOf(s *schema) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		return t[g.IntN(len(t))].(string)
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}

// value draws a value as JSON.
func (g *generator) value(name string, s *schema, depth int) string {
	if s == nil {
		s = &schema{}
	}
	if s.Ref != "" {
		s = g.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if g.spoil > 0 && g.IntN(g.spoil) == 0 {
		return nasty[g.IntN(len(nasty))]
	}
	switch g.kindOf(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		items := make([]string, g.IntN(4))
		for i := range items {
			items[i] = g.value(name, s.Items, depth+1)
		}
		return "[" + strings.Join(items, ",") + "]"
	case "integer":
		return g.number()
	case "number":
		return []string{"0", "1", "0.5", "1e9", "-1", "1e308", "3"}[g.IntN(7)]
	case "boolean":
		return []string{"true", "false"}[g.IntN(2)]
	case "string":
		return g.text(name, s)
	}
	return []string{`{}`, `{"url":"http://192.0.2.1/"}`, `[1,2]`, `"x"`, `7`, `null`}[g.IntN(6)]
}

func (g *generator) number() string {
	if g.IntN(8) == 0 {
		return []string{"-1", "2147483647", "2147483648", "9223372036854775807", "-9223372036854775808"}[g.IntN(5)]
	}
	return fmt.Sprint(g.IntN(10))
}

func (g *generator) object(s *schema, depth int) string {
	var members []string
	for _, name := range sortedKeys(s.Properties) {
		left := slices.Contains(g.leave, name) && depth == 0 || strings.HasPrefix(s.Properties[name].About, "Set by the server")
		if depth > 6 || left && g.IntN(50) > 0 || !slices.Contains(s.Required, name) && g.IntN(3) > 0 {
			continue
		}
		members = append(members, fmt.Sprintf("%q:%s", name, g.value(name, s.Properties[name], depth+1)))
	}
	if s.Properties == nil && s.Additional != nil {
		members = append(members, `"a":"b"`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// text draws a text that a field of the name may well have.
func (g *generator) text(name string, s *schema) string {
	switch {
	case len(s.Enum) > 0:
		return quoted(s.Enum[g.IntN(len(s.Enum))])
	case s.Format == "date-time":
		return quoted([]string{"2020-01-01T00:00:00Z", "2030-06-01T12:00:00.123456+02:00", "1970-01-01T00:00:00Z", "2300-01-01T00:00:00Z", "2026-03-29T02:30:00+01:00"}[g.IntN(5)])
	case s.Format == "int64":
		return quoted(g.number())
	case len(s.Examples) > 0: // a duration
		return quoted([]string{"20s", "1ms", "0s", "1h30m", "-5s", "100000h", "1us"}[g.IntN(7)])
	}
	for part, values := range likely {
		if strings.Contains(name, part) {
			return quoted(values[g.IntN(len(values))])
		}
	}
	return quoted(append(g.names, "x", "")[g.IntN(len(g.names)+2)])
}

// likely contains probable values of fields, by a part of their name.
var likely = map[string][]string{
	"cron":       {"* * * * *", "0 0 29 2 *", "@daily", "@every 1s", "*/7 * * * * *", "0 0 0 31 2 ?", "0 0 L * *", "99 * * * *"},
	"zone":       {"UTC", "Europe/Paris", "Asia/Kolkata", "Mars/Olympus", "Local", ""},
	"url":        {"http://192.0.2.1/", "https://example.org/{{run_id}}", "ftp://x", "http://[::1", "//"},
	"kind":       {"noop", "http", "external", "count", "nobody.knows"},
	"role":       {"viewer", "admin", "root"},
	"page_token": {"", "AAAAAAAAAAE", "x", "!!!!", strings.Repeat("A", 5000)},
	"ref":        {"1", "2", "acme", "warm"},
	"calendar":   {"holidays", "none"},
	"scope":      {"global", "kind:noop", "tenant:acme", "queue:", "x:y"},
	"dates":      {"12-25", "2026-12-25", "02-30"},
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text always has JSON
	}
	return string(raw)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
