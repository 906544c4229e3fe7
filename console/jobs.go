package console

import (
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cause"
)

const (
	listRows      = 50  // rows per page
	windowJobs    = 500 // jobs that are read at once for a text search
	windowsOfPage = 4   // windows that a page reads until one has a match
)

// jobStates lists the states of jobs, in the order of a job's life.
var jobStates = []string{"scheduled", "parked", "ready", "running", "waiting", "succeeded", "failed", "cancelled", "skipped"}

// jobList is a page of jobs.
type jobList struct {
	Jobs     []*fairleadv1.Job
	Tabs     []jobTab
	States   []string // selected states
	Period   *period  // when the jobs were created
	Filtered bool     // whether there are filters other than the state
	AtMost   bool     // whether the list ends where a count stopped
	Window   *jobWindow
	Search   *search // progress while nothing has been found, otherwise nil
	Waiting  *waiting
	Like     string
	Pages    map[string]any
	Bulk     []bulkButton
	Chosen   []string // actions on selected rows
}

// jobTab links to the jobs in a state, or to all of them.
type jobTab struct {
	State   string // empty = all
	Href    string
	Current bool
	Count   count
	Counted bool // whether the number of jobs is known
}

// jobFilter contains the filters in the parameters.
type jobFilter struct {
	*fairleadv1.ListJobsRequest
	period     *period // when the jobs were created
	text, like string  // text in the error, which requires reading the jobs
	finishedTo time.Time
	downTo     int64 // smallest job ID
	atMost     int64
}

// looks reports whether the filter requires reading jobs, because the API does not support
// it.
func (f *jobFilter) looks() bool {
	return f.text != "" || f.like != "" || f.downTo > 0 || !f.finishedTo.IsZero()
}

// ofFailures reports whether the filter selects jobs that the failures page reads.
func (f *jobFilter) ofFailures() bool {
	return slices.Equal(f.State, []string{"failed"}) && f.FinishedFrom != nil
}

// chooses reports whether there are filters other than the state.
func (f *jobFilter) chooses() bool {
	return f.looks() || len(f.Kind)+len(f.Queue)+len(f.Tenant)+len(f.Id) > 0 || f.Key != "" || f.Batch+f.Schedule > 0 || f.From != nil || f.To != nil || f.FinishedFrom != nil
}

// matches reports whether a job matches the filters that the API does not support.
func (f *jobFilter) matches(job *fairleadv1.Job) bool {
	switch {
	case job.GetId() < f.downTo:
		return false
	case !f.finishedTo.IsZero() && (job.GetFinishedAt() == nil || !moment(job.GetFinishedAt()).Before(f.finishedTo)):
		return false
	case f.text != "" && !strings.Contains(strings.ToLower(job.GetError()), strings.ToLower(f.text)):
		return false
	}
	return f.like == "" || cause.Of(job.GetError()) == f.like
}

// jobFilter reads the parameters of the list of jobs.
func (v *visit) jobFilter() (*jobFilter, error) {
	p := v.parameters()
	created := p.period("")
	created.Of = v.T("Created")
	f := &jobFilter{period: created, ListJobsRequest: &fairleadv1.ListJobsRequest{
		State: p.texts("state"), Kind: p.texts("kind"), Queue: p.texts("queue"), Tenant: p.texts("tenant"), Key: p.text("key"),
		Batch: p.number("batch"), Schedule: p.number("schedule"), From: created.starts(), To: created.ends(), FinishedFrom: p.time("finished_from"),
		Id: p.numbers("id"), PageToken: p.text("page"),
	}}
	f.finishedTo = moment(p.time("finished_to"))
	f.text, f.like, f.downTo, f.atMost = p.text("text"), p.text("like"), p.number("down_to"), p.number("at_most")
	for _, state := range f.State {
		if !slices.Contains(jobStates, state) {
			p.refuse("state", v.T("must be one of %s", strings.Join(jobStates, ", ")))
		}
	}
	if f.Batch > 0 && f.Schedule > 0 {
		p.refuse("batch", v.T("cannot be combined with schedule; specify only one of them"))
	}
	if f.Batch+f.Schedule > 0 && len(f.Id) > 0 {
		p.refuse("id", v.T("cannot be combined with schedule or batch"))
	}
	return f, p.err()
}

