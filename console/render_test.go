package console

import (
	"bytes"
	"html/template"
	"strings"
	"testing"
)

// Large escapes what a template would: in an element and in a quoted attribute.
func TestLargeValuesAreEscapedAsOthers(t *testing.T) {
	const hostile = "</textarea>\"'><script>alert(`1`)</script>&amp;\x00 é"
	value := strings.Repeat("x", 4<<10-3) + hostile + strings.Repeat("é", 4<<10)
	set := template.Must(template.New("large").Parse(`<textarea>{{.Large .Data}}</textarea><input value="{{.Large .Data}}">`))
	template.Must(set.New("other").Parse(`<textarea>{{.Data}}</textarea><input value="{{.Data}}">`))
	pages := &templates{set: set}
	large, err := pages.execute("large", (&visit{}).show(value))
	if err != nil {
		t.Fatal(err)
	}
	other, err := pages.execute("other", (&visit{}).show(value))
	if err != nil {
		t.Fatal(err)
	}
	plain := func(page []byte) string { return strings.ReplaceAll(string(page), "&#43;", "+") }
	if plain(large) != plain(other) {
		t.Errorf("large values are escaped as\n%q\nand others as\n%q", cut(large), cut(other))
	}
}

func cut(page []byte) []byte { return bytes.Trim(page, "xé") }
