package console

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"

	"connectrpc.com/connect"
)

// kept is a submitted form field, if the form cannot be shown as it was because the
// database does not respond. Submitting it again sends the same value.
type kept struct{ Name, Value string }

// maxUnknown limits the number of bytes read of a form from an unidentified viewer.
const maxUnknown = 1 << 20

// turnAway responds to a form of a viewer who may not send it, or whose permissions are
// unknown because the database does not respond: in that case nothing was done, and the
// input is retained.
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

// keep shows a form with the input and the reason why the action was not carried out.
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

// unanswered reports whether the database did not respond, so that it is unknown whether a
// request took effect.
func unanswered(err error) bool {
	code := connect.CodeOf(err)
	return err != nil && (code == connect.CodeUnavailable || code == connect.CodeDeadlineExceeded)
}

// Once returns a token that is unique to this form: jobs and objects created with it are
// created only once, however often the form is submitted.
func (v *visit) Once() string {
	if once := v.posted.Get("once"); once != "" {
		return once
	}
	return rand.Text()
}

type onceKey struct{}

// withOnce makes API calls that enqueue jobs take effect only once for a key.
func withOnce(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}
