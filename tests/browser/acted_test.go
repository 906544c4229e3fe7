package browser

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// languages lists the languages of the console. Every user action is tested in each of
// them.
var languages = []string{"en", "zh"}

// walks lists functions that fill in forms. Together they perform every user action of the
// console.
var walks = []struct {
	name string
	walk func(t *testing.T, lang string)
}{
	{"a job", actOnAJob},
	{"a list of jobs", actOnAList},
	{"capacity", actOnCapacity},
	{"a kind", pauseAKind},
	{"a node", drainANode},
	{"batches and sweeps", actOnBatchesAndSweeps},
	{"the gate of a sweep", openAGate},
	{"a schedule", actOnASchedule},
	{"the request of a schedule", testARequest},
	{"the form of a schedule", editASchedule},
	{"the form of a calendar", editACalendar},
}

// TestEveryActionIsDoneInEveryLanguage fails if no walk performs some action of the console
// in one of the languages. It does not check this if -run or -skip excludes a walk.
func TestEveryActionIsDoneInEveryLanguage(t *testing.T) {
	tier.Long(t, "fills in every form in every language")
	t.Parallel()
	needBrowser(t)
	var begun atomic.Int32
	t.Cleanup(func() { // after all walks
		if !t.Failed() && int(begun.Load()) == len(walks)*len(languages) {
			checkActions(t)
		}
	})
	for _, w := range walks {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, lang := range languages {
				t.Run(lang, func(t *testing.T) {
					t.Parallel()
					begun.Add(1)
					w.walk(t, lang)
				})
			}
		})
	}
}

// checkActions fails the test unless walks have performed all actions.
func checkActions(t *testing.T) {
	t.Helper()
	all, err := actions()
	if err != nil {
		t.Fatalf("the actions of the console are not known: %v", err)
	}
	if missing, err := done.missing(all); err != nil || len(missing) > 0 {
		t.Errorf("no walk does %q, %v", missing, err)
	}
}

// form is the target of a form and the language of its page.
type form struct{ path, lang string }

// deeds records the actions that walks have performed, each with its result verified.
type deeds struct {
	mu  sync.Mutex
	all map[form]bool
}

// done contains the actions of all walks.
var done = deeds{all: map[form]bool{}}

func (d *deeds) add(f form) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[f] = true
}

// missing returns the actions that no walk has performed, with the language.
func (d *deeds) missing(actions []string) (missing []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	paths := http.NewServeMux()
	for _, action := range actions {
		paths.Handle(action, http.NotFoundHandler())
	}
	seen := map[form]bool{}
	for f := range d.all {
		to, err := url.Parse(f.path)
		if err != nil {
			return nil, err
		}
		_, action := paths.Handler(&http.Request{Method: http.MethodPost, URL: to})
		seen[form{action, f.lang}] = true
	}
	for _, action := range actions {
		for _, lang := range languages {
			if !seen[form{action, lang}] {
				missing = append(missing, fmt.Sprintf("%s in %s", action, lang))
			}
		}
	}
	return missing, nil
}

// actions returns the paths of all actions of the console. The console does not export
// them, so actions parses its source: an action is a literal with a path and a function.
func actions() (paths []string, err error) {
	files, err := filepath.Glob("../../console/*.go")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for node := range ast.Preorder(parsed) {
			if literal, is := node.(*ast.CompositeLit); is {
				if path := actionPath(literal); path != "" {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths, nil
}

// actionPath returns the path of an action, or "" if the literal is not an action.
func actionPath(literal *ast.CompositeLit) (path string) {
	acts := false
	for _, element := range literal.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			return ""
		}
		switch key, _ := pair.Key.(*ast.Ident); {
		case key == nil:
			return ""
		case key.Name == "do":
			acts = true
		case key.Name == "path":
			if text, is := pair.Value.(*ast.BasicLit); is {
				path, _ = strconv.Unquote(text.Value) // a parsed string can be unquoted
			}
		}
	}
	if !acts {
		return ""
	}
	return path
}

// sending returns the open form before it is sent.
func (t *tab) sending() form {
	t.Helper()
	found := value[[]string](t, `[new URL(document.querySelector("form.act").action).pathname, document.documentElement.lang.slice(0, 2)]`)
	return form{strings.TrimPrefix(found[0], prefixOf(t)), found[1]}
}

func TestAnActionThatNoWalkDoesIsMissed(t *testing.T) {
	all, err := actions()
	if err != nil || len(all) < 50 {
		t.Fatalf("the actions are %q, %v", all, err)
	}
	some := deeds{all: map[form]bool{{"/jobs/17/cancel", "en"}: true, {"/jobs/18/cancel", "zh"}: true, {"/jobs/17/move", "en"}: true}}
	missing, err := some.missing(all)
	if err != nil || len(missing) != 2*len(all)-3 || slices.Contains(missing, "/jobs/{id}/cancel in zh") || !slices.Contains(missing, "/jobs/{id}/move in zh") {
		t.Errorf("missing are %q, %v", missing, err)
	}
}
