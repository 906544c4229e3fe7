package console

import (
	"cmp"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// action is an operation that a viewer may perform: a form that describes the effect, and
// the function that carries it out. The form is a separate page. In browsers that run
// scripts, it opens as a dialog over the page with its button.
type action struct {
	name   string // name of the form's template
	path   string // path of the form, which also receives it
	Title  string // title of the form
	Button string // label of the submit button; empty = Title
	Nav    string // active navigation entry
	method string // API method that the action calls; it determines the required role
	Grave  bool   // whether the action ends or removes something
	load   func(*visit) (any, error)
	do     func(*visit) (done, error)
	Files  bool                                           // whether the form accepts files
	whatIf func(*visit) (*fairleadv1.WhatIfChange, error) // returns the change for a forecast of the effect; nil = no forecast
	test   func(*visit) (*fairleadv1.Schedule, error)     // returns a schedule whose HTTP request can be sent as a test; nil = no test
	Ask    string                                         // for a form that only asks for the forecast: API method that saves the input; empty = the form saves
	Check  string                                         // label of a first step that shows the input as the API understands it; empty = no such step
}

// DoLabel returns the label of the submit button.
func (a *action) DoLabel() string { return cmp.Or(a.Button, a.Title) }

// Cancels reports whether the action cancels something. The button that leaves its form is
// then called Close: two buttons called Cancel would be a trap.
func (a *action) Cancels() bool { return strings.HasPrefix(a.Title, "Cancel") }

// done is the result of an action.
type done struct {
	Notice string // message on the next page
	To     string // path of the next page, below the prefix; empty = the page with the button
	Show   any    // data for the template "NAME-done", which is shown once before the next page; nil = none
}

// actForm is the data for a form's template.
type actForm struct {
	*action
	Problem  string      // error of the last attempt; empty = no attempt yet
	Checked  string      // mark of the input, if it was checked and is valid
	Done     bool        // whether the action is done and Data is its result
	Foreseen *foreseen   // forecast of the effect; nil = not requested
	Tested   *testedCall // result of a test request; nil = not requested
	Kept     []kept      // fields of the request, if the form itself cannot be shown
	Data     any
}

// barred is implemented by form data that can block the action.
type barred interface {
	// Barred reports whether something else must be done first, which the form describes.
	Barred() bool
}

// Barred reports whether the form has no submit button, because the API would refuse the
// action.
func (f *actForm) Barred() bool {
	data, is := f.Data.(barred)
	return is && data.Barred()
}

// form serves the form of an action.
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
	if err := v.revert(); err != nil {
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

// maxForm limits the size of a form in bytes: forms with a file or a list are large.
const maxForm = 16 << 20

// act carries out the action of a form. If the API refuses, it shows the form again, with
// the error, the input and the current values.
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
	c.forget() // actions must decide based on the current state
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

// carryOut carries out the action after the form was read.
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

// notDone shows the form again with the reason why the action failed.
func (c *Console) notDone(w http.ResponseWriter, v *visit, a *action, err error) {
	c.forget() // the form must show the current state
	data, failed := a.load(v)
	switch {
	case unanswered(err) && failed != nil:
		c.keep(w, v, a, v.T("The database is not responding, and the change may or may not have been saved. Your input is kept here; check the current state before you submit it again."))
		return
	case connect.CodeOf(err) == connect.CodeUnauthenticated || failed != nil:
		c.refuse(w, v, err)
		return
	}
	status, text := v.refusal(err)
	if unanswered(err) {
		text = v.T("The database did not respond, and the change may or may not have been saved. Check the current state before you submit it again.")
	}
	if status == http.StatusInternalServerError {
		c.options.Log.Error("console action failed", "path", v.Path, "error", err)
	}
	c.renderForm(w, status, v, &actForm{action: a, Problem: text, Data: data})
}

// renderForm renders a form: on its own for a script, or otherwise as a page.
func (c *Console) renderForm(w http.ResponseWriter, status int, v *visit, form *actForm) {
	name := "action-page"
	if v.byScript() {
		name = "action-form"
	}
	shown := v.show(form)
	shown.Screen = &screen{name: form.name, Title: form.Title, Nav: form.Nav}
	c.render(w, status, name, shown)
}

// scripted is the header by which scripts request and submit forms.
const scripted = "X-Fairlead-Dialog"

// byScript reports whether the request comes from a script of a page.
func (v *visit) byScript() bool { return v.request.Header.Get(scripted) != "" }

// goOn redirects to a page of the console. A script gets the URL in a header, because it
// would follow a redirect without displaying the page.
func (c *Console) goOn(w http.ResponseWriter, r *http.Request, to string) {
	if r.Header.Get(scripted) == "" {
		c.redirect(w, r, to)
		return
	}
	w.Header().Set("X-Location", c.options.Prefix+localPath(to))
	w.WriteHeader(http.StatusNoContent)
}

// forget clears the caches, so that the next pages show the current state.
func (c *Console) forget() {
	c.views.Forget()
	c.stats.Forget()
	c.loads.Forget()
	c.services.sharing.forget()
}

// Next returns the page after the action: the page with the button, or the page of the
// action's object, or the list of such objects.
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

// listedAt contains the lists of objects without a page of their own.
var listedAt = map[string]string{"queues": "/queues", "kinds": "/queues", "limits": "/tenants", "tokens": "/tokens", "new": "/"}

// Leave returns the URL of that page, for leaving the form without an action.
func (v *visit) Leave() string { return v.console.options.Prefix + v.Next() }
