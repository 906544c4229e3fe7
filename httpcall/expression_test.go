package httpcall

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
)

// mostAllocated bounds what compiling an expression and applying it to any answer may
// allocate: some dozens of times what an answer has at most.
const mostAllocated = 16 << 20

// allocated is how many bytes a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// doubled is an expression that doubles a value again and again.
func doubled(first, next, last string) string {
	out := first
	for i := 1; i <= 10; i++ {
		out += fmt.Sprintf(next, i, i-1)
	}
	return out + fmt.Sprintf(last, 10)
}

// bombs are expressions that ask for much with few bytes, of which some cannot be
// stored and the others end early.
func bombs() map[string]string {
	nested := func(before, after string, times int) string {
		return strings.Repeat(before, times) + "body" + strings.Repeat(after, times)
	}
	return map[string]string{
		"texts that double":                      doubled(`let v0 = string(body);`, `let v%d = v%[2]d + v%[2]d;`, `len(v%d) > 0`),
		"lists that double":                      doubled(`let v0 = [body];`, `let v%d = [v%[2]d, v%[2]d];`, `string(v%d) == "x"`),
		"texts that are joined":                  `len(body` + strings.Repeat("+body", 140) + `) > 0`,
		"lists of all":                           `string([` + strings.Repeat("body,", 290) + `body]) == "x"`,
		"lists of lists that are compared":       `[` + strings.Repeat("body,", 140) + `1] == [` + strings.Repeat("body,", 140) + `2]`,
		"letters":                                strings.Repeat("lower(", 100) + "body" + strings.Repeat(")", 100) + ` == "x"`,
		"upper and lower":                        strings.Repeat(`len(upper(body)) > 0 && `, 60) + "true",
		"chained comparisons":                    nested("body < (", ") < body", 18),
		"chained comparisons of texts":           nested(`"a" < string(`, `) < "b"`, 16),
		"conditions that stand for themselves":   nested("(", " ?: body)", 18) + " == 1",
		"a pattern with many states":             `body matches "` + strings.Repeat(`(.{0,999})?`, 40) + `$"`,
		"a pattern with many states in a class":  `body matches "` + strings.Repeat(`\\pL{900}`, 40) + `$"`,
		"nested repetitions":                     `body matches "((a{0,30}){0,30}){0,30}$"`,
		"a pattern that is looked for often":     strings.Repeat(`body matches "(a|aa)*x$" || `, 60) + "false",
		"a pattern out of the answer":            `body matches body`,
		"a text that is looked for in itself":    strings.Repeat(`body contains body+"x" || `, 60) + "false",
		"letters that are looked for in letters": `trim(body, body) == "x"`,
		"powers":                                 `9 ** 9 ** 9 ** 9 > 1`,
		"ranges":                                 `len(1..100000000) > 1`,
		"parentheses":                            strings.Repeat("(", 990) + "true" + strings.Repeat(")", 990),
		"brackets":                               strings.Repeat("[", 990) + strings.Repeat("]", 990) + " == 1",
		"negations":                              strings.Repeat("!", 1990) + "true",
		"whole environment":                      `string($env) == "x"`,
	}
}

// largeAnswers are answers that are as large as they can be, in several shapes.
func largeAnswers() map[string]string {
	fill := func(text string) string { return strings.Repeat(text, maxAnswer/len(text)) }
	return map[string]string{
		"text": fill("a"), "letters": fill("é"), "a text of JSON": `"` + fill("a")[4:] + `"`,
		"a list": "[" + fill(`"",`)[6:] + `""]`, "objects": "[" + fill(`{"":0},`)[14:] + `{"":0}]`,
		"numbers": "[" + fill(`1e20,`)[10:] + `1]`, "a deep one": strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"braces": fill("("), "repetitions": fill("a{1000}"),
	}
}

func TestAnExpressionCostsLittleWhateverItSays(t *testing.T) {
	for what, text := range bombs() {
		for shape, body := range largeAnswers() {
			cost := allocated(func() {
				condition, err := newCondition(&Success{Expression: text})
				if err == nil {
					_ = condition.met(Reply{Status: 200, Header: http.Header{}, Body: []byte(body)})
				}
			})
			if cost > mostAllocated {
				t.Errorf("%s, of %s: %d bytes were allocated", what, shape, cost)
			}
		}
	}
}

func TestWhatGrowsIsRefused(t *testing.T) {
	for _, text := range []string{
		`let a = body; a == 1`, `body == 1; true`, `{"a": body}.a == 1`, `$env == nil`, `body matches "` + strings.Repeat("a{1000}", 3) + `"`,
		strings.Repeat("body < (", 18) + "body" + strings.Repeat(") < body", 18), `body.f()`, `len(body, 1) > 0`, `b"x" == body`,
	} {
		if _, err := newCondition(&Success{Expression: text}); err == nil {
			t.Errorf("%.60s was accepted", text)
		}
	}
}

