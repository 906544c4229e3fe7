package browser

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead/server"
)

// demo starts the program with the demo's data.
func demo(t *testing.T) (url string) {
	t.Helper()
	return serve(t, filepath.Join(t.TempDir(), "demo.db"))
}

// frozenDemo is what a demo has become after a while.
func frozenDemo(t *testing.T) (url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "demo.db")
	t.Run("a demo", func(t *testing.T) { serve(t, file) }) // ends with this test
	return freeze(t, file, "", server.Auth{})
}

// quoted is a text as JavaScript writes it.
func quoted(text string) string { return strconv.Quote(text) }
