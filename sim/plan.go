package sim

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Plan is what the handler of a job does. It is decided when the job is
// enqueued, so that how the job must end is known whatever happens to it.
type Plan struct {
	Work      time.Duration `json:"work"`                // how long a run takes
	FirstWork time.Duration `json:"first_work,omitzero"` // how long the first one takes, instead
	Failures  int           `json:"failures,omitzero"`   // runs that fail before one succeeds
	Broken    bool          `json:"broken,omitzero"`     // fails for good
	Stubborn  bool          `json:"stubborn,omitzero"`   // works on when its context ends, and reports progress in the end
	Progress  bool          `json:"progress,omitzero"`   // reports progress halfway
	Deadly    bool          `json:"deadly,omitzero"`     // kills its process, each time
	Delay     time.Duration `json:"-"`                   // how long after it is enqueued it is due
	Crowd     bool          `json:"crowd,omitzero"`      // waits in its first run until enough jobs run at once
}

// work is the kind of all jobs of a scenario.
var work = fairlead.NewKind[Plan]("sim.work")

// Mixed draws a plan: most jobs are short and succeed.
func Mixed(random *rand.Rand, lease time.Duration) Plan {
	const longest = 20 * time.Millisecond
	in := func(n int) bool { return random.IntN(n) == 0 }
	p := Plan{Work: time.Duration(random.Int64N(int64(longest)))}
	switch {
	case in(50):
		p.Failures = 1 + random.IntN(3)
	case in(200):
		p.Broken = true
	case in(500):
		p.FirstWork = lease + time.Duration(random.Int64N(int64(lease/4)))
	}
	p.Stubborn = in(4)
	p.Progress = in(10)
	if in(20) {
		p.Delay = time.Duration(random.Int64N(int64(lease)))
	}
	return p
}

// end is how a job with this plan must end.
func (p Plan) end() Ending {
	switch {
	case p.Deadly:
		return Ending{fairlead.Failed, fairlead.ReasonPoison}
	case p.Broken:
		return Ending{fairlead.Failed, fairlead.ReasonFatal}
	default:
		return Ending{fairlead.Succeeded, fairlead.ReasonNone}
	}
}

var errPlanned = errors.New("as planned")

// perform does what the plan says, and returns how it went.
func (p Plan) perform(ctx context.Context, job *fairlead.Job) (result string, err error) {
	long := p.Work
	if job.Attempt == 1 && p.FirstWork > 0 {
		long = p.FirstWork
	}
	if p.Stubborn {
		ctx = context.WithoutCancel(ctx)
	}
	const again = 20 * time.Millisecond
	for p.Crowd && job.Attempt == 1 && !crowded() {
		if err := rest(ctx, again); err != nil {
			return Cut, err
		}
	}
	if err := rest(ctx, long/2); err != nil {
		return Cut, err
	}
	if p.Deadly {
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return Cut, err
		}
		select {} // it takes a moment
	}
	if p.Progress {
		if err := fairlead.Progress(ctx, report{Fence: job.Fence}); err != nil {
			return Cut, err
		}
	}
	if err := rest(ctx, long/2); err != nil {
		return Cut, err
	}
	if p.Stubborn {
		// Refused if the job has been taken away: this is how a zombie shows.
		if err := fairlead.Progress(ctx, report{Fence: job.Fence}); err != nil {
			return Cut, err
		}
	}
	switch {
	case p.Broken:
		return Broken, fairlead.Fatal(errPlanned)
	case job.Failures < p.Failures:
		return Failing, errPlanned
	default:
		return OK, nil
	}
}

// report is the progress of a job. It tells under which fence it was made.
type report struct {
	Fence int64 `json:"fence"`
}

// reportedUnder is the fence of the progress that the database has: 0 if there is none,
// -1 if it does not tell, as that of older workers.
func reportedUnder(progress json.RawMessage) int64 {
	var r report
	switch err := json.Unmarshal(progress, &r); {
	case len(progress) == 0:
		return 0
	case err != nil || r.Fence == 0:
		return -1
	}
	return r.Fence
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
