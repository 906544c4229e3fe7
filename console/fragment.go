package console

import (
	"net/http"

	"connectrpc.com/connect"
)

// fragment is a part of a form that is made anew while one types: a browser that runs
// scripts sends the form to its path. It changes nothing.
type fragment struct {
	name   string // of its template
	path   string
	method string // of the API that it asks, which says who may
	load   func(*visit) (any, error)
}

// fragments are all of them.
var fragments = []fragment{
	{name: "backfill-count", path: "/schedules/{id}/backfill/count", method: "PreviewBackfill", load: loadBackfill},
	{name: "fires-preview", path: "/new/schedule/fires", method: "PreviewTiming", load: loadFiresPreview},
	{name: "fires-preview", path: "/schedules/{id}/edit/fires", method: "PreviewTiming", load: loadFiresPreview},
	{name: "calendar-effect", path: "/new/calendar/effect", method: "CreateCalendar", load: loadCalendarEffect},
	{name: "calendar-effect", path: "/calendars/{name}/edit/effect", method: "UpdateCalendar", load: loadCalendarEffect},
}

// maxFragment is how many bytes are read while one types: what is more is judged when the
// form is sent.
const maxFragment = 1 << 20

// part answers with a fragment. What the API refuses takes its place: the form is not done
// yet, so that is no failure.
func (c *Console) part(w http.ResponseWriter, r *http.Request, f *fragment) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFragment)
	who, err := c.identify(r)
	v := c.visit(r, who)
	if err == nil && !v.May(f.method) {
		err = errMayNot(v)
	}
	if err == nil {
		err = v.readForm()
	}
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		http.Error(w, v.T("The token is unknown, revoked or expired. Ask an admin for a new one."), http.StatusUnauthorized)
		return
	}
	page, leave := c.place(w, r)
	if page == nil {
		return
	}
	defer leave()
	var data any
	if err == nil {
		data, err = f.load(v)
	}
	if err != nil {
		_, text := v.refusal(err)
		c.render(page, http.StatusOK, "unready", v.show(text))
		return
	}
	c.render(page, http.StatusOK, f.name, v.show(data))
}
