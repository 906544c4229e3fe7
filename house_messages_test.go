package fairlead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTroubleshootingQuotesMessagesOfTheProgram looks up every message that is a heading
// of docs/troubleshooting.md. A … stands for what differs: what is around it must be in
// one text of the program, in this order.
func TestTroubleshootingQuotesMessagesOfTheProgram(t *testing.T) {
	var texts []string
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") && !generated(file) {
			texts = append(texts, textsOf(t, file)...)
		}
	}
	verb := regexp.MustCompile(`%[+#]?[a-zA-Z]`)
	for i, text := range texts {
		texts[i] = verb.ReplaceAllString(text, "…")
	}
	all := strings.Join(texts, "\x00")
	quoted := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(read(t, "docs/troubleshooting.md"), -1)
	for _, match := range quoted {
		parts := strings.Split(match[1], "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		if !regexp.MustCompile(strings.Join(parts, `[^\x00]*`)).MatchString(all) {
			t.Errorf("docs/troubleshooting.md quotes %q, which no text of the program has", match[1])
		}
	}
	if len(quoted) < 40 {
		t.Errorf("only %d messages were found", len(quoted))
	}
}

// textsOf are the strings of a file. Those that are added to each other are one, with a …
// for what is no string.
func textsOf(t *testing.T, file string) (texts []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		expr, ok := node.(ast.Expr)
		if !ok {
			return true
		}
		switch e := expr.(type) {
		case *ast.BasicLit:
			if e.Kind == token.STRING {
				texts = append(texts, added(e))
			}
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				texts = append(texts, added(e))
			}
		}
		return true
	})
	return texts
}

func added(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return added(e.X) + added(e.Y)
		}
	}
	return "…"
}
