package console

import (
	"strings"
	"time"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// waited describes what a job waited for, until it ran or until now.
type waited struct {
	Whole     time.Duration
	Shares    []waitShare
	Overtaken int          // newer jobs that started first; there may be more
	Lines     []waitedLine // most recent waits
	all       []waitedLine
}

// waitedLine is a period in which the job waited for the same causes.
type waitedLine struct {
	From, To time.Time
	Ongoing  bool
	Run      int32
	Causes   []waitCause
}

// waitCause is one thing that a job waited for.
type waitCause struct{ Code, Text string }

// Length returns the duration of the period.
func (l waitedLine) Length() time.Duration { return l.To.Sub(l.From) }

// waitedLines limits the number of listed periods; the last ones are listed.
const waitedLines = 50

// noticed is the minimum wait of a job before its reasons are queried. Shorter waits are
// not recorded anyway.
const noticed = time.Second

// waitedFor returns what a job waited for, or nil if it has not waited noticeably.
func (v *visit) waitedFor(job *fairleadv1.Job) (*waited, error) {
	answer, err := v.jobs.GetJobHistory(v.ctx, &fairleadv1.GetJobRequest{Id: job.GetId()})
	if connect.CodeOf(err) == connect.CodeNotFound {
		return nil, nil // the job was deleted
	}
	if err != nil {
		return nil, err
	}
	out := &waited{}
	for _, s := range answer.GetStretches() {
		line := waitedLine{From: moment(s.GetFrom()), To: moment(s.GetUntil()), Run: s.GetRun()}
		if line.To.IsZero() {
			line.To, line.Ongoing = moment(answer.GetAt()), true
		}
		for _, o := range s.GetCauses() {
			line.Causes = append(line.Causes, waitCause{o.GetCode(), v.held(job, o)})
		}
		out.all = append(out.all, line)
	}
	if n := len(out.all); n == 0 || out.all[n-1].To.Sub(out.all[0].From) < noticed {
		return nil, nil
	}
	out.Shares = waitShares(out.all)
	for _, share := range out.Shares {
		out.Whole += share.Length
	}
	out.Lines = out.all[max(0, len(out.all)-waitedLines):]
	out.Overtaken, err = v.overtakenBy(job, out)
	return out, err
}

// held describes in the past tense what a job waited for.
func (v *visit) held(job *fairleadv1.Job, o *fairleadv1.Obstacle) string {
	switch o.GetCode() {
	case "paused":
		return v.T("%s was paused.", v.owner(o))
	case "at_cap":
		if hiddenParent(o) {
			return v.T("The parent tenant was at its cap.")
		}
		return v.T("%s was at its cap of %s.", v.owner(o), v.Num(o.GetCap()))
	case "over_rate":
		return v.T("%s had reached its start rate.", v.owner(o))
	case "no_node":
		return v.T("No live node served queue %q and handled kind %q.", job.GetQueue(), job.GetKind())
	case "no_slot":
		return v.T("All slots on eligible nodes were busy.")
	case "at_gate":
		return v.T("All slots of concurrency key %q were taken.", job.GetConcurrencyKey())
	case "in_line":
		return v.T("Other jobs were first in line.")
	case "not_due":
		return v.T("The job was backing off after a failure or waiting for its turn.")
	case "unrecorded":
		return v.T("Nothing was recorded for this period.")
	}
	return strings.TrimSuffix(o.GetText(), ".") + "."
}
