package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-io/fairlead/internal/receiver"
)

// What pages may take of a node's memory. A page is made of answers of the API and is in
// memory until its viewer has received it.
const (
	mostBuilds   = 8        // pages that are made at once
	viewerBuilds = 4        // of them, for one viewer
	viewerLive   = 200      // pages that one session keeps open
	sentBytes    = 32 << 20 // of large pages that are made and not yet received
	viewerSent   = 16 << 20 // of them, for one viewer
	smallPage    = 64 << 10 // a page of no more bytes does not count

	placePatience = 10 * time.Second // of a page that waits for others, or for its viewer
	receivedRate  = 256 << 10        // bytes of a page that buy its viewer another second
)

// places bounds how many pages are made and sent at once.
type places struct {
	builds, sent *semaphore.Weighted

	mu      sync.Mutex
	viewers map[string]*attendance
}

// attendance is what one viewer has asked for.
type attendance struct {
	builds, sent *semaphore.Weighted

	here int // requests
	live int // open pages
}

func newPlaces() *places {
	return &places{builds: semaphore.NewWeighted(mostBuilds), sent: semaphore.NewWeighted(sentBytes), viewers: map[string]*attendance{}}
}

// arrive counts a viewer's request until it leaves.
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

// stay counts a page that a viewer keeps open. It reports false if there are too many.
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

// build waits until a page may be made. It must be ended by what it returns.
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

// send waits until a page may be kept until it is received. The build that made it ends
// only then: else made pages would pile up.
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

// sessionOf is whose requests these are, as far as that is known before the API is asked.
func sessionOf(r *http.Request) string {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		return cookie.Value
	}
	return ""
}

// placed makes the page of a handler that reads no body once there is a place for it.
func (c *Console) placed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if page, leave := c.place(w, r); page != nil {
			defer leave()
			next(page, r)
		}
	}
}

// place waits for a place to make a page, which must be given back. Without a place, it
// answers the request and returns nil. A body must be read before: it may arrive slowly.
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

// busy answers that there are too many pages.
func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many pages are being made at once; try again later", http.StatusServiceUnavailable)
}

// placedPage is a page on its way to its viewer, who has to receive a large one in reasonable
// time.
type placedPage struct {
	http.ResponseWriter
	places *places
	viewer *attendance
	ctx    context.Context //nolint:containedctx // of the request that it answers
	made   func()
	status int // to be sent with the page; 0: none, or it was sent
}

// Unwrap is for http.ResponseController.
func (p *placedPage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader keeps the status until the page is written: one that finds no memory has
// another.
func (p *placedPage) WriteHeader(status int) { p.status = status }

// begin sends the status.
func (p *placedPage) begin() {
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
		p.status = 0
	}
}

// Write writes a page, which is one piece.
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
