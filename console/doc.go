// Package console is the web console: an http.Handler with pages that show the activity of
// a cluster and explain why jobs are not running.
//
// # Architecture
//
// The console is a regular client of the service's API. It receives the handler of that
// API, calls it in process with the viewer's token, and has no access to a store: roles,
// tenant restrictions and the audit log apply to pages in the same way as to API calls.
//
// # Screens
//
// A screen consists of a path, a function that loads its data, and a template with two
// parts: "NAME-head" is sent once, with filters and everything that a user may be typing
// into; "NAME" is live, and is sent again after each change. screens.go lists all screens.
//
// # Actions
//
// An action consists of a path with a form, a function that loads the form's data, and one
// that carries out the action by calling the API. The lists of actions are next to the code
// of their objects, and actions.go combines them. The form is a page; in browsers that run
// scripts, it opens as a dialog over the page with its button. It describes the effect
// before it is submitted. If the API refuses, the form is shown again, with the input and
// with the values that have changed since it was opened. After an action, pages show no
// data read before it.
//
// A fragment is a part of a form that is updated through the API while the user types, such
// as the next fires of a schedule. Long forms are always separate pages.
//
// An action with a Check first shows the input as the API understands it, without storing
// anything: submitting exactly the same input again carries it out. Buttons determine when
// they are offered; the API determines what is done.
//
// # Many viewers
//
// Time is divided into ticks of two seconds. Within a tick, a query to the API is made once
// for all viewers with the same permissions, and a page is rendered once for all of them
// with the same language and time zone. So the load on the database does not grow with the
// number of open pages.
//
// # Numbers
//
// The template "count" renders a number of rows as a link to exactly these rows. A count
// that stopped at a limit links to a list with that limit.
package console
