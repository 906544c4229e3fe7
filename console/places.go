package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// What pages may take of a node's memory. A page is made of answers of the API and is in
// memory until its viewer has received it.
const (
	mostBuilds   = 8        // pages that are made at once
	viewerBuilds = 4        // of them, for one viewer
	viewerLive   = 200      // pages that one session keeps open
	sentBytes    = 32 << 20 // of large pages that are made and not yet received
	smallPage    = 64 << 10 // a page of no more bytes does not count

	placePatience = 10 * time.Second // of a page that waits for others
)

// places bounds how many pages are made and sent at once.
type places struct {
	builds, sent *semaphore.Weighted

	mu      sync.Mutex
	viewers map[string]*attendance
}

// attendance is what one viewer has asked for.
type attendance struct {
	builds *semaphore.Weighted
	here   int // requests
	live   int // open pages
}

func newPlaces() *places {
	return &places{builds: semaphore.NewWeighted(mostBuilds), sent: semaphore.NewWeighted(sentBytes), viewers: map[string]*attendance{}}
}

// arrive counts a viewer's request until it leaves.
func (p *places) arrive(viewer string) (a *attendance, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a = p.viewers[viewer]; a == nil {
		a = &attendance{builds: semaphore.NewWeighted(viewerBuilds)}
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
func (p *places) send(ctx context.Context, bytes int) (received func(), err error) {
	size := int64(min(bytes, sentBytes))
	if bytes <= smallPage {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, placePatience)
	defer cancel()
	if err := p.sent.Acquire(ctx, size); err != nil {
		return nil, err
	}
	return func() { p.sent.Release(size) }, nil
}

// sessionOf is whose requests these are, as far as that is known before the API is asked.
func sessionOf(r *http.Request) string {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		return cookie.Value
	}
	return ""
}

// placed makes the page of a handler once there is a place for it, and keeps the place until
// the page is written.
func (c *Console) placed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		viewer, leave := c.places.arrive(sessionOf(r))
		defer leave()
		end, err := c.places.build(r.Context(), viewer)
		if err != nil {
			busy(w)
			return
		}
		page := &placedPage{ResponseWriter: w, conn: http.NewResponseController(w), places: c.places, ctx: r.Context(), made: end}
		defer page.received()
		defer end()
		next(page, r)
	}
}

// busy answers that there are too many pages.
func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many pages are being made at once; try again later", http.StatusServiceUnavailable)
}

// placedPage is a page on its way to its viewer, who has to receive it in reasonable time.
type placedPage struct {
	http.ResponseWriter
	conn   *http.ResponseController
	places *places
	ctx    context.Context //nolint:containedctx // of the request that it answers
	made   func()
	freed  func()
}

// Unwrap is for http.ResponseController.
func (p *placedPage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write writes a page, which is one piece.
func (p *placedPage) Write(body []byte) (int, error) {
	p.received()
	freed, err := p.places.send(p.ctx, len(body))
	if err != nil {
		return 0, err
	}
	p.freed = freed
	p.made()
	return p.ResponseWriter.Write(body)
}

func (p *placedPage) received() {
	if p.freed != nil {
		p.freed()
		p.freed = nil
	}
}
