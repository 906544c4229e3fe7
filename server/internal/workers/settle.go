package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// Values of RunEnd.outcome.
const (
	outcomeSucceed = "succeed"
	outcomeFail    = "fail"
	outcomeFatal   = "fatal"
	outcomeSnooze  = "snooze"
	outcomeRelease = "release"
	outcomeAwait   = "await"
)

// SettleJobs ends runs with the results that their worker reports.
func (s *Service) SettleJobs(ctx context.Context, in *fairleadv1.SettleJobsRequest) (*fairleadv1.SettleJobsResponse, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	ends := in.GetSettlements()
	if err := checkEnds(ends, caller.Of(ctx).Identity); err != nil {
		return nil, err
	}
	ctx, cancel := s.brief(ctx)
	defer cancel()
	id := fairlead.NodeID(in.GetId())
	jobs, err := s.ownJobs(ctx, id, ends)
	if err != nil {
		return nil, err
	}
	node, err := s.settler(ctx, id)
	if err != nil {
		return nil, err
	}
	reported := newReport(&node, jobs, ends)
	settled, err := s.store.Settle(ctx, reported.settlements)
	if err != nil {
		return nil, err
	}
	s.crewOf(id).settled(reported.ended(settled))
	if !in.GetTakesHeld() {
		if err := s.settleHeld(ctx, id, reported, settled); err != nil {
			return nil, err
		}
	}
	s.Ended(reported.endedJobs(jobs, settled)...)
	for i, at := range reported.at {
		reported.results[at].Result, reported.results[at].State = resultOf(reported.settlements[i], settled[i])
	}
	return &fairleadv1.SettleJobsResponse{Results: reported.results}, nil
}

// heldPause is the delay between two attempts to settle jobs that are locked by an open
// transaction.
const heldPause = 100 * time.Millisecond

// settleHeld settles the jobs answered as held, for a worker that does not know this
// answer. Such a worker takes a call that fails quickly for a rejection, and gives up the
// run as failed: so the call waits as long as possible before it fails.
func (s *Service) settleHeld(ctx context.Context, id fairlead.NodeID, reported *report, settled []fairlead.Settled) error {
	for i := range settled {
		for settled[i] == fairlead.SettledHeld {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: an open transaction holds job %d", fairlead.ErrUnavailable, reported.settlements[i].ID)
			case <-time.After(heldPause):
			}
			again, err := s.store.Settle(ctx, reported.settlements[i:i+1])
			if err != nil {
				return err
			}
			settled[i] = again[0]
		}
	}
	s.crewOf(id).settled(reported.ended(settled))
	return nil
}

// ended returns the leases that ended according to the store's answers.
func (b *report) ended(settled []fairlead.Settled) []driver.Held {
	var ended []driver.Held
	for i, lease := range b.held {
		if settled[i] != fairlead.SettledHeld {
			ended = append(ended, lease)
		}
	}
	return ended
}

// endedJobs returns the jobs whose runs ended according to the store's answers.
func (b *report) endedJobs(jobs map[driver.Held]*fairlead.Job, settled []fairlead.Settled) []*fairlead.Job {
	var ended []*fairlead.Job
	for _, lease := range b.ended(settled) {
		ended = append(ended, jobs[lease])
	}
	return ended
}

// report is a set of ended runs reported by a worker.
type report struct {
	results     []*fairleadv1.RunEnded
	settlements []fairlead.Settlement // settlements of jobs that still run
	held        []driver.Held
	at          []int // positions of their results
}

func newReport(node *fairlead.Node, jobs map[driver.Held]*fairlead.Job, ends []*fairleadv1.RunEnd) *report {
	b := &report{results: make([]*fairleadv1.RunEnded, len(ends))}
	for i, end := range ends {
		b.results[i] = &fairleadv1.RunEnded{Id: end.GetId(), Result: resultLost}
		job := jobs[driver.Held{ID: end.GetId(), Fence: end.GetFence()}]
		if job == nil {
			continue
		}
		settlement := settlementOf(job, node, end)
		if job.State != fairlead.Running {
			b.results[i].Result, b.results[i].State = resultOfRepeat(job, settlement)
			continue
		}
		b.settlements, b.held, b.at = append(b.settlements, settlement), append(b.held, heldOf(job)), append(b.at, i)
	}
	return b
}

