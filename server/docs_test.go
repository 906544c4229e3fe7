package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func (a *api) read(path string) string {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		a.Fatalf("%s: %d (%v)", path, response.StatusCode, err)
	}
	return string(text)
}

// Every route is described, with a comment, and all its references exist.
func TestTheDescriptionIsWhole(t *testing.T) {
	a := newAPI(t)
	text := a.read("/openapi.json")
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Description string
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	operations := 0
	page := a.read("/docs")
	for path, verbs := range document.Paths {
		for verb, operation := range verbs {
			operations++
			if operation.OperationID == "" || operation.Description == "" {
				t.Errorf("%s %s is not described", verb, path)
			}
			if !strings.Contains(page, `id="`+operation.OperationID+`"`) {
				t.Errorf("%s is not on the page", operation.OperationID)
			}
		}
	}
	if operations < 25 {
		t.Errorf("only %d operations are described", operations)
	}
	for _, rest := range strings.Split(text, "#/components/schemas/")[1:] {
		if name, _, _ := strings.Cut(rest, `"`); document.Components.Schemas[name] == nil {
			t.Errorf("schema %s is referred to and is not there", name)
		}
	}
	if a.read("/version") != "test\n" {
		t.Error("the version is not told")
	}
}
