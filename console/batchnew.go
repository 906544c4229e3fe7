package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// newBatch is what a form for a batch shows: nothing but itself before it is sent, then
// its lines as they will be understood, or what is wrong with them.
type newBatch struct {
	Preview *fairleadv1.BatchPreview // nil: it was not checked, or cannot be stored
	Faults  []fault
	More    bool // there are more tasks than are shown
}

// Sound reports whether the batch can be stored as it is.
func (n *newBatch) Sound() bool { return n.Preview != nil }

// loadNewBatch checks what was sent, and stores nothing.
func loadNewBatch(v *visit) (any, error) {
	form := &newBatch{}
	if v.posted == nil || v.garbled {
		return form, nil
	}
	query := v.batchQuery()
	query.Set("dry_run", "true")
	preview := &fairleadv1.BatchPreview{}
	err := v.upload(query, v.posted.Get("lines"), preview)
	var refused *refusedUpload
	switch {
	case err == nil:
		form.Preview, form.More = preview, int(preview.GetTotal()) > len(preview.GetFirst())
	case !errors.As(err, &refused) || refused.Status == http.StatusUnauthorized || refused.Status == http.StatusServiceUnavailable:
		return nil, asRefusal(err)
	case len(refused.Faults) > 0:
		form.Faults = refused.Faults
	default:
		form.Faults = []fault{{Message: refused.Detail}}
	}
	return form, nil
}

// batchFields are those of the form that say what the batch is, called as the API calls
// them.
var batchFields = []string{
	"name", "type", "description", "tenant", "queue", "priority", "max_running", "rate", "timeout",
	"canary.tasks", "canary.ratio", "stop_after.failures", "stop_after.percent", "notify",
}

// batchQuery is the batch of the form without its tasks, as the parameters of an upload.
func (v *visit) batchQuery() url.Values {
	query := url.Values{}
	for _, name := range batchFields {
		if given := strings.TrimSpace(v.posted.Get(name)); given != "" {
			query.Set(name, given)
		}
	}
	if v.Name != "" {
		query.Set("creator", v.Name)
	}
	return query
}

// Paced reports whether a field was filled in that is folded away at first.
func (v *visit) Paced() bool {
	for _, name := range batchFields[2:] {
		if v.posted.Get(name) != "" {
			return true
		}
	}
	return false
}

func createBatch(v *visit) (done, error) {
	b := &fairleadv1.Batch{}
	if err := v.upload(v.batchQuery(), v.posted.Get("lines"), b); err != nil {
		return done{}, asRefusal(err)
	}
	return done{
		Notice: v.N(b.GetTotal(), "Batch with %s target created.", "Batch with %s targets created."),
		To:     batchPath(b.GetId()),
	}, nil
}
