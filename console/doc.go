// Package console is the web console: an http.Handler with pages that show what a
// cluster does and why a job does not run.
//
// # Where it stands
//
// The console is a client of the service's API like any other. It is given the handler
// of that API, calls it in process with the token of the viewer, and knows no store:
// roles, tenant scopes and the audit log hold for a page as they hold for a call.
//
// # A screen
//
// A screen is a path, a function that loads what it shows, and a template with two
// parts: "NAME-head" is sent once, with filters and whatever a person may be typing
// into; "NAME" is live, and is sent again when it has changed. All screens are listed in
// screens.go.
//
// # An action
//
// An action is a path with a form, a function that loads what the form shows, and one that
// does what it says by calling the API; the lists of them stand beside what they are about,
// and actions.go puts them together. The form is a page, and opens over the page where its
// button is if the browser runs scripts. It says what will be touched before it is sent. If
// the API refuses, the form is shown again, with what was typed and with what has changed
// since it was opened. After an action nothing is shown that was read before it.
//
// # Many viewers
//
// Time is cut into ticks of two seconds. Within a tick a question to the API is asked
// once for all viewers who may see the same, and a page is rendered once for all who
// read it in the same language and zone. What the database has to do does not grow with
// the number of open pages.
//
// # Numbers
//
// A number that counts rows is drawn by the template "count", which makes it a link to
// exactly these rows. A count that stopped at a bound leads to a list with that bound.
package console
