package mask_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/mask"
)

// hostile contains values whose characters are written differently elsewhere.
var hostile = []string{
	`canary"quoted"`, "canary\nof lines\r\nand\ttabs", `canary\back\\slashes`, "canary of spaces + signs", "canary/of?query=x&y=<z>", "canary-münchen-😀-\u2028",
	`canary%41+b%zz"`, `{"canary":"of \"JSON\""}`, "canary'&amp;'", "https://ada:canary pass@example.org/canary/path?token=canary-token#canary-part",
}

// encoders write a value as callers, targets and errors do.
var encoders = map[string]func(string) string{
	"plain": func(value string) string { return value },
	"JSON": func(value string) string {
		raw, _ := json.Marshal(value)
		return string(raw)
	},
	"ASCII JSON": func(value string) string {
		var out strings.Builder
		for _, unit := range []rune(value) {
			if unit > 0xffff {
				unit -= 0x10000
				fmt.Fprintf(&out, `\u%04x\u%04X`, 0xd800+unit>>10, 0xdc00+unit&0x3ff)
				continue
			}
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
		return out.String()
	},
	"slashes": func(value string) string {
		raw, _ := json.Marshal(value)
		return strings.ReplaceAll(string(raw), "/", `\/`)
	},
	"quoted":         func(value string) string { return fmt.Sprintf("%q", value) },
	"quoted ASCII":   func(value string) string { return fmt.Sprintf("%+q", value) },
	"query":          url.QueryEscape,
	"path":           url.PathEscape,
	"HTML":           html.EscapeString,
	"base64":         func(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) },
	"base64 for URL": func(value string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + value)) },
	"basic":          func(value string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + value)) },
	"lower hex": func(value string) string {
		var out strings.Builder
		for i := range len(value) {
			fmt.Fprintf(&out, "%%%02x", value[i])
		}
		return out.String()
	},
}

// shows reports whether a text shows a value to a reader who decodes it.
func shows(text string) bool {
	for range 5 {
		if strings.Contains(text, "canary") {
			return true
		}
		for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`" \`, r) }) {
			raw, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(field, "="))
			if strings.Contains(string(raw), "canary") {
				return true
			}
		}
		if read, err := url.QueryUnescape(text); err == nil {
			text = read
		}
		text = html.UnescapeString(text)
		var read string
		if json.Unmarshal([]byte(text), &read) == nil || json.Unmarshal([]byte(`"`+text+`"`), &read) == nil {
			text = read
		}
	}
	return false
}

func TestAValueIsMaskedHoweverItIsWritten(t *testing.T) {
	for _, value := range hostile {
		args, _ := json.Marshal(map[string]string{"secret": value})
		secrets := mask.Secrets([]string{"args.secret"}, mask.Job{Args: args})
		for inner, encode := range encoders {
			for outer, around := range encoders {
				if strings.HasPrefix(outer, "b") && inner != "plain" {
					continue // within base64 values are found as they are
				}
				text := around(`{"ids":[1],"data":` + encode(value) + `,"after":"x"}`)
				got := secrets.Text(text)
				if shows(got) {
					t.Errorf("%q, %s in %s, is shown: %s", value, inner, outer, got)
				}
				if !strings.Contains(got, "ids") && strings.Contains(text, "ids") {
					t.Errorf("%q, %s in %s, takes what stands around it: %s", value, inner, outer, got)
				}
			}
		}
	}
}

func TestAValueIsMaskedWhereverATextIsCut(t *testing.T) {
	for _, value := range append(hostile, strings.Repeat("canary-"+strings.Repeat("long", 30), 3)) {
		secrets := mask.Of(value)
		for name, encode := range encoders {
			if strings.HasPrefix(name, "b") {
				continue // parts of base64 are not decoded by readers
			}
			written := encode(value)
			for end := range len(written) {
				for what, got := range map[string]string{
					"cut":    secrets.Cut("#-# " + written[:end]),
					"marked": strings.TrimSuffix(secrets.Text("#-# "+written[:end]+" …"), " …"),
					"long":   secrets.Text(strings.Repeat("#", 8<<10-end) + written[:end])[8<<10-end-4:],
				} {
					before := "#-# "
					if what == "long" {
						before = "####"
					}
					rest, ok := strings.CutPrefix(got, before)
					if !ok || strings.Contains(strings.ReplaceAll(rest, "***", ""), "c") {
						t.Fatalf("%s as %s, %s after %d bytes, is shown as %q", value, name, what, end, got)
					}
				}
			}
		}
	}
}

func TestWhatIsNotConfidentialIsLeftWhereAValueIsMasked(t *testing.T) {
	secrets := mask.Secrets([]string{"args.url", "args.pin", "args.code"}, mask.Job{Args: json.RawMessage(`{"url":"https://api.example.org/","pin":7,"code":"ab"}`)})
	for _, text := range []string{"https", "a tab & 7 of 100% +1", `C:\new\table`, "http://other.example.com/", "ab", "%", `\u`, "&#", "…"} {
		if got := secrets.Text(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

func TestNamesOfMembersAreMasked(t *testing.T) {
	got := mask.Show([]string{"args.secret"}, mask.Job{Args: json.RawMessage(`{"secret":"4111222"}`), Output: json.RawMessage(`{"4111222":{"ok":true},"n":1}`)})
	if want := `{"***":{"ok":true},"n":1}`; string(got.Output) != want {
		t.Errorf("got %s, want %s", got.Output, want)
	}
}

func TestANumberIsMaskedHoweverItIsWritten(t *testing.T) {
	secrets := mask.Secrets([]string{"args.n"}, mask.Job{Args: json.RawMessage(`{"n":41112220000}`)})
	for _, text := range []string{"41112220000", "4.111222e+10", "4.111222E10"} {
		if got := secrets.Text("it is " + text); got != "it is ***" {
			t.Errorf("got %s", got)
		}
	}
}

// The time of a search is limited, whatever values and texts callers have chosen.
func TestHostileRepetitionsAreSearchedInTime(t *testing.T) {
	args, _ := json.Marshal(map[string]any{"secret": []string{strings.Repeat("a", 40<<10) + "b", strings.Repeat("a", 999), strings.Repeat(`\`, 9999), strings.Repeat("%25", 9999)}})
	secrets := mask.Secrets([]string{"args.secret"}, mask.Job{Args: args})
	for _, text := range []string{strings.Repeat("a", 40<<10), strings.Repeat(`\`, 40<<10), strings.Repeat("%25", 10<<10)} {
		if got := secrets.Text(text); len(got) > 100 {
			t.Errorf("%d bytes are left of %d", len(got), len(text))
		}
	}
}

func BenchmarkText(b *testing.B) {
	args := json.RawMessage(`{"card":"4111-1111-1111-1111","token":"Bearer abcdefghijklmnop"}`)
	for name, text := range map[string]string{
		"plain":   strings.Repeat("nothing to see here, ", 3000),
		"escaped": strings.Repeat(`{\"nothing\":\"to see\"},`, 2600),
	} {
		b.Run(name, func(b *testing.B) {
			secrets := mask.Secrets([]string{"args"}, mask.Job{Args: args})
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				secrets.Text(text)
			}
		})
	}
	b.Run("a job", func(b *testing.B) {
		job := mask.Job{Args: args, Output: json.RawMessage(`{"status":200,"body":"` + strings.Repeat("nothing to see ", 60) + `"}`), Error: "card 4111-1111-1111-1111 is refused"}
		b.ReportAllocs()
		for b.Loop() {
			mask.Show([]string{"args.card", "args.token"}, job)
		}
	})
}
