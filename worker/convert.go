package worker

import (
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
)

// What one call may carry: the service takes a thousand runs, and 16 MiB.
const (
	mostEnds  = 1000
	mostBytes = 8 << 20
	mostError = 64 << 10
)

// callful takes as many settlements as one call carries.
func callful(settlements []fairlead.Settlement) (ends []*fairleadv1.RunEnd, rest []fairlead.Settlement) {
	size := 0
	for i, s := range settlements {
		size += len(s.Output) + len(s.Memo) + len(s.Progress) + len(s.Error)
		if s.Replace != nil {
			size += len(s.Replace.Args)
		}
		if i == mostEnds || i > 0 && size > mostBytes {
			return ends, settlements[i:]
		}
		ends = append(ends, endTo(s))
	}
	return ends, nil
}

// endTo is a settlement as the service gets it. Whether a failure is the
// last is decided there.
func endTo(s fairlead.Settlement) *fairleadv1.RunEnd {
	end := &fairleadv1.RunEnd{Id: s.ID, Fence: s.Fence, Memo: s.Memo, Progress: s.Progress}
	switch s.Move {
	case fairlead.Succeed:
		end.Outcome, end.Output = "succeed", s.Output
		if s.Replace != nil {
			end.Replace = message.NewJob(s.Replace)
		}
	case fairlead.Snooze:
		end.Outcome, end.After, end.At = "snooze", message.Duration(s.After), message.Time(s.At)
	case fairlead.MoveRelease:
		end.Outcome, end.Unstarted = "release", s.Unstarted
	case fairlead.MoveAwait:
		end.Outcome, end.After, end.OrRetry = "await", durationpb.New(s.After), s.Retry != nil
	case fairlead.Again:
		end.Outcome, end.Reason, end.Error, end.At = "fail", string(s.Reason), shown(s.Error), message.Time(s.At)
		if s.At.IsZero() {
			end.After = durationpb.New(s.After)
		}
	case fairlead.Drop: // the service knows of the wish
		end.Outcome, end.Error = "fail", shown(s.Error)
	case fairlead.Fail:
		end.Outcome, end.Error = "fatal", shown(s.Error)
		if s.Reason != fairlead.ReasonFatal {
			end.Outcome, end.Reason = "fail", string(s.Reason)
		}
	}
	return end
}

// shown is an error's text as far as the service keeps it.
func shown(text string) string {
	if len(text) > mostError {
		text = text[:mostError]
	}
	text = strings.ToValidUTF8(text, "?")
	return strings.ReplaceAll(text, "\x00", "?")
}