// TestExpressionsMeanWhatTheLanguageSays compares what expressions are here with what
// the library makes of them.
func TestExpressionsMeanWhatTheLanguageSays(t *testing.T) {
	const body = `{"n":3,"half":0.5,"s":"Done","list":[1,"a",null,{"x":true}],"deep":{"a":{"b":[7]}},"no":false,"nil":null,"big":1e20}`
	for _, text := range []string{
		`status == 200`, `status >= 200.0 && status < 300`, `body.n + 1 == 4`, `1 + 2 == 3 && 7 / 2 == 3.5 && 7 % 2 == 1 && -7 % 3 == -1`, `2 ** 3 == 8`,
		`body.s == "Done"`, `lower(body.s) == "done"`, `upper(body.s) startsWith "DO"`, `body.s endsWith "ne"`, `body.s contains "on"`, `not (body.s contains "x")`,
		`body.s matches "^D.n"`, `body.s matches body.s`, `body.nil matches "x"`, `body.s not contains "q"`, `"a" in body.list`, `2 in body.list`, `nil in body.list`,
		`"x-left" in headers`, `headers["x-left"] == "3"`, `headers.none == ""`, `body.none == nil`, `body.none.x`, `body?.none?.x == nil`, `body.none?.x.y.z == nil`,
		`(body.none?.x ?? 5) == 5`, `(body.n ?? 5) == 3`, `body.list[0] == 1`, `body.list[-1].x`, `body.list[9]`, `body.list[0:2] == [1, "a"]`, `body.s[1:] == "one"`,
		`body.s[:-1] == "Don"`, `len(body.list) == 4`, `len(body.s) == 4`, `len("é") == 1`, `len(body) > 3`, `len(body.n)`, `len(headers) == 1`, `int("12") == 12`,
		`int(2.9) == 2`, `int("x") == 1`, `float("1.5") == 1.5`, `float(2) == 2`, `string(body.n) == "3"`, `string(body.half) == "0.5"`, `string(nil) == "<nil>"`,
		`string(body.list) == "[1 a <nil> map[x:true]]"`, `string(body.deep) == "map[a:map[b:[7]]]"`, `string(body.big) == "1e+20"`, `string(true) == "true"`,
		`type(body) == "map"`, `type(body.list) == "array"`, `type(body.n) == "float"`, `type(status) == "int"`, `type(nil) == "nil"`, `type(body.no) == "bool"`,
		`abs(-3) == 3`, `abs(body.half - 1) == 0.5`, `trim("  a ") == "a"`, `trim("xax", "x") == "a"`, `body.no ? false : true`, `body.no || body.n > 2`, `!body.no`,
		`body.n && true`, `body.s < "E"`, `body.s < 1`, `1 < body.n < 4`, `1 < body.n < 3`, `body.deep == {"a":1}["b"]`, `body.deep.a.b[0] in [7, 8]`, `body | len() > 2`,
		`status in [200, 201]`, `body.list == body.list`, `body.deep != body.list`, `body.n == "3"`, `"b" > "a"`, `-body.n == -3`, `+body.n == 3`, `-body.s`, `body["n"] == 3`,
		`if body.no { false } else { true }`, `body.no ?: true`, `status % 0 == 1`, `body.s + "!" == "Done!"`, `body.s + 1`, `lower(body.n)`, `body.list.x`, `headers == headers`,
		`[1, 2] == [1, 2.0]`, `body.nil contains "x"`, `body.n contains "x"`, `"n" in body`, `1 in body.n`, `"x" in body.nil`, `nil == nil`, `nil ?? true`, `10 - 2 - 3 == 5`,
	} {
		reply := Reply{Status: 200, Header: http.Header{"X-Left": {"3"}}, Body: []byte(body)}
		known := map[string]any{"status": 200, "headers": map[string]string{"x-left": "3"}, "body": nil}
		var decoded any
		if err := json.Unmarshal(reply.Body, &decoded); err != nil {
			t.Fatal(err)
		}
		known["body"] = decoded
		wanted, failure := expr.Eval(text, known)
		compiled, err := compileExpression(text)
		if err != nil {
			if failure == nil && !strings.Contains(text, "{\"") {
				t.Errorf("%s is refused: %v", text, err)
			}
			continue
		}
		got, err := compiled.holds(reply)
		if (err != nil) != (failure != nil) || err == nil && got != (wanted == true) {
			t.Errorf("%s is %v (%v), and %v (%v) in the language", text, got, err, wanted, failure)
		}
	}
}

// FuzzExpression looks for expressions that break the program or cost much.
func FuzzExpression(f *testing.F) {
	f.Add(`body.a[0] == 1 && headers["x"] matches "a+"`, `{"a":[1]}`)
	f.Add(`1..1000000 == 1..1000000`, `x`)
	f.Add(`let x = body; x?.y ?? status > 2 ? true : false`, `{}`)
	f.Add(`body?.a[1:-1] + string(body) not contains trim(body, "x") | lower()`, `{"a":"abc"}`)
	for _, text := range bombs() {
		f.Add(text, `["`+strings.Repeat("a", 1000)+`"]`)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		if len(body) > maxAnswer {
			return
		}
		cost := allocated(func() {
			condition, err := newCondition(&Success{Expression: text})
			if err == nil {
				_ = condition.met(Reply{Status: 200, Header: http.Header{"X": {"aa"}}, Body: []byte(body)})
			}
		})
		if cost > mostAllocated {
			t.Errorf("%d bytes were allocated", cost)
		}
	})
}

// What is called may be a tree whose parts are shared many times over: to refuse it
// costs no more than to read it.
func TestCallingWhatIsNoFunctionIsRefusedCheaply(t *testing.T) {
	for _, levels := range []int{1, 15, 25, 50} {
		text := "(" + strings.Repeat("1<(", levels) + "1<1<1" + strings.Repeat(")<1", levels) + ").x()"
		made := allocated(func() {
			if _, err := compileExpression(text); err == nil {
				t.Errorf("%d levels are not refused", levels)
			}
		})
		if made > mostAllocated {
			t.Fatalf("%d levels: %d bytes made %d MiB", levels, len(text), made>>20)
		}
	}
}
