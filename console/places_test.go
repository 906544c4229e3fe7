package console

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/access"
)

// sessions returns cookies of as many sessions as could take all places.
func (r *rig) sessions(role access.Role) (cookies []string) {
	for i := range mostBuilds / viewerBuilds {
		cookies = append(cookies, r.token("slow-"+string(rune('a'+i)), role))
	}
	return cookies
}

// unreceived is an answer that no client receives until it is cut off.
type unreceived struct {
	*httptest.ResponseRecorder
	mu   sync.Mutex
	cut  chan struct{}
	done bool
}

func newUnreceived() *unreceived {
	return &unreceived{ResponseRecorder: httptest.NewRecorder(), cut: make(chan struct{})}
}

// Write waits for a deadline that has passed, unless the answer is very short.
func (u *unreceived) Write(p []byte) (int, error) {
	if len(p) < 1<<10 {
		return len(p), nil
	}
	<-u.cut
	return 0, io.ErrClosedPipe
}

// SetWriteDeadline ends all writes if the deadline has passed.
func (u *unreceived) SetWriteDeadline(deadline time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.done && deadline.Before(time.Now()) {
		u.done = true
		close(u.cut)
	}
	return nil
}

// A viewer that sends a form slowly does not take a place from viewers that request pages.
func TestFormsThatArriveSlowlyTakeNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true, nil)
		reader := r.token("reader", access.RoleViewer)
		var posts sync.WaitGroup
		var bodies []*io.PipeWriter
		for _, session := range r.sessions(access.RoleOperator) {
			for range viewerBuilds {
				body, sender := io.Pipe()
				bodies = append(bodies, sender)
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/new/schedule/fires", body)
				request.Host = "localhost"
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				request.AddCookie(&http.Cookie{Name: sessionCookie, Value: session})
				posts.Go(func() { r.api.ServeHTTP(httptest.NewRecorder(), request) })
			}
		}
		synctest.Wait()
		r.page(http.StatusOK, "/jobs", sessionCookie, reader)
		for _, body := range bodies {
			_ = body.Close()
		}
		posts.Wait()
	})
}

// A viewer that does not receive the answer to a form has no place either.
func TestAnswersToFormsThatAreNotReceivedTakeNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true, nil)
		reader := r.token("reader", access.RoleViewer)
		form := url.Values{"kind": {"noop"}, "args": {"{"}}.Encode()
		var posts sync.WaitGroup
		var answers []*unreceived
		for _, session := range r.sessions(access.RoleOperator) {
			for range viewerBuilds {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/new/batch", strings.NewReader(form))
				request.Host = "localhost"
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				request.AddCookie(&http.Cookie{Name: sessionCookie, Value: session})
				answer := newUnreceived()
				answers = append(answers, answer)
				posts.Go(func() { r.console.ServeHTTP(answer, request) })
			}
		}
		synctest.Wait()
		r.page(http.StatusOK, "/jobs", sessionCookie, reader)
		for _, answer := range answers {
			_ = answer.SetWriteDeadline(time.Time{})
		}
		posts.Wait()
	})
}

// Pages that are not received are cut off, and meanwhile leave memory for other viewers.
func TestLargePagesThatAreNotReceivedAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Console{places: newPlaces()}
		large := c.placed(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write(make([]byte, sentBytes/16))
		})
		ask := func(viewer string, answer http.ResponseWriter) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			request.AddCookie(&http.Cookie{Name: sessionCookie, Value: viewer})
			large(answer, request)
		}
		var slow sync.WaitGroup
		for range 16 {
			slow.Go(func() { ask("slow", newUnreceived()) })
		}
		synctest.Wait()
		other := httptest.NewRecorder()
		ask("other", other)
		if other.Code != http.StatusAccepted || other.Body.Len() != sentBytes/16 {
			t.Errorf("another viewer is answered %d with %d bytes", other.Code, other.Body.Len())
		}
		began := time.Now()
		slow.Wait()
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("the pages were cut off after %v", took)
		}
	})
}

// A page that finds no memory is refused, and not an empty page.
func TestAPageWithoutMemoryIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Console{places: newPlaces()}
		if err := c.places.sent.Acquire(t.Context(), sentBytes); err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		c.placed(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(bytes.Repeat([]byte("x"), smallPage+1))
		})(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
			t.Errorf("got %d %q", answer.Code, cut(answer.Body.Bytes()))
		}
	})
}
