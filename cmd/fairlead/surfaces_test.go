package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sweep"
)

// surfaces is the real program with all that calls URLs which its users choose.
type surfaces struct {
	*testing.T
	node   *served
	client *fairlead.Client
	token  string
	made   int // names so far
}

// newSurfaces starts the program. Strictly, it may call nothing but the world.
func newSurfaces(t *testing.T, strict bool, args ...string) *surfaces {
	t.Helper()
	db := sqlitetest.URL(t)
	args = append(args, "--db", db, "--poll", "20ms", "--request-timeout", "1s", "--target-max-failures", "0", "--max-sweeps", "1000")
	s := &surfaces{T: t}
	if strict {
		s.token = strings.Repeat("surface-", 5)
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(s.token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--token-file", file)
	}
	s.node = startServe(t, args...)
	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s.client = fairlead.NewClient(store)
	return s
}

// ask sends a request. What the program refuses is false: then nothing will be called.
func (s *surfaces) ask(verb, path string, body any) (map[string]any, bool) {
	s.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.Context(), verb, s.node.url+path, strings.NewReader(string(raw)))
	if err != nil {
		s.Fatal(err)
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	answered, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(answered, &out); err != nil {
		s.Fatalf("%s %s: %s", verb, path, answered)
	}
	return out, response.StatusCode/100 == 2
}

// must calls ask for a request that cannot be rejected.
func (s *surfaces) must(verb, path string, body any) map[string]any {
	s.Helper()
	out, fine := s.ask(verb, path, body)
	if !fine {
		s.Fatalf("%s %s: %v", verb, path, out)
	}
	return out
}

func (s *surfaces) name() string {
	s.made++
	return fmt.Sprintf("n%d", s.made)
}

// object is JSON.
type object = map[string]any

// ended reports whether a call has ended, however.
type ended func() bool

func atOnce() bool { return true }

// begin has each surface call a URL.
func (s *surfaces) begin(url string) map[string]ended {
	return map[string]ended{
		"http job":          s.job("http", s.name(), object{"url": url}),
		"async http job":    s.job("http", s.name(), object{"url": url, "async": true, "body": strings.Repeat("x", 1<<20)}),
		"external job":      s.externalJob(url),
		"notice of failure": s.notice("failed", "fail_url", url),
		"notice of timeout": s.notice("timeout", "timeout_url", url),
		"alert":             s.alert(url),
		"alert of jobs":     s.jobAlert(url),
		"gate before run":   s.gate(url),
		"test of a call":    s.testedCall(url),
		"sweep of calls":    s.sweep(object{"kind": "http", "to": 3, "args": object{"url": url}, "attempts": 1, "timeout": "1s"}),
	}
}

// job enqueues a job that is tried once.
func (s *surfaces) job(kind, tenant string, args object) ended {
	_, fine := s.ask("POST", "/api/v1/jobs", object{"jobs": []object{{"kind": kind, "tenant": tenant, "args": args, "max_attempts": 1}}})
	if !fine {
		return atOnce
	}
	return s.tried(fairlead.Filter{Tenants: []string{tenant}}, 1)
}

// testedCall tests the call of a schedule, which has ended when it is answered.
func (s *surfaces) testedCall(url string) ended {
	name := s.name()
	if _, fine := s.ask("POST", "/api/v1/schedules", object{"name": name, "daily": "03:00", "enabled": false, "job": object{"kind": "http", "args": object{"url": url}}}); fine {
		s.ask("POST", "/api/v1/schedules/"+name+"/test", object{})
	}
	return atOnce
}

// tried reports whether there are so many jobs, and all were tried.
func (s *surfaces) tried(filter fairlead.Filter, count int) ended {
	return func() bool {
		page, err := s.client.Find(s.Context(), filter)
		if err != nil {
			s.Fatal(err)
		}
		for _, job := range page.Jobs {
			if !job.State.Final() && job.Failures == 0 {
				return false
			}
		}
		return len(page.Jobs) >= count
	}
}

func (s *surfaces) externalJob(url string) ended {
	tenant := s.name()
	if _, fine := s.ask("POST", "/api/v1/tenants", object{"name": tenant, "start_url": url}); !fine {
		return atOnce
	}
	return s.job("external", tenant, object{"n": 1})
}

func (s *surfaces) notice(event, field, url string) ended {
	tenant := s.name()
	if _, fine := s.ask("POST", "/api/v1/tenants", object{"name": tenant, field: url}); !fine {
		return atOnce
	}
	args := fmt.Sprintf(`{"event":%q,"id":"1","fence":"1","tenant":%q}`, event, tenant)
	job := &fairlead.Job{Kind: external.NoticeKind, Queue: external.NoticeQueue, Tenant: external.NoticeTenant, Args: json.RawMessage(args)}
	if err := s.client.Enqueue(s.Context(), job); err != nil {
		s.Fatal(err)
	}
	return s.tried(fairlead.Filter{IDs: []int64{job.ID}}, 1)
}

func (s *surfaces) alert(url string) ended {
	name := s.name()
	schedule := object{"name": name, "every": "1h", "job": object{"kind": "http", "tenant": name, "max_attempts": 1, "args": object{"url": "http://127.0.0.1:1/"}}, "alert": object{"url": url}}
	if _, fine := s.ask("POST", "/api/v1/schedules", schedule); !fine {
		return atOnce
	}
	s.must("POST", "/api/v1/schedules/"+name+"/trigger", object{})
	return s.tried(fairlead.Filter{Tenants: []string{name}}, 2)
}

func (s *surfaces) jobAlert(url string) ended {
	name := s.name()
	if _, fine := s.ask("PUT", "/api/v1/alerts/"+name, object{"scope": "tenant:" + name, "url": url, "gather": "1ms"}); !fine {
		return atOnce
	}
	s.job("http", name, object{"url": "http://127.0.0.1:1/"})
	return func() bool {
		page, err := s.client.Find(s.Context(), fairlead.Filter{Tenants: []string{external.NoticeTenant}, Kinds: []string{"http"}, Limit: 1000})
		if err != nil {
			s.Fatal(err)
		}
		return slices.ContainsFunc(page.Jobs, func(job *fairlead.Job) bool {
			return strings.Contains(string(job.Args), fmt.Sprintf(`"alert":%q`, name)) && (job.State.Final() || job.Failures > 0)
		})
	}
}

func (s *surfaces) gate(url string) ended {
	name := s.name()
	if _, fine := s.ask("POST", sweepsPath, object{"name": name, "tenant": name, "kind": "noop", "to": 3, "gate": object{"before_run": url}}); !fine {
		return atOnce
	}
	s.must("POST", sweepsPath+"/"+name+"/start", object{})
	return s.tried(fairlead.Filter{Tenants: []string{name}, Kinds: []string{sweep.GateKind}}, 1)
}

// sweep runs a sweep until it has ended.
func (s *surfaces) sweep(fields object) ended {
	name := s.name()
	fields["name"] = name
	if _, fine := s.ask("POST", sweepsPath, fields); !fine {
		return atOnce
	}
	s.must("POST", sweepsPath+"/"+name+"/start", object{})
	return func() bool {
		state := s.must("GET", sweepsPath+"/"+name, nil)["state"]
		return state == string(sweep.Stopped) || state == string(sweep.Finished)
	}
}

// await waits for calls.
func (s *surfaces) await(what string, calls map[string]ended) {
	s.Helper()
	for name, over := range calls {
		for begin := time.Now(); !over(); <-time.After(20 * time.Millisecond) {
			if time.Since(begin) > patience.Limit {
				s.Errorf("%s: the %s has not ended", what, name)
				break
			}
		}
	}
}