// resultOfRepeat returns the result of a settlement for a run that has already ended:
// either it ended as requested, or the job continued without the worker.
func resultOfRepeat(job *fairlead.Job, settlement fairlead.Settlement) (result, state string) {
	result, state = resultOf(settlement, fairlead.SettledAsAsked)
	switch {
	case wasTaken(job):
		return resultLost, ""
	case state == string(job.State):
		return result, state
	case job.State == fairlead.Cancelled:
		return resultCancelled, string(job.State)
	}
	return resultLost, ""
}

// wasTaken reports whether a job ended because it was taken from its node, and not because
// of a report by the worker.
func wasTaken(job *fairlead.Job) bool {
	switch job.Reason {
	case fairlead.ReasonCrash, fairlead.ReasonPoison, fairlead.ReasonReplaced:
		return true
	}
	return false
}

// settler returns the worker as it joined. A worker that has died since may still report
// the results of its jobs: they count unless the jobs were taken back.
func (s *Service) settler(ctx context.Context, id fairlead.NodeID) (fairlead.Node, error) {
	node, err := s.roster.find(ctx, id)
	if errors.Is(err, fairlead.ErrLeaseLost) {
		return fairlead.Node{ID: id}, nil
	}
	return node, err
}

// ownJobs returns those of the jobs whose current or last run belongs to the worker. A
// worker cannot settle runs of others.
func (s *Service) ownJobs(ctx context.Context, id fairlead.NodeID, ends []*fairleadv1.RunEnd) (map[driver.Held]*fairlead.Job, error) {
	ids := make([]int64, len(ends))
	for i, end := range ends {
		ids[i] = end.GetId()
	}
	jobs, err := s.store.Find(ctx, fairlead.Filter{IDs: ids, Limit: len(ids)})
	if err != nil {
		return nil, err
	}
	own := make(map[driver.Held]*fairlead.Job, len(jobs))
	for _, job := range jobs {
		if job.Node == id {
			own[heldOf(job)] = job
		}
	}
	return own, nil
}

// checkEnds rejects results that a node would not accept from its handlers, and jobs that
// the worker's token does not cover.
func checkEnds(ends []*fairleadv1.RunEnd, who caller.Identity) error {
	seen := make(map[int64]bool, len(ends))
	refusal := &fairlead.InvalidError{}
	for i, end := range ends {
		at := fmt.Sprintf("settlements[%d].", i)
		refuse := func(field, message string) {
			refusal.Fields = append(refusal.Fields, fairlead.FieldError{Field: at + field, Message: message})
		}
		if seen[end.GetId()] {
			refuse("id", "appears twice; a run ends once")
		}
		seen[end.GetId()] = true
		for field, raw := range map[string][]byte{"output": end.GetOutput(), "memo": end.GetMemo(), "progress": end.GetProgress()} {
			var invalid *fairlead.InvalidError
			if errors.As(fairlead.CheckJSON(at+field, raw), &invalid) {
				refusal.Fields = append(refusal.Fields, invalid.Fields...)
			}
		}
		if replace := end.GetReplace(); replace != nil {
			var invalid *fairlead.InvalidError
			if errors.As(scope.CheckUnreserved(at+"replace.", message.NewJobOf(replace)), &invalid) {
				refusal.Fields = append(refusal.Fields, invalid.Fields...)
			}
			refusal.Fields = append(refusal.Fields, who.CheckNewJob(at+"replace.", replace)...)
		}
		after := end.GetAfter().AsDuration()
		switch outcome := end.GetOutcome(); {
		case after < 0:
			refuse("after", fmt.Sprintf("is %v; it must be positive", after))
		case outcome == outcomeAwait && after == 0:
			refuse("after", "is missing; set how long to wait for the answer")
		case outcome != outcomeSucceed && end.GetReplace() != nil:
			refuse("replace", "is allowed only with succeed; omit it")
		case outcome == outcomeFatal && end.GetReason() != "":
			refuse("reason", "is allowed only with fail; omit it")
		case outcome != outcomeAwait && end.GetOrRetry():
			refuse("or_retry", "is allowed only with await; omit it")
		}
	}
	if len(refusal.Fields) > 0 {
		return refusal
	}
	return nil
}

// settlementOf returns the settlement of a job for the reported end of its run.
func settlementOf(job *fairlead.Job, node *fairlead.Node, end *fairleadv1.RunEnd) fairlead.Settlement {
	err, cause := returned(end)
	if job.CancelWish {
		cause = verdict.ErrCancelled
	}
	entry := driver.EntryOf(node, job.Kind)
	if end.GetOutcome() == outcomeFail && end.GetAfter() != nil {
		entry.Options.RetryDelay = func(*fairlead.Job, error) time.Duration { return end.GetAfter().AsDuration() }
	}
	s := verdict.Decide(job, entry, err, cause, end.GetOutput())
	s.Unstarted = s.Move == fairlead.MoveRelease && end.GetUnstarted()
	if memo := end.GetMemo(); len(memo) > 0 {
		s.Memo = memo
	}
	if progress := end.GetProgress(); len(progress) > 0 {
		s.Progress = progress
	}
	return s
}

