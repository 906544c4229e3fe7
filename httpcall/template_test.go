package httpcall

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// filled are values that try to be more than values.
func filled(vars map[string]any) *values {
	job := &fairlead.Job{ID: 12, Tenant: "a/b?c&d=e", Key: "k\"\r\nX-Evil: 1", Status: fairlead.Status{Attempt: 3, Fence: 77}}
	return valuesOf(job, Origin{Schedule: "nightly"}, "https://f/cb", "tok", vars, func(name string) (string, error) { return "secret of " + name, nil })
}

func TestValuesAreWrittenForWhereTheyStand(t *testing.T) {
	vars := map[string]any{
		"name": `Ada "the" <first>`, "n": json.Number("1.50"), "list": []any{json.Number("1"), "two"}, "nothing": nil,
		"again": "{{run_id}} ${env:A}", "deep": map[string]any{"x": true},
	}
	for _, c := range []struct {
		name, text string
		dialect    dialect
		want       string
	}{
		{"path", "/t/{{tenant}}/r", &urlDialect{}, "/t/a%2Fb%3Fc&d=e/r"},
		{"query", "/t?x={{tenant}}&y={{ attempt }}", &urlDialect{}, "/t?x=a%2Fb%3Fc%26d%3De&y=3"},
		{"secret in the query", "/t?x=${env:A}", &urlDialect{}, "/t?x=secret+of+env%3AA"},
		{"header", "run {{run_id}} of {{schedule}}", headerDialect{}, "run 12 of nightly"},
		{"in a string", `{"a":"<{{args.name}}>"}`, &jsonDialect{}, `{"a":"<Ada \"the\" <first>>"}`},
		{"as a value", `{"a":{{args.name}},"n":{{args.n}},"i":{{attempt}},"l":{{args.list}},"z":{{args.nothing}}}`, &jsonDialect{}, `{"a":"Ada \"the\" <first>","n":1.50,"i":3,"l":[1,"two"],"z":null}`},
		{"a list in a string", `["{{args.list}}","{{args.list.1}}","{{args.deep.x}}"]`, &jsonDialect{}, `["[1,\"two\"]","two","true"]`},
		{"after an escaped quote", `{"a":"\"{{args.name}}"}`, &jsonDialect{}, `{"a":"\"Ada \"the\" <first>"}`},
		{"line breaks in JSON", `{"k":"{{key}}"}`, &jsonDialect{}, `{"k":"k\"\r\nX-Evil: 1"}`},
		{"form", "a={{args.name}}", formDialect{}, "a=Ada+%22the%22+%3Cfirst%3E"},
		{"text", "a={{args.name}} {{args.nothing}}.", textDialect{}, `a=Ada "the" <first> .`},
		{"once only", "{{args.again}}", textDialect{}, "{{run_id}} ${env:A}"},
		{"braces", "{{braces}}x}}", textDialect{}, "{{x}}"},
		{"what is no reference", "${x:-1} ${ENV:A} $", textDialect{}, "${x:-1} ${ENV:A} $"},
		{"callback", "{{callback_url}} {{callback_token}} {{fence}}", textDialect{}, "https://f/cb tok 77"},
	} {
		parsed, err := parseTemplate(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := parsed.render(c.dialect, filled(vars), 1000)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}

func TestTemplatesThatCannotBeFilledInAreRefused(t *testing.T) {
	for _, c := range []struct {
		text    string
		dialect dialect
		want    string
	}{
		{"{{nope}}", textDialect{}, "unknown placeholder {{nope}}"},
		{"{{}}", textDialect{}, "unknown placeholder"},
		{"{{args}}", textDialect{}, "unknown placeholder"},
		{"{{args.a b}}", textDialect{}, "unknown placeholder"},
		{"{{run_id", textDialect{}, "without }}"},
		{"{{args.missing}}", textDialect{}, "vars has no missing"},
		{"{{args.list.9}}", textDialect{}, "vars has no list.9"},
		{"{{key}}", headerDialect{}, "line break"},
		{`"\{{run_id}}"`, &jsonDialect{}, "backslash"},
		{strings.Repeat("{{args.long}}", 50), textDialect{}, "longer than 1000 bytes"},
	} {
		vars := map[string]any{"list": []any{"one"}, "long": strings.Repeat("x", 100)}
		parsed, err := parseTemplate(c.text)
		if err == nil {
			_, err = parsed.render(c.dialect, filled(vars), 1000)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestTargetsStayWhereTheyAre(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "absolute http",
		"/relative":                          "absolute http",
		"ftp://x/":                           "absolute http",
		"http://":                            "absolute http",
		"http:///x":                          "absolute http",
		"http://:80/x":                       "absolute http",
		"http://a b/x":                       "absolute http",
		"http://{{tenant}}/x":                "a placeholder or a reference in its host; only the path",
		"http://x.{{tenant}}:80?x":           "a placeholder or a reference in its host; only the path",
		"http://${env:A}/x":                  "a placeholder or a reference in its host; only the path",
		"http://user:${env:A}@x/":            "a placeholder or a reference in its host; only the path",
		"{{tenant}}://x/":                    "absolute http",
		"http://x/y#{{tenant}}":              "never sent",
		"http://x/${env:A}":                  "in its path",
		"http://x/{{callback_token}}?x":      "in its path",
		"http://x/a/{{args.up}}/b":           "which changes the path",
		"http://x/a/.{{args.dot}}":           "which changes the path",
		"http://x/{{args.up}}?y={{args.up}}": "which changes the path",
	} {
		parsed, err := parseTarget(text)
		if err == nil {
			_, err = parsed.render(filled(map[string]any{"up": "..", "dot": "."}))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	good, err := parseTarget("HTTP://Example.org?to={{tenant}}")
	if err != nil {
		t.Fatal(err)
	}
	if u, err := good.render(filled(nil)); err != nil || address(u) != "example.org:80" || u.Query().Get("to") != "a/b?c&d=e" {
		t.Errorf("got %v, %v", u, err)
	}
}

func TestASlashThatIsFilledInStaysEscapedBesideOddCharacters(t *testing.T) {
	parsed, err := parseTarget("http://x/a ö/{{tenant}}/%41")
	if err != nil {
		t.Fatal(err)
	}
	if u, err := parsed.render(filled(nil)); err != nil || u.EscapedPath() != "/a%20%C3%B6/a%2Fb%3Fc&d=e/%41" {
		t.Errorf("got %v, %v", u, err)
	}
}

// FuzzTemplate fills any value into any text: what stands around a value must
// stay as it would be with a harmless one.
func FuzzTemplate(f *testing.F) {
	f.Add("/a/{{args.v}}/b?c={{args.v}}&d=1", "../?x&y=z#")
	f.Add(`{"a":"{{args.v}}","b":{{args.v}}}`, `","evil":"`)
	f.Add(`{"a\"{{args.v}}":"\\{{args.v}}"}`, `\`)
	f.Add(" ö{{args.v}}", "/")
	f.Add("Bearer {{args.v}}", "x\r\nEvil: 1")
	f.Add("{{braces}}${env:A}${file:/x}{{args.v}", "\x00\xff\u2028")
	f.Fuzz(func(t *testing.T, text, value string) {
		parsed, err := parseTemplate(text)
		if err != nil {
			return
		}
		with := func(d dialect, value string) (string, bool) {
			vals := filled(map[string]any{"v": value})
			vals.job.Key, vals.job.Tenant = value, value
			out, err := parsed.render(d, vals, 1<<20)
			return out, err == nil
		}
		if out, ok := with(headerDialect{}, value); ok && fitsHeader(text) && !fitsHeader(out) {
			t.Errorf("a header got %q", out)
		}
		if harmless, ok := with(&jsonDialect{}, "x"); ok && json.Valid([]byte(harmless)) {
			if out, ok := with(&jsonDialect{}, value); !ok || !json.Valid([]byte(out)) || skeleton(t, out) != skeleton(t, harmless) {
				t.Errorf("%s became %s", harmless, out)
			}
		}
		checkURL(t, text, value)
	})
}

// skeleton is JSON without what is in its strings, and without the order of
// fields, which depends on their names.
func skeleton(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var out strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			return out.String()
		}
		switch token := token.(type) {
		case json.Delim:
			out.WriteString(token.String())
		case string:
			out.WriteString("s")
		default:
			out.WriteString("v")
		}
	}
}

// checkURL fills a value into the path and query of a URL.
func checkURL(t *testing.T, text, value string) {
	t.Helper()
	fill := func(value string) *url.URL {
		parsed, err := parseTarget("https://example.org:8443/" + text)
		if err != nil {
			return nil
		}
		vals := filled(map[string]any{"v": value})
		vals.job.Key, vals.job.Tenant = value, value
		u, err := parsed.render(vals)
		if err != nil {
			return nil
		}
		return u
	}
	harmless, out := fill("x"), fill(value)
	if harmless == nil || out == nil {
		return
	}
	if out.Host != "example.org:8443" || out.Scheme != "https" || out.Fragment != "" || out.User != nil {
		t.Errorf("%q leads to %s", text, out)
	}
	if strings.Count(out.EscapedPath(), "/") != strings.Count(harmless.EscapedPath(), "/") {
		t.Errorf("the path %s became %s", harmless.EscapedPath(), out.EscapedPath())
	}
	for _, mark := range []string{"&", "=", "?", "#"} {
		if strings.Count(out.RawQuery, mark) != strings.Count(harmless.RawQuery, mark) {
			t.Errorf("the query %s became %s", harmless.RawQuery, out.RawQuery)
		}
	}
}
