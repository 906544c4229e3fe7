package console

import (
	"errors"
	"net/url"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// bulkReads limits the number of API calls for one page of bulk actions.
const bulkReads = 20

// bulksPage is a page of bulk actions.
type bulksPage struct {
	Bulks  []*fairleadv1.Bulk
	Period *period // when they were created
	Pages  map[string]any
}

func loadBulks(v *visit) (any, error) {
	p := v.parameters()
	page := &bulksPage{Period: p.period("")}
	page.Period.Of = v.T("Created")
	ask := &fairleadv1.ListBulksRequest{PageSize: listRows, PageToken: p.page()}
	if err := p.err(); err != nil {
		return nil, err
	}
	for range bulkReads { // the API lists all bulk actions, newest first, and cannot filter by time
		found, err := v.bulks.ListBulks(v.ctx, ask)
		if err != nil {
			return nil, ofPage(err)
		}
		ask.PageToken = found.GetNextPageToken()
		for _, b := range found.GetItems() {
			switch created := moment(b.GetCreatedAt()); {
			case created.Before(page.Period.From):
				ask.PageToken = "" // the others are older
			case page.Period.has(created):
				page.Bulks = append(page.Bulks, b)
			}
		}
		if len(page.Bulks) > 0 || ask.PageToken == "" {
			break
		}
	}
	page.Pages = v.further(ask.PageToken)
	return page, nil
}

// bulkPage shows a bulk action and the jobs that it left unchanged.
type bulkPage struct {
	Bulk   *fairleadv1.Bulk
	Filter []string // the filter in words
	Ended  []stateCount
	Misses []*fairleadv1.BulkMiss
	Pages  map[string]any
}

func loadBulk(v *visit) (any, error) {
	p := v.parameters()
	token := p.page()
	if err := p.err(); err != nil {
		return nil, err
	}
	bulk, err := v.bulkOf()
	if err != nil {
		return nil, err
	}
	misses, err := v.bulks.ListBulkMisses(v.ctx, &fairleadv1.ListBulkMissesRequest{Id: bulk.GetId(), PageSize: listRows, PageToken: token})
	if err != nil {
		return nil, ofPage(err)
	}
	ended, err := v.endedSince(bulk)
	if err != nil {
		return nil, err
	}
	return &bulkPage{Bulk: bulk, Filter: v.filterWords(bulkQuery(bulk)), Ended: ended, Misses: misses.GetItems(), Pages: v.further(misses.GetNextPageToken())}, nil
}

// bulkOf returns the bulk action of a page or a form.
func (v *visit) bulkOf() (*fairleadv1.Bulk, error) {
	id, isNumber := number(v.Value("id"))
	if !isNumber {
		return nil, connect.NewError(connect.CodeNotFound, errors.New(v.T("A bulk action ID must be a number.")))
	}
	return v.bulks.GetBulk(v.ctx, &fairleadv1.GetBulkRequest{Id: id})
}

// BulkName returns the display name of the action.
func (v *visit) BulkName(action string) string {
	switch action {
	case "cancel":
		return v.T("Cancel all")
	case "retry":
		return v.T("Run all again")
	case "run":
		return v.T("Run all now")
	case "delete":
		return v.T("Delete all")
	case "prioritize":
		return v.T("Change priority of all")
	case "move":
		return v.T("Move all to another queue")
	}
	return action
}

// BulkEnded reports whether the bulk action has ended.
func (v *visit) BulkEnded(state string) bool {
	return state == "completed" || state == "stopped" || state == "failed"
}

// BulkBar returns the progress bar of a bulk action. A completed one has processed all jobs
// that it will: matching jobs may have been deleted before.
func (v *visit) BulkBar(b *fairleadv1.Bulk) segmented {
	met := b.GetDone() + b.GetMissed()
	whole := max(met, b.GetMatched(), 1)
	if b.GetState() == "completed" {
		whole = max(met, 1)
	}
	return segmented{
		Label: v.T("%s of %s jobs processed", v.Num(met), v.Num(whole)),
		Segments: segments(whole,
			segment{Tone: "good", Name: v.T("Changed jobs"), N: b.GetDone()},
			segment{Tone: "held", Name: v.T("Unchanged jobs"), N: b.GetMissed()},
		),
	}
}

// Matched returns the number of jobs that matched when the bulk action was created.
func (v *visit) Matched(b *fairleadv1.Bulk) string {
	return v.countText(count{N: b.GetMatched(), More: b.GetMore()})
}

// BulkFilter returns the link to the jobs that match the filter now.
func (v *visit) BulkFilter(b *fairleadv1.Bulk) string { return v.link("/jobs", bulkQuery(b)) }

// bulkQuery returns the filter as parameters of the list of jobs.
func bulkQuery(b *fairleadv1.Bulk) url.Values {
	query := filterQuery(b.GetFilter())
	if b.GetCause() != "" {
		query.Set("like", b.GetCause())
	}
	return query
}

// selectionNames are the labels of buttons for selected rows.
var selectionNames = map[string]string{
	"retry": "Run again", "run": "Run now", "prioritize": "Change priority", "move": "Move", "cancel": "Cancel", "delete": "Delete",
}

// SelectionName returns the label of the button for an action on selected rows.
func (v *visit) SelectionName(action string) string { return v.T(selectionNames[action]) }
