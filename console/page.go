package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/console/internal/shared"
)

// page serves a complete page.
func (c *Console) page(w http.ResponseWriter, r *http.Request, s *screen) {
	who, err := c.identify(r)
	v := c.visit(r, who)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	data, err := s.load(v)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	if v.moved {
		http.Redirect(w, r, v.link(v.Path, v.Query), http.StatusSeeOther)
		return
	}
	v.Notice = c.takeNotice(w, r)
	shown := v.show(data)
	shown.Screen = s
	c.render(w, http.StatusOK, "page", shown)
}

// refuse serves an error page. An unidentified viewer is asked for a token first.
func (c *Console) refuse(w http.ResponseWriter, v *visit, err error) {
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		http.Redirect(w, v.request, v.Href("/login", "next", v.Back()), http.StatusSeeOther)
		return
	}
	if v.request.Context().Err() != nil {
		return // the viewer has disconnected
	}
	status, text := v.refusal(err)
	if status == http.StatusInternalServerError {
		c.options.Log.Error("console page failed", "path", v.Path, "error", err)
	}
	name := "error"
	switch {
	case v.byScript() && unanswered(err):
		name, text = "refused", v.T("The database is not responding. Try again in a moment.")
	case v.byScript():
		name = "refused"
	case status == http.StatusServiceUnavailable && v.request.Method == http.MethodGet:
		w.Header().Set("Refresh", "5") // reload automatically
	}
	c.render(w, status, name, v.show(failure{Status: status, Text: text}))
}

// failure is the data of an error page.
type failure struct {
	Status int
	Text   string
}

func (c *Console) notFound(w http.ResponseWriter, r *http.Request) {
	who, err := c.identify(r)
	v := c.visit(r, who)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	c.render(w, http.StatusNotFound, "error", v.show(failure{Status: http.StatusNotFound, Text: v.T("This page does not exist.")}))
}

// livePath is the path prefix of the live parts of pages.
const livePath = "/live"

// quietLimit bounds how long a connection may be silent. Proxies close silent connections,
// and the page warns its viewer if it hears nothing for 12 seconds (static/live.js).
const quietLimit = 5 * time.Second

// live sends the live part of a page after each change.
func (c *Console) live(w http.ResponseWriter, r *http.Request, s *screen) {
	if r.Method != http.MethodGet { // HEAD would have no end
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	viewer, leave := c.places.arrive(sessionOf(r))
	defer leave()
	if !c.places.stay(viewer) {
		http.Error(w, "too many pages are open; close some", http.StatusTooManyRequests)
		return
	}
	defer c.places.goAway(viewer)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // prevents buffering by proxies
	stream := &stream{w: w, conn: http.NewResponseController(w)}
	for last := [sha256.Size]byte{}; ; { // hash of the last sent part, which may be large
		body, err := c.liveBody(r, viewer, s)
		hash := sha256.Sum256(body)
		switch {
		case connect.CodeOf(err) == connect.CodeUnauthenticated:
			_ = stream.event("signed-out", nil)
			return
		case err != nil && r.Context().Err() != nil:
			return
		case err != nil:
			err, last = stream.event("stale", nil), [sha256.Size]byte{} // the next event reports that the outage is over
		case hash != last:
			err, last = stream.event("", body), hash
		default:
			err = stream.alive()
		}
		if err != nil {
			return // the viewer has disconnected
		}
		select {
		case <-r.Context().Done():
			return
		case <-c.options.Stopping:
			return
		case <-time.After(shared.UntilNextTick(time.Now())):
		}
	}
}

// liveBody returns the live part of a page as of this tick.
func (c *Console) liveBody(r *http.Request, viewer *attendance, s *screen) ([]byte, error) {
	who, err := c.identify(r)
	if err != nil {
		return nil, err
	}
	v := c.visit(r, who)
	key := fmt.Sprintf("%q %q %q %q %q", who.scope, v.Lang, v.Zone, s.name, v.Back())
	build := func(ctx context.Context) ([]byte, error) {
		end, err := c.places.build(ctx, viewer)
		if err != nil {
			return nil, err
		}
		defer end()
		v.ctx = withViewer(ctx, who)
		data, err := s.load(v)
		if err != nil {
			return nil, err
		}
		return c.templates.execute(s.name, v.show(data))
	}
	body, own, err := c.views.Share(r.Context(), v.Now, key, build)
	if !own && personal(err) {
		body, err = build(r.Context())
	}
	return body, err
}

// stream writes server-sent events.
type stream struct {
	w      http.ResponseWriter
	conn   *http.ResponseController
	spoken time.Time
}

// event sends data, with an event name unless the name is empty.
func (s *stream) event(name string, data []byte) error {
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	for line := range bytes.Lines(data) {
		fmt.Fprintf(&b, "data: %s\n", bytes.TrimRight(line, "\r\n"))
	}
	if len(data) == 0 {
		b.WriteString("data:\n")
	}
	b.WriteString("\n")
	return s.write(b.Bytes())
}

// alive tells the page that the server still responds, if the connection was silent for long.
func (s *stream) alive() error {
	if time.Since(s.spoken) < quietLimit {
		return nil
	}
	return s.event("alive", nil)
}

func (s *stream) write(text []byte) error {
	s.spoken = time.Now()
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.conn.Flush()
}
