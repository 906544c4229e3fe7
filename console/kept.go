package console

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"

	"connectrpc.com/connect"
)

// kept is a field of a form that was sent and cannot be shown as it was: what the form is about
// is not known while the database does not answer. Sending it again sends the same.
type kept struct{ Name, Value string }

// maxUnknown is how many bytes of a form are read of a viewer who is not known yet.
const maxUnknown = 1 << 20

// turnAway answers a form of a viewer who may not send it, or of whom that is not known as the
// database does not answer: then nothing was done, and what was typed is kept.
func (c *Console) turnAway(w http.ResponseWriter, v *visit, a *action, err error) {
	if unanswered(err) && v.request.ContentLength <= maxUnknown {
		v.request.Body = http.MaxBytesReader(w, v.request.Body, maxUnknown)
		if v.readForm() == nil {
			c.keep(w, v, a, v.T("The database is not responding, and nothing was changed. Your input is kept here; submit it again."))
			return
		}
	}
	c.refuse(w, v, err)
}

// keep answers with a form that has what was sent, and why it was not done.
func (c *Console) keep(w http.ResponseWriter, v *visit, a *action, why string) {
	form := &actForm{action: a, Problem: why}
	for _, name := range slices.Sorted(maps.Keys(v.posted)) {
		if name == "next" {
			continue // every form has it
		}
		for _, value := range v.posted[name] {
			form.Kept = append(form.Kept, kept{name, value})
		}
	}
	c.renderForm(w, http.StatusServiceUnavailable, v, form)
}

// unanswered reports whether the database did not answer: what was asked of it may be done or
// not.
func unanswered(err error) bool {
	code := connect.CodeOf(err)
	return err != nil && (code == connect.CodeUnavailable || code == connect.CodeDeadlineExceeded)
}

// Once is of this form alone: what it enqueues, or begins, counts once, however often it is sent.
func (v *visit) Once() string {
	if once := v.posted.Get("once"); once != "" {
		return once
	}
	return rand.Text()
}

type onceKey struct{}

// withOnce makes calls of the API that enqueue count once under a key.
func withOnce(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}
