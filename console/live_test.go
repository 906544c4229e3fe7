package console

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/console/internal/shared"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
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
	return readEvents(answer.Body, see)
}

// readEvents calls see with each event of a stream until that ends or see returns false.
func readEvents(from io.Reader, see func(event, data string) bool) error {
	event, data := "", ""
	lines := bufio.NewScanner(from)
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

// pipedAnswer is an answer that is read while it is written, without a network: that has no
// place in a bubble of virtual time.
type pipedAnswer struct {
	*io.PipeWriter
	header http.Header
}

// Header returns the headers of the answer.
func (p pipedAnswer) Header() http.Header { return p.header }

// WriteHeader ignores the status.
func (p pipedAnswer) WriteHeader(int) {}

// Flush does nothing: all is read at once.
func (p pipedAnswer) Flush() {}

// watchHere does the same as watch without a network. It returns when the console has ended
// the stream.
func (r *rig) watchHere(ctx context.Context, path, secret string, see func(event, data string) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, livePath+path, nil)
	request.Host = "localhost"
	request.AddCookie(&http.Cookie{Name: sessionCookie, Value: secret})
	reader, writer := io.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		r.api.ServeHTTP(pipedAnswer{writer, http.Header{}}, request)
		_ = writer.Close()
	})
	err := readEvents(reader, see)
	cancel()
	_ = reader.Close()
	serving.Wait()
	return err
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true, nil)
		secret := r.token("reader", access.RoleViewer)
		last := ""
		err := r.watchHere(t.Context(), "/", secret, func(event, _ string) bool {
			tokens, err := r.store.Tokens(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, token := range tokens {
				if err := r.store.DeleteToken(t.Context(), token.ID); err != nil {
					t.Error(err)
				}
			}
			last = event
			return true
		})
		if err != nil || last != "signed-out" {
			t.Errorf("the last event is %q: %v", last, err)
		}
	})
}

// TestManyViewersCostTheDatabaseAsMuchAsOne opens the overview once and many times. What
// the database is asked per tick is the same.
func TestManyViewersCostTheDatabaseAsMuchAsOne(t *testing.T) {
	viewers := tier.Size(t, 30, 200, "every viewer is sent the page")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true, nil)
		secret := r.token("reader", access.RoleViewer)
		for i := range 20 {
			r.enqueue(&fairlead.Job{Kind: "a", Tenant: "tenant-" + strconv.Itoa(i)})
		}
		const ticks = 4
		asked := func(viewers int) int64 {
			var group sync.WaitGroup
			var seen atomic.Int64
			watching, stop := context.WithCancel(t.Context())
			for range viewers {
				group.Go(func() {
					_ = r.watchHere(watching, "/", secret, func(_, _ string) bool {
						seen.Add(1)
						return true
					})
				})
			}
			time.Sleep(shared.TickLength)
			synctest.Wait()
			if n := seen.Load(); n < int64(viewers) {
				t.Errorf("%d viewers have seen %d events", viewers, n)
			}
			before := r.calls.Load() + r.lookups.Load()
			time.Sleep(ticks * shared.TickLength)
			synctest.Wait()
			asked := r.calls.Load() + r.lookups.Load() - before
			stop()
			group.Wait()
			return asked
		}
		one, many := asked(1), asked(viewers)
		t.Logf("questions in %d ticks: %d for one viewer, %d for %d", ticks, one, many, viewers)
		if one == 0 || many > one*3/2 {
			t.Errorf("one viewer asks %d questions in %d ticks, and %d ask %d", one, ticks, viewers, many)
		}
	})
}
