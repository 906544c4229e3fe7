package console

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Third-party files are unchanged and include their licence.
func TestVendoredFilesAreAsTheyWerePublished(t *testing.T) {
	list, err := files.Open("static/vendor/checksums.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		known[name] = sum
	}
	entries, err := files.ReadDir("static/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "LICENSE.") || name == "checksums.txt" {
			continue
		}
		raw, err := files.ReadFile(path.Join("static/vendor", name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(raw); known[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has the checksum %x, not %s", name, sum, known[name])
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is not there", name)
	}
}

func TestAssetsAreKeptByBrowsersAndOthersAreNot(t *testing.T) {
	r := newRig(t, false, nil)
	page := r.ask(http.MethodGet, "/", nil)
	if page.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page.Header.Get("Content-Security-Policy"), "script-src 'self'; style-src 'self'") {
		t.Errorf("a page has %v", page.Header)
	}
	for _, match := range regexp.MustCompile(`(?:src|href)="(/static/[^"]*)"`).FindAllStringSubmatch(r.page(http.StatusOK, "/"), -1) {
		if answer := r.ask(http.MethodGet, match[1], nil); answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %v", match[1], answer.StatusCode, answer.Header)
		}
	}
	for path, status := range map[string]int{"/static/old/console.css": http.StatusOK, "/static/x/../../go.mod": http.StatusNotFound, "/static/x/templates/page.html": http.StatusNotFound, "/static/": http.StatusNotFound} {
		answer := r.ask(http.MethodGet, path, nil)
		if answer.StatusCode != status && answer.StatusCode != http.StatusMovedPermanently && answer.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
		if strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is kept", path)
		}
	}
}

func TestNoPageHasStylesOrScriptsOfItsOwn(t *testing.T) {
	names, err := files.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range names {
		raw, err := files.ReadFile("templates/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{`(?i)<style`, `(?i)\sstyle=`, `(?i)\son[a-z]+="`, `(?i)javascript:`, `(?i)<script>`, `template\.(HTML|JS|URL)`} {
			if found := regexp.MustCompile(pattern).FindString(string(raw)); found != "" {
				t.Errorf("%s has %q", entry.Name(), found)
			}
		}
	}
}
