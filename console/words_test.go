package console

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// english matches translated strings: arguments of T and N, in templates and in Go, and
// titles of pages.
var english = []*regexp.Regexp{
	regexp.MustCompile(`\.T\(?\s*("(?:[^"\\]|\\.)*")`),
	regexp.MustCompile(`\.N[( ]\s*[^"\n]*?("(?:[^"\\]|\\.)*"),?\s+"`),
	regexp.MustCompile(`\.N[( ]\s*[^"\n]*?"(?:[^"\\]|\\.)*",?\s+("(?:[^"\\]|\\.)*")`),
}

// used returns every text that is translated, and where.
func used(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	templates, err := fs.Glob(os.DirFS("."), "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(templates, sources...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range english {
			for _, match := range pattern.FindAllStringSubmatch(string(raw), -1) {
				text, err := strconv.Unquote(match[1])
				if err != nil {
					t.Fatalf("%s: %s: %v", name, match[1], err)
				}
				texts[text] = name
			}
		}
	}
	for _, s := range screens {
		texts[s.Title] = "screens.go"
	}
	for _, a := range actions {
		texts[a.Title], texts[a.Button], texts[a.Check] = "actions.go", "actions.go", "actions.go"
	}
	for _, button := range jobButtons {
		texts[button.Label] = "jobact.go"
	}
	for _, button := range scheduleButtons {
		texts[button.Label] = "scheduleact.go"
	}
	for _, button := range batchButtons {
		texts[button.Label] = "batchbuttons.go"
	}
	for _, button := range sweepButtons {
		texts[button.Label] = "sweepact.go"
	}
	for _, group := range navigation {
		texts[group.Title] = "navigation.go"
		for _, line := range group.Entries {
			texts[line.Title] = "navigation.go"
		}
	}
	for _, unit := range []string{"ms", "s", "m", "h", "d"} {
		texts[unit] = "duration.go"
	}
	for _, p := range slices.Concat(timingRules, refusals) {
		texts[p.english] = "timing.go or refusal.go"
	}
	for state := range tones {
		texts[strings.ReplaceAll(state, "_", " ")] = "state.go"
	}
	for _, text := range chosenByPlans() {
		texts[text] = "schedule.go, calendars.go or load.go"
	}
	delete(texts, "")
	return texts
}

func TestEveryTextIsInEveryLanguage(t *testing.T) {
	for _, lang := range languages[1:] {
		words, err := readWords(lang)
		if err != nil {
			t.Fatal(err)
		}
		for text, where := range used(t) {
			if words[text] == "" {
				t.Errorf("%s: %s has no word for %q", where, lang, text)
			}
		}
	}
}

func TestTranslationsHaveThePlacesOfTheirTexts(t *testing.T) {
	places := regexp.MustCompile(`%(\[\d+\])?[a-z%]`)
	for _, lang := range languages[1:] {
		words, err := readWords(lang)
		if err != nil {
			t.Fatal(err)
		}
		for text, other := range words {
			if want, got := len(places.FindAllString(text, -1)), len(places.FindAllString(other, -1)); want != got {
				t.Errorf("%q has %d places, and %q in %s has %d", text, want, other, lang, got)
			}
		}
	}
}

func TestEachThingHasOneWordInChinese(t *testing.T) {
	words, err := readWords("zh")
	if err != nil {
		t.Fatal(err)
	}
	others := regexp.MustCompile(`种类|租客|(?:^|[^无])限制`) // 类型 is a kind, 租户 a tenant, 限额 a limit
	for english, chinese := range words {
		if other := others.FindString(chinese); other != "" {
			t.Errorf("%q has %q in %q", english, other, chinese)
		}
	}
}

func TestNoTranslationIsLeftOver(t *testing.T) {
	sources := everything(t)
	for _, lang := range languages[1:] {
		words, err := readWords(lang)
		if err != nil {
			t.Fatal(err)
		}
		for text := range words {
			name := strconv.Quote(strings.ReplaceAll(text, " ", "_"))
			if !strings.Contains(sources, strconv.Quote(text)) && !strings.Contains(sources, name) && !answered[text] {
				t.Errorf("%s: no page says %q", lang, text)
			}
		}
	}
}

// answered are words that only the API and the calendar say.
var answered = func() map[string]bool {
	words := map[string]bool{}
	for _, reason := range []string{"error", "fatal", "panic", "timeout", "deadline", "crash", "poison", "replaced", "lease lost"} {
		words[reason] = true // why an attempt ended
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		words[day.String()], words[day.String()[:3]], words["every "+day.String()] = true, true, true
	}
	for month := time.January; month <= time.December; month++ {
		words[month.String()] = true
	}
	return words
}()

// everything returns all sources of pages.
func everything(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range []string{"templates/*.html", "*.go"} {
		names, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "_test.go") {
				b.Write(raw)
			}
		}
	}
	return b.String()
}