func loadJobs(v *visit) (any, error) {
	f, err := v.jobFilter()
	if err != nil {
		return nil, err
	}
	list := &jobList{Period: f.period, States: f.State, Like: f.like, AtMost: f.atMost > 0, Filtered: f.chooses()}
	var page foundJobs
	if f.looks() {
		list.Window, page, err = v.lookThrough(f)
	} else {
		page, err = v.readJobs(f.ListJobsRequest, rowsOf(f))
	}
	if err != nil {
		return nil, err
	}
	list.Jobs = page.jobs
	list.Bulk, list.Chosen = v.bulkButtons(f), bulkActionsOn(list.Jobs)
	list.Pages = v.jobPages(f, int64(len(list.Jobs)), page.next)
	if len(list.Jobs) == 0 && page.next != "" {
		if list.Search, err = v.searchOn(page, text(list.Pages["next"])); err != nil {
			return nil, err
		}
	}
	if list.Waiting, err = v.waitingOf(f, list.Jobs); err != nil {
		return nil, err
	}
	list.Tabs, err = v.jobTabs(f, list.Jobs, page.next != "")
	return list, err
}

// rowsOf returns the number of rows on the page.
func rowsOf(f *jobFilter) int {
	if f.atMost > 0 {
		return int(min(listRows, f.atMost))
	}
	return listRows
}

// jobPages returns the links to other pages. A limited list continues with the remaining
// number of rows.
func (v *visit) jobPages(f *jobFilter, rows int64, next string) map[string]any {
	pages := map[string]any{"first": "", "next": ""}
	if f.PageToken != "" {
		pages["first"] = v.Here("at_most", "")
	}
	switch {
	case next == "", f.atMost > 0 && rows >= f.atMost:
	case f.atMost > 0:
		pages["next"] = v.Here("page", next, "at_most", f.atMost-rows)
	default:
		pages["next"] = v.Here("page", next)
	}
	return pages
}

// readCalls limits the number of API calls for one page: where few of very many jobs match,
// each call reads a part of them.
const readCalls = 2

// foundJobs is a part of a list.
type foundJobs struct {
	jobs     []*fairleadv1.Job
	next     string // token of the next page; empty on the last page
	searched int64  // ID down to which jobs were searched
}

// readJobs reads up to rows jobs, fewer if they are hard to find or large.
func (v *visit) readJobs(filter *fairleadv1.ListJobsRequest, rows int) (read foundJobs, err error) {
	read.next = filter.GetPageToken()
	for range readCalls {
		page, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{
			State: filter.GetState(), Kind: filter.GetKind(), Queue: filter.GetQueue(), Tenant: filter.GetTenant(), Key: filter.GetKey(), Id: filter.GetId(),
			From: filter.GetFrom(), To: filter.GetTo(), FinishedFrom: filter.GetFinishedFrom(), Schedule: filter.GetSchedule(), Batch: filter.GetBatch(),
			PageToken: read.next, PageSize: int32(rows - len(read.jobs)),
		})
		if connect.CodeOf(err) == connect.CodeInvalidArgument && strings.Contains(err.Error(), "page_token") {
			return foundJobs{}, refuse("page", v.T("is not a valid page token; omit it to get the first page"))
		}
		if err != nil {
			return foundJobs{}, err
		}
		read = foundJobs{append(read.jobs, page.GetItems()...), page.GetNextPageToken(), page.GetSearchedTo()}
		if read.next == "" || len(read.jobs) >= rows {
			break
		}
	}
	return read, nil
}

// jobWindow is a part of the list that was read, with the jobs found in it.
type jobWindow struct {
	Any       bool                   // whether any jobs were read
	Old, New  *timestamppb.Timestamp // creation times of the oldest and the newest job read
	First, ID int64                  // IDs of these jobs
}

// lookThrough reads one window after the other until one has a match.
func (v *visit) lookThrough(f *jobFilter) (*jobWindow, foundJobs, error) {
	w := &jobWindow{}
	filter := proto.CloneOf(f.ListJobsRequest)
	if filter.To == nil && !f.finishedTo.IsZero() {
		filter.To = timestamppb.New(f.finishedTo) // jobs are created before they finish
	}
	var found []*fairleadv1.Job
	windows := windowsOfPage
	if f.ofFailures() {
		windows = failureWindows
	}
	for range windows {
		page, err := v.readJobs(filter, windowJobs)
		if err != nil {
			return nil, foundJobs{}, err
		}
		for _, job := range page.jobs {
			if job.GetId() < f.downTo {
				page.next = ""
				break
			}
			if !w.Any {
				w.Any, w.New, w.ID = true, job.GetCreatedAt(), job.GetId()
			}
			w.Old, w.First = job.GetCreatedAt(), job.GetId()
			if f.matches(job) && (f.atMost == 0 || int64(len(found)) < f.atMost) {
				found = append(found, job)
			}
		}
		filter.PageToken = page.next
		if page.jobs = found; len(found) > 0 || page.next == "" {
			return w, page, nil
		}
		if page.searched < f.downTo {
			return w, foundJobs{}, nil
		}
	}
	return w, foundJobs{next: filter.GetPageToken(), searched: w.First}, nil
}
