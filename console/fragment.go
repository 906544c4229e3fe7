package console

import (
	"net/http"

	"connectrpc.com/connect"
)

// fragment is a part of a form that is updated while the user types: browsers that run
// scripts send the form to its path. It changes nothing.
type fragment struct {
	name   string // name of its template
	path   string
	method string // API method that it calls, which determines the required role
	load   func(*visit) (any, error)
}

// fragments lists all fragments.
var fragments = []fragment{
	{name: "backfill-count", path: "/schedules/{id}/backfill/count", method: "PreviewBackfill", load: loadBackfill},
	{name: "fires-preview", path: "/new/schedule/fires", method: "PreviewTiming", load: loadFiresPreview},
	{name: "fires-preview", path: "/schedules/{id}/edit/fires", method: "PreviewTiming", load: loadFiresPreview},
	{name: "calendar-effect", path: "/new/calendar/effect", method: "CreateCalendar", load: loadCalendarEffect},
	{name: "calendar-effect", path: "/calendars/{name}/edit/effect", method: "UpdateCalendar", load: loadCalendarEffect},
}

// maxFragment limits the number of bytes read while the user types; larger input is
// validated on submission.
const maxFragment = 1 << 20

// part serves a fragment. If the API refuses, the error is shown in its place with a
// success status, because the form is not complete yet.
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