// returned returns the error that a handler on a node would have returned, and the cause of
// the end of its context.
func returned(end *fairleadv1.RunEnd) (err, cause error) {
	after, at := end.GetAfter().AsDuration(), message.TimeOf(end.GetAt())
	switch end.GetOutcome() {
	case outcomeFatal:
		return fairlead.Fatal(failure(end)), nil
	case outcomeSnooze:
		if !at.IsZero() {
			return fairlead.SnoozeUntil(at), nil
		}
		return fairlead.SnoozeFor(after), nil
	case outcomeRelease:
		return fairlead.Release(), nil
	case outcomeAwait:
		if end.GetOrRetry() {
			return fairlead.Await(after).OrRetry(), nil
		}
		return fairlead.Await(after), nil
	case outcomeFail:
		return failed(end)
	}
	if replace := end.GetReplace(); replace != nil {
		return fairlead.Replace(message.NewJobOf(replace)), nil
	}
	return nil, nil
}

// failed returns the error that a failed handler would have returned.
func failed(end *fairleadv1.RunEnd) (err, cause error) {
	at := message.TimeOf(end.GetAt())
	switch {
	case end.GetReason() == string(fairlead.ReasonTimeout):
		return failure(end), verdict.ErrTimeout
	case end.GetReason() == string(fairlead.ReasonPanic):
		return &verdict.PanicError{Text: failure(end).Error()}, nil
	case !at.IsZero():
		return fairlead.RetryAt(at, failure(end)), nil
	}
	return failure(end), nil
}

func failure(end *fairleadv1.RunEnd) error {
	if end.GetError() == "" {
		return errors.New("the worker gave no reason for the failure")
	}
	return errors.New(end.GetError())
}

// Values of RunEnded.result.
const (
	resultAsAsked   = "as_asked"
	resultCancelled = "cancelled"
	resultLost      = "lost"
	resultHeld      = "held"
)

// resultOf returns the result of a settlement for the worker.
func resultOf(settlement fairlead.Settlement, settled fairlead.Settled) (result, state string) {
	switch settled {
	case fairlead.SettledLost:
		return resultLost, ""
	case fairlead.SettledHeld:
		return resultHeld, ""
	case fairlead.SettledCancelled:
		return resultCancelled, string(fairlead.Cancelled)
	}
	switch settlement.Move {
	case fairlead.Drop:
		return resultCancelled, string(fairlead.Cancelled)
	case fairlead.Succeed:
		return resultAsAsked, string(fairlead.Succeeded)
	case fairlead.Fail:
		return resultAsAsked, string(fairlead.Failed)
	case fairlead.MoveAwait:
		return resultAsAsked, string(fairlead.Waiting)
	case fairlead.MoveRelease:
		return resultAsAsked, string(fairlead.Ready)
	}
	return resultAsAsked, string(fairlead.Scheduled)
}

// SaveProgress stores the progress that a worker reports for a running job.
func (s *Service) SaveProgress(ctx context.Context, in *fairleadv1.SaveProgressRequest) (*fairleadv1.SaveProgressResponse, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	for field, raw := range map[string][]byte{"progress": in.GetProgress(), "memo": in.GetMemo()} {
		if err := fairlead.CheckJSON(field, raw); err != nil {
			return nil, err
		}
	}
	ctx, cancel := s.brief(ctx)
	defer cancel()
	end := &fairleadv1.RunEnd{Id: in.GetJob(), Fence: in.GetFence()}
	own, err := s.ownJobs(ctx, fairlead.NodeID(in.GetId()), []*fairleadv1.RunEnd{end})
	if err != nil {
		return nil, err
	}
	if len(own) == 0 || own[driver.Held{ID: in.GetJob(), Fence: in.GetFence()}] == nil {
		return nil, fmt.Errorf("job %d: %w", in.GetJob(), fairlead.ErrLeaseLost)
	}
	save := fairlead.Save{ID: in.GetJob(), Fence: in.GetFence(), Progress: in.GetProgress(), Memo: in.GetMemo()}
	return &fairleadv1.SaveProgressResponse{}, s.store.Save(ctx, save)
}
