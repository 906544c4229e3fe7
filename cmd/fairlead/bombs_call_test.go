package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// largeAnswers starts a target whose responses are larger than they seem.
func largeAnswers(t *testing.T) string {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/inflates":
			w.Header().Set("Content-Encoding", "gzip")
			packer := gzip.NewWriter(w)
			for zeros, err := make([]byte, 1<<20), error(nil); err == nil; {
				_, err = packer.Write(zeros)
			}
		case "/nests":
			_, _ = io.WriteString(w, strings.Repeat(`[`, 1<<20))
		case "/wide":
			_, _ = io.WriteString(w, `{"a":[`+strings.Repeat(`{},`, 300_000)+`0]}`)
		default:
			_, _ = io.WriteString(w, `{"text":"`+strings.Repeat("x", 500_000)+`"}`)
		}
	}))
	t.Cleanup(target.Close)
	return target.URL
}

// doubling returns an expression in which each variable is twice the previous one.
func doubling(first, last string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "let v0 = %s; ", first)
	for i := range 40 {
		fmt.Fprintf(&out, "let v%d = v%d + v%d; ", i+1, i, i)
	}
	return out.String() + strings.ReplaceAll(last, "V", "v40")
}

// hostileCalls returns args of jobs that would exhaust a node's memory, time or slots.
func hostileCalls(t *testing.T) []string {
	url := largeAnswers(t)
	targets := []string{url + "/inflates", url + "/nests", url + "/wide"}
	for _, serve := range hostileTargets(t.Context()) {
		targets = append(targets, newHostile(t, "http", serve).url)
	}
	var calls []string
	for _, target := range targets {
		calls = append(calls, fmt.Sprintf(`{"url":%q}`, target), fmt.Sprintf(`{"url":%q,"success":{"expression":"body != nil"}}`, target))
	}
	for _, expression := range []string{
		doubling("body.text", "len(V) > 0"),
		doubling("[1]", "len(V) > 0"),
		strings.ReplaceAll(doubling("[1]", "string(V) != nil"), " + ", ", "),
		`let a = [body,body]; let b = [a,a]; let c = [b,b]; let d = [c,c]; let e = [d,d]; let f = [e,e]; let g = [f,f]; let h = [g,g]; string([h,h,h,h]) == ""`,
		`body.text matches "(((((x{1,100}){1,100}){1,100})+)+)$"`,
		`body.text + body.text + body.text + body.text != ""`,
		strings.Repeat("(", 900) + "true" + strings.Repeat(")", 900),
		`repeat("x", 1000000000) != ""`,
		`1..1000000000 != nil`,
		`2 ** 1000000 ** 1000000 > 0`,
	} {
		calls = append(calls, fmt.Sprintf(`{"url":%q,"success":{"expression":%q}}`, url+"/text", expression))
	}
	large := `"` + strings.Repeat("x", 500_000) + `"`
	calls = append(calls,
		fmt.Sprintf(`{"url":%q,"vars":{"x":%s},"body":%q}`, url+"/text", large, strings.Repeat("{{args.x}}", 40_000)),
		fmt.Sprintf(`{"url":%q,"body":%q}`, url+"/text", strings.Repeat("{{run_id}}", 60_000)),
		fmt.Sprintf(`{"url":%q,"headers":{"X-A":%q}}`, url+"/text", strings.Repeat("{{run_id}}", 60_000)),
		fmt.Sprintf(`{"url":%q}`, url+"/text?"+strings.Repeat("{{key}}", 60_000)),
	)
	return calls
}

// No job takes its node down, and no target holds a slot past its timeout: the node
// lives, its memory stays small, and the jobs of others run meanwhile.
func TestANodeSurvivesHostileJobsAndTargets(t *testing.T) {
	tier.Long(t, "floods a node and measures its memory")
	t.Parallel()
	node := startBombed(t, "--slots", "8", "--request-timeout", "1s")
	others := node.runOthers(t)
	refused := 0
	var stored []string
	for _, call := range hostileCalls(t) {
		for range 8 { // as many as there are slots
			id := node.enqueueOne(t, `{"kind":"http","tenant":"hostile","max_attempts":1,"args":`+call+`}`)
			if id == "" {
				refused++
				break
			}
			stored = append(stored, id)
		}
	}
	for _, id := range stored {
		if job := node.wait(t, id); job["crashes"] != nil && job["crashes"] != 0.0 {
			t.Errorf("job %s has taken its node down: %v", id, job)
		}
	}
	t.Logf("%d kinds of calls were refused, %d jobs have run", refused, len(stored))
	others.stop(t)
	node.wantSmall(t)
}
