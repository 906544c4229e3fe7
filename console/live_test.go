package console

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// watch opens the live part of a page, and calls see with each event, until the
// connection ends, see returns false, or ctx ends.
func (r *rig) watch(ctx context.Context, web *httptest.Server, path, secret string, see func(event, data string) bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+livePath+path, nil)
	if err != nil {
		return err
	}
	request.AddCookie(&http.Cookie{Name: sessionCookie, Value: secret})
	answer, err := web.Client().Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		return errors.New(answer.Status + ": " + kind)
	}
	event, data := "", ""
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			event = line[7:]
		case strings.HasPrefix(line, "data:"):
			data += line[5:] + "\n"
		case line == "" && (event != "" || data != ""):
			if !see(event, data) {
				return nil
			}
			event, data = "", ""
		}
	}
	return lines.Err()
}

func (r *rig) web() *httptest.Server {
	web := httptest.NewServer(r.api)
	r.Cleanup(web.Close)
	return web
}

func TestAPageChangesByItself(t *testing.T) {
	r := newRig(t, false, nil)
	web := r.web()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	seen := 0
	err := r.watch(ctx, web, "/", "", func(_, data string) bool {
		switch seen++; {
		case seen == 1:
			if strings.Contains(data, `data-count="3"`) {
				t.Error("there are jobs already")
			}
			r.enqueue(&fairlead.Job{Kind: "a"}, &fairlead.Job{Kind: "a"}, &fairlead.Job{Kind: "a"})
		case strings.Contains(data, `data-count="3"`):
			return false
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnOpenPageEndsWithItsToken(t *testing.T) {
	r := newRig(t, true, nil)
	secret := r.token("reader", access.RoleViewer)
	web := r.web()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	last := ""
	err := r.watch(ctx, web, "/", secret, func(event, _ string) bool {
		tokens, err := r.store.Tokens(ctx)
		if err != nil {
			t.Error(err)
		}
		for _, token := range tokens {
			if err := r.store.DeleteToken(ctx, token.ID); err != nil {
				t.Error(err)
			}
		}
		last = event
		return true
	})
	if err != nil || last != "signed-out" {
		t.Errorf("the last event is %q: %v", last, err)
	}
}

// TestManyViewersCostTheDatabaseAsMuchAsOne opens the overview once and 200 times. What
// the database is asked per tick is the same.
func TestManyViewersCostTheDatabaseAsMuchAsOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, true, nil)
	secret := r.token("reader", access.RoleViewer)
	for i := range 20 {
		r.enqueue(&fairlead.Job{Kind: "a", Tenant: "tenant-" + strconv.Itoa(i)})
	}
	web := r.web()
	const ticks = 4
	perTick := func(viewers int) float64 {
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
		defer cancel()
		var group sync.WaitGroup
		var connected atomic.Int64
		all := make(chan struct{})
		watching, stop := context.WithCancel(ctx)
		for range viewers {
			group.Go(func() {
				first := true
				_ = r.watch(watching, web, "/", secret, func(_, _ string) bool {
					if first && connected.Add(1) == int64(viewers) {
						close(all)
					}
					first = false
					return true
				})
			})
		}
		select {
		case <-all:
		case <-ctx.Done():
			t.Fatalf("%d of %d viewers see something", connected.Load(), viewers)
		}
		began, before := time.Now(), r.calls.Load()+r.lookups.Load()
		<-time.After(ticks * tickLength)
		asked := float64(r.calls.Load() + r.lookups.Load() - before)
		took := time.Since(began)
		stop()
		group.Wait()
		return asked / (float64(took) / float64(tickLength))
	}
	one, many := perTick(1), perTick(200)
	t.Logf("questions per tick: %.1f for one viewer, %.1f for 200", one, many)
	if one == 0 || many > one*1.5 {
		t.Errorf("one viewer asks %.1f questions per tick, and 200 ask %.1f", one, many)
	}
}
