package browser

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

var href = regexp.MustCompile(`href="(/[^"]*)"`)

// TestNoLinkIsDead follows the links of every screen of the demo. Of links that differ only
// in a name or an ID, it follows some.
func TestNoLinkIsDead(t *testing.T) {
	tier.Long(t, "follows every link of a demo that has run for a while")
	t.Parallel()
	url, paths := frozenDemo(t)
	shapes, followed := map[string]int{}, map[string]bool{}
	id := regexp.MustCompile(`[0-9]+`)
	for _, path := range paths {
		for _, match := range href.FindAllStringSubmatch(fetch(t, url+path), -1) {
			to := html.UnescapeString(match[1])
			shape := id.ReplaceAllString(strings.Split(to, "?")[0], "N")
			if followed[to] || shapes[shape] > 5 {
				continue
			}
			followed[to] = true
			shapes[shape]++
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+to, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("%s leads to %s, which is answered with %d", path, to, answer.StatusCode)
			}
		}
	}
	t.Logf("%d links", len(followed))
}
