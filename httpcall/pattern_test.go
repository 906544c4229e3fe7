package httpcall

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// What a pattern writes is what a request of its own would be.
func TestPatternsWriteRequests(t *testing.T) {
	for name, call := range map[string]string{
		"a path":            `{"method":"GET","url":"http://target/items/{{args.item.index}}?try={{args.item.attempt}}&run={{run_id}}"}`,
		"no place for them": `{"method":"GET","url":"http://target/same"}`,
		"the usual body":    `{"url":"http://target:8080/items"}`,
		"a body of text":    `{"url":"http://target/","headers":{"Content-Type":"text/plain","X-Item":"{{args.item.index}}"},"body":"{{args.item.index}}/{{attempt}}"}`,
		"an object":         `{"url":"http://a:b@target/","body":{"n":"{{args.item.index}}","all":"{{args.items}}","sweep":"{{args.sweep_id}}"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			run := runOf(t, call)
			if run.pattern == nil {
				t.Fatal("there is no pattern")
			}
			for _, item := range []CallItem{{Index: 0, Attempt: 1}, {Index: -7, Attempt: 2}, {Index: 99, Attempt: 10}, {Index: math.MaxInt64, Attempt: math.MaxInt32}, sought, tried} {
				want, err := run.written(item)
				if err != nil {
					t.Fatal(err)
				}
				if got := run.pattern.fill(nil, item.Index, item.Attempt); string(got) != string(want) {
					t.Errorf("item %d: %q is not %q", item.Index, got, want)
				}
			}
		})
	}
}

func TestSomeCallsHaveNoPattern(t *testing.T) {
	for name, call := range map[string]string{
		"over TLS":            `{"url":"https://target/"}`,
		"without an answer":   `{"method":"HEAD","url":"http://target/"}`,
		"that look at it":     `{"url":"http://target/","success":{"expression":"status == 200"}}`,
		"of the same numbers": `{"url":"http://target/` + strconv.FormatInt(sought.Index, 10) + `"}`,
	} {
		if runOf(t, call).pattern != nil {
			t.Errorf("calls %s have one", name)
		}
	}
}

func runOf(t *testing.T, call string) *ItemsRun {
	t.Helper()
	made, err := New(Options{Guard: mustGuard(t, true)}).ForItems(json.RawMessage(call), 1)
	if err != nil {
		t.Fatal(err)
	}
	return made.Under(&fairlead.Job{ID: 5, Tenant: "default"}, 3, 1, 0, func(items []CallItem) string { return "fairlead-sweep-3-" + strconv.FormatInt(items[0].Index, 10) })
}
