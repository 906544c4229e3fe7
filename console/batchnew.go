package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// newBatch is the data of the form for a new batch: empty at first, then the parsed lines
// or their errors.
type newBatch struct {
	Preview *fairleadv1.BatchPreview // nil = not checked, or invalid
	Faults  []fault
	More    bool // whether there are more tasks than shown
}

// Sound reports whether the batch can be stored.
func (n *newBatch) Sound() bool { return n.Preview != nil }

// loadNewBatch checks the submitted batch without storing anything.
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

// batchFields lists the form fields that describe the batch, with the names of the API.
var batchFields = []string{
	"name", "type", "description", "tenant", "queue", "priority", "max_running", "rate", "timeout",
	"canary.tasks", "canary.ratio", "stop_after.failures", "stop_after.percent", "notify",
}

// batchQuery returns the batch in the form, without its tasks, as the parameters of an
// upload.
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

// Paced reports whether a field in the initially collapsed part was filled in.
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
