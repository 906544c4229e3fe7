package main

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/metrics"
)

// fetch returns the status and the body of an answer.
func fetch(t *testing.T, url, host string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestTheAdminPortServesProfilesAndMetricsToThisMachine(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	admin, err := startAdmin(t.Context(), ":0", metrics.New(metrics.Options{Logger: log}).Handler(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.stop()
	url := "http://" + admin.listener.Addr().String()
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("it listens on %s", url)
	}
	for path, want := range map[string]string{"/metrics": "go_goroutines", "/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile", "/debug/pprof/symbol": "num_symbols"} {
		if status, body := fetch(t, url+path, ""); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := fetch(t, url+"/debug/pprof/cmdline", ""); status != http.StatusNotFound {
		t.Errorf("the command line, which may hold passwords, is answered with %d", status)
	}
	if status, _ := fetch(t, url+"/debug/pprof/", "evil.example"); status != http.StatusMisdirectedRequest {
		t.Errorf("a page of another host is answered with %d", status)
	}
}

func TestTheAdminPortIsOpenToOthersOnlyOnPurpose(t *testing.T) {
	for addr, want := range map[string]struct {
		address string
		open    bool
	}{
		":6060":          {"127.0.0.1:6060", false},
		"127.0.0.1:6060": {"127.0.0.1:6060", false},
		"localhost:6060": {"localhost:6060", false},
		"[::1]:6060":     {"[::1]:6060", false},
		"0.0.0.0:6060":   {"0.0.0.0:6060", true},
		"10.1.2.3:6060":  {"10.1.2.3:6060", true},
	} {
		address, open, err := adminAddress(addr)
		if err != nil || address != want.address || open != want.open {
			t.Errorf("%s: got %s, open %v (%v)", addr, address, open, err)
		}
	}
	if _, _, err := adminAddress("6060"); err == nil || exitCode(err) != exitUsage {
		t.Errorf("got %v", err)
	}
}

func TestServeShowsItsMetrics(t *testing.T) {
	node := startServe(t, "--db", sqlitetest.URL(t), "--admin-addr", ":0")
	_, body := fetch(t, node.url+"/metrics", "")
	for _, want := range []string{"fairlead_store_up 1", "fairlead_slots 32", `fairlead_store_seconds_count{statement="join"}`, "fairlead_slot_usage_ratio 0", "fairlead_build_info{"} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
	if status, _ := fetch(t, node.url+"/metrics", "evil.example"); status != http.StatusMisdirectedRequest {
		t.Errorf("a page of another host is answered with %d", status)
	}
	node.cancel()
	if code := <-node.exit; code != exitOK {
		t.Errorf("exit %d: %s", code, <-node.log)
	}
}
