package console

import (
	"cmp"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// action is something that a viewer may do: a form that says what will happen, and what
// does it. The form is a page of its own, and opens over the page where its button is if
// the browser runs scripts.
type action struct {
	name   string // of the template of what stands in the form
	path   string // of the form; what it is sent to as well
	Title  string // what is done
	Button string // that does it; empty: the title says it
	Nav    string // the entry of the navigation that is marked
	method string // of the API that does it, which says who may
	Grave  bool   // something is ended or taken away
	load   func(*visit) (any, error)
	do     func(*visit) (done, error)
	Files  bool                                           // it takes files
	whatIf func(*visit) (*fairleadv1.WhatIfChange, error) // what would be saved, to see what would happen; nil: that is not asked
	test   func(*visit) (*fairleadv1.Schedule, error)     // whose HTTP request can be sent before the form is; nil: there is none
	Ask    string                                         // the method that saves, which its own button does: all that is asked for is what would happen; empty: the form is sent to be saved
	Check  string                                         // what is done first: what was sent is shown as it will be understood; empty: there is no such step
}

// DoLabel is what the button says that does it.
func (a *action) DoLabel() string { return cmp.Or(a.Button, a.Title) }

// done is what came of an action.
type done struct {
	Notice string // what is said of it on the next page
	To     string // that page, below the prefix; empty: the one where the button was
	Show   any    // what the template "NAME-done" shows first, once; nil: nothing
}

// actForm is what the template of a form is given.
type actForm struct {
	*action
	Problem  string      // why it was not done; empty: it was not tried
	Checked  string      // the mark of what was sent, if that was checked and is sound
	Done     bool        // it was done: Data is what is to be shown of it
	Foreseen *foreseen   // what would happen; nil: that was not asked
	Tested   *testedCall // nil: no request was sent
	Kept     []kept      // what was sent, if the form itself cannot be shown
	Data     any
}

// barred is what the form of an action shows if the action may not be done yet.
type barred interface {
	// Barred reports whether something has to be done first, which the form says.
	Barred() bool
}

// Barred reports whether there is no button that does it, because the API would refuse.
func (f *actForm) Barred() bool {
	data, is := f.Data.(barred)
	return is && data.Barred()
}

// form answers with the form of an action.
func (c *Console) form(w http.ResponseWriter, r *http.Request, a *action) {
	who, err := c.identify(r)
	v := c.visit(r, who)
	if err == nil && !v.May(a.method) {
		err = errMayNot(v)
	}
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	data, err := a.load(v)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	c.renderForm(w, http.StatusOK, v, &actForm{action: a, Data: data})
}

// maxForm is how many bytes a form may have: those with a file or a list in it are large.
const maxForm = 16 << 20

// act does what a form says. What the API refuses is said in the form, with what was
// typed and with what there is by now.
func (c *Console) act(w http.ResponseWriter, r *http.Request, a *action) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	who, err := c.identify(r)
	v := c.visit(r, who)
	if err == nil && !v.May(a.method) {
		err = errMayNot(v)
	}
	if err != nil {
		c.turnAway(w, v, a, err)
		return
	}
	c.forget() // what an action decides by is what is now
	err = v.readForm()
	page, leave := c.place(w, r)
	if page == nil {
		return
	}
	defer leave()
	if err != nil {
		c.notDone(page, v, a, err)
		return
	}
	c.carryOut(page, v, a)
}

// carryOut does what a form says that was read.
func (c *Console) carryOut(w http.ResponseWriter, v *visit, a *action) {
	if v.posted.Get("once") != "" {
		v.ctx = withOnce(v.ctx, v.mark())
	}
	if a.whatIf != nil && (v.posted.Get("what_if") != "" || a.Ask != "" && v.posted.Get("save") == "") {
		c.foresee(w, v, a)
		return
	}
	if a.test != nil && v.posted.Get("test") != "" {
		c.testCall(w, v, a)
		return
	}
	if a.Check != "" && !v.checked() {
		c.check(w, v, a)
		return
	}
	result, err := a.do(v)
	if err != nil {
		c.notDone(w, v, a, err)
		return
	}
	c.forget()
	to := result.To
	if to == "" {
		to = v.Next()
	}
	if result.Show != nil {
		v.posted.Set("next", to)
		c.renderForm(w, http.StatusOK, v, &actForm{action: a, Done: true, Data: result.Show})
		return
	}
	c.setNotice(w, v.request, result.Notice)
	c.goOn(w, v.request, to)
}

// notDone shows the form again, and says why nothing came of it.
func (c *Console) notDone(w http.ResponseWriter, v *visit, a *action, err error) {
	c.forget() // the form shows what is now
	data, failed := a.load(v)
	switch {
	case unanswered(err) && failed != nil:
		c.keep(w, v, a, v.T("The database is not responding, and the change may or may not have been made. Your input is kept here; check the current state before you submit it again."))
		return
	case connect.CodeOf(err) == connect.CodeUnauthenticated || failed != nil:
		c.refuse(w, v, err)
		return
	}
	status, text := v.refusal(err)
	if unanswered(err) {
		text = v.T("The database did not respond, and the change may or may not have been made. Check the current state before you submit it again.")
	}
	if status == http.StatusInternalServerError {
		c.options.Log.Error("console action failed", "path", v.Path, "error", err)
	}
	c.renderForm(w, status, v, &actForm{action: a, Problem: text, Data: data})
}

// renderForm answers with a form: alone if a script asked for it, else as a page.
func (c *Console) renderForm(w http.ResponseWriter, status int, v *visit, form *actForm) {
	name := "action-page"
	if v.byScript() {
		name = "action-form"
	}
	shown := v.show(form)
	shown.Screen = &screen{name: form.name, Title: form.Title, Nav: form.Nav}
	c.render(w, status, name, shown)
}

// scripted is the header by which a script asks for a form, or sends one.
const scripted = "X-Fairlead-Dialog"

// byScript reports whether it is a script of a page that asks.
func (v *visit) byScript() bool { return v.request.Header.Get(scripted) != "" }

// goOn leads to a page of the console. A script is told where, as it would follow by
// itself without showing it.
func (c *Console) goOn(w http.ResponseWriter, r *http.Request, to string) {
	if r.Header.Get(scripted) == "" {
		c.redirect(w, r, to)
		return
	}
	w.Header().Set("X-Location", c.options.Prefix+localPath(to))
	w.WriteHeader(http.StatusNoContent)
}

// forget makes the next pages ask for what there is now.
func (c *Console) forget() {
	c.views.forget()
	c.stats.forget()
	c.loads.forget()
	c.services.sharing.forget()
}

// Next is the page to go on with: the one where the button was, else that of what the
// action is about, or the list of such things.
func (v *visit) Next() string {
	if next := v.posted.Get("next"); next != "" {
		return localPath(next)
	}
	if next := v.Get("next"); next != "" {
		return localPath(next)
	}
	about := v.Path[:max(1, strings.LastIndexByte(v.Path, '/'))]
	first, _, _ := strings.Cut(about[1:], "/")
	if list, unpaged := listedAt[first]; unpaged {
		return list
	}
	return about
}

// listedAt is where things are listed that have no page of their own.
var listedAt = map[string]string{"queues": "/queues", "kinds": "/queues", "nodes": "/nodes", "limits": "/tenants", "tokens": "/tokens", "new": "/"}

// Leave is the way back to that page without doing anything.
func (v *visit) Leave() string { return v.console.options.Prefix + v.Next() }
