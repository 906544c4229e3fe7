package browser

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

var (
	countLink = regexp.MustCompile(`<a class="count[^"]*" href="([^"]*)" data-count="(\d+)"( data-more)?`)
	nextLink  = regexp.MustCompile(`<a href="([^"]*)" rel="next" data-next`)
	row       = regexp.MustCompile(` data-row[ >]`)
)

// fetch returns a page as the server sends it.
func fetch(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, answer.StatusCode, err)
	}
	return string(body)
}

// rows counts the rows of a list, page by page.
func rows(t *testing.T, url, path string) (n int) {
	t.Helper()
	for pages := 0; path != ""; pages++ {
		if pages == 1000 {
			t.Fatalf("%s has no end", path)
		}
		page := fetch(t, url+path)
		n += len(row.FindAllString(page, -1))
		next := nextLink.FindStringSubmatch(page)
		if path = ""; next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return n
}

// TestEveryNumberLeadsToTheRowsItCounts follows each count on each screen of the demo. The
// database does not change meanwhile.
func TestEveryNumberLeadsToTheRowsItCounts(t *testing.T) {
	tier.Long(t, "follows every count of a demo that has run for a while")
	t.Parallel()
	url, paths := frozenDemo(t)
	followed := map[string]string{}
	for _, path := range paths {
		for _, link := range countLink.FindAllStringSubmatch(fetch(t, url+path), -1) {
			href, n, more := html.UnescapeString(link[1]), link[2], link[3] != ""
			key := fmt.Sprint(href, " ", n, more)
			if followed[key] != "" {
				continue
			}
			followed[key] = path
			want, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			if more && !strings.Contains(href, "at_most=") {
				t.Errorf("%s: the count %s stopped, and leads to %s, which does not", path, n, href)
			}
			if got := rows(t, url, href); got != want {
				t.Errorf("%s says %d, and %s has %d rows", path, want, href, got)
			}
		}
	}
	t.Logf("%d counts", len(followed))
}
