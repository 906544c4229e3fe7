package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-io/fairlead/internal/receiver"
)

// Limits on a node's memory for pages. A page is built from API responses and stays in
// memory until its viewer has received it.
const (
	mostBuilds   = 8        // pages built concurrently
	viewerBuilds = 4        // of these, for one viewer
	viewerLive   = 200      // open pages of one session
	sentBytes    = 32 << 20 // total size of large pages built but not yet received
	viewerSent   = 16 << 20 // of these, for one viewer
	smallPage    = 64 << 10 // pages up to this size do not count

	placePatience = 10 * time.Second // maximum wait of a page for others, or for its viewer
	receivedRate  = 256 << 10        // bytes of a page that extend its viewer's deadline by one second
)

// places limits the number of pages built and sent concurrently.
type places struct {
	builds, sent *semaphore.Weighted

	mu      sync.Mutex
	viewers map[string]*attendance
}

// attendance contains the current requests of one viewer.
type attendance struct {
	builds, sent *semaphore.Weighted

	here int // number of requests
	live int // number of open pages
}

func newPlaces() *places {
	return &places{builds: semaphore.NewWeighted(mostBuilds), sent: semaphore.NewWeighted(sentBytes), viewers: map[string]*attendance{}}
}

// arrive counts a viewer's request until leave is called.
func (p *places) arrive(viewer string) (a *attendance, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a = p.viewers[viewer]; a == nil {
		a = &attendance{builds: semaphore.NewWeighted(viewerBuilds), sent: semaphore.NewWeighted(viewerSent)}
		p.viewers[viewer] = a
	}
	a.here++
	return a, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if a.here--; a.here == 0 {
			delete(p.viewers, viewer)
		}
	}
}

// stay counts a page that a viewer keeps open. It returns false if there are too many.
func (p *places) stay(a *attendance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.live == viewerLive {
		return false
	}
	a.live++
	return true
}

func (p *places) goAway(a *attendance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.live--
}

// build waits until a page may be built. The caller must call end.
func (p *places) build(ctx context.Context, a *attendance) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, placePatience)
	defer cancel()
	if err := a.builds.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := p.builds.Acquire(ctx, 1); err != nil {
		a.builds.Release(1)
		return nil, err
	}
	return sync.OnceFunc(func() {
		p.builds.Release(1)
		a.builds.Release(1)
	}), nil
}

// send waits until a page may stay in memory until it is received. The build of the page
// ends only after that: otherwise finished pages would pile up.
func (p *places) send(ctx context.Context, a *attendance, bytes int) (received func(), err error) {
	size := int64(min(bytes, viewerSent))
	ctx, cancel := context.WithTimeout(ctx, placePatience)
	defer cancel()
	if err := a.sent.Acquire(ctx, size); err != nil {
		return nil, err
	}
	if err := p.sent.Acquire(ctx, size); err != nil {
		a.sent.Release(size)
		return nil, err
	}
	return func() {
		p.sent.Release(size)
		a.sent.Release(size)
	}, nil
}

// sessionOf returns the session of a request, as far as it is known without calling the
// API.
func sessionOf(r *http.Request) string {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		return cookie.Value
	}
	return ""
}

// placed builds the page of a handler that reads no body once there is capacity for it.
func (c *Console) placed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if page, leave := c.place(w, r); page != nil {
			defer leave()
			next(page, r)
		}
	}
}

// place waits for capacity to build a page; the caller must call leave. If there is none,
// place answers the request and returns nil. A body must be read before the call, because
// it may arrive slowly.
func (c *Console) place(w http.ResponseWriter, r *http.Request) (page *placedPage, leave func()) {
	viewer, goAway := c.places.arrive(sessionOf(r))
	end, err := c.places.build(r.Context(), viewer)
	if err != nil {
		goAway()
		busy(w)
		return nil, nil
	}
	page = &placedPage{ResponseWriter: w, places: c.places, viewer: viewer, ctx: r.Context(), made: end}
	return page, func() {
		page.begin()
		end()
		goAway()
	}
}

// busy responds that too many pages are being built.
func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many pages are being made at once; try again later", http.StatusServiceUnavailable)
}

// placedPage is a page on the way to its viewer, who must receive a large page in
// reasonable time.
type placedPage struct {
	http.ResponseWriter
	places *places
	viewer *attendance
	ctx    context.Context //nolint:containedctx // of the request that it answers
	made   func()
	status int // status to send with the page; 0 = none, or already sent
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (p *placedPage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader stores the status until the page is written, because a page without memory
// has another status.
func (p *placedPage) WriteHeader(status int) { p.status = status }

// begin sends the status.
func (p *placedPage) begin() {
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
		p.status = 0
	}
}

// Write writes a page in a single call.
func (p *placedPage) Write(body []byte) (int, error) {
	if len(body) <= smallPage {
		p.made()
		p.begin()
		return p.ResponseWriter.Write(body)
	}
	received, err := p.places.send(p.ctx, p.viewer, len(body))
	p.made()
	if err != nil {
		p.status = 0
		busy(p.ResponseWriter)
		return 0, err
	}
	defer received()
	p.begin()
	return receiver.NewWriter(p.ResponseWriter, placePatience, receivedRate).Write(body)
}
