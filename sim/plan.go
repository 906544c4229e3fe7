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

// A Plan defines the behavior of a job's handler. It is fixed when the job is enqueued, so
// that the required end of the job is known whatever happens.
type Plan struct {
	Work      time.Duration `json:"work"`                // duration of a run
	FirstWork time.Duration `json:"first_work,omitzero"` // duration of the first run, if different
	Failures  int           `json:"failures,omitzero"`   // number of runs that fail before one succeeds
	Broken    bool          `json:"broken,omitzero"`     // fails for good
	Stubborn  bool          `json:"stubborn,omitzero"`   // continues after the end of its context, and reports progress at the end
	Progress  bool          `json:"progress,omitzero"`   // reports progress halfway
	Deadly    bool          `json:"deadly,omitzero"`     // kills its process in each run
	Delay     time.Duration `json:"-"`                   // delay between enqueuing and the due time
	Crowd     bool          `json:"crowd,omitzero"`      // waits in its first run until enough jobs run concurrently
}

// work is the kind of all jobs in a scenario.
var work = fairlead.NewKind[Plan]("sim.work")

// Mixed returns a random plan: most jobs are short and succeed.
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

// end returns the required end of a job with this plan.
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

// perform carries out the plan, and returns the outcome.
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
		select {} // the signal takes a moment
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
		// Refused if the job was taken away, which reveals a zombie.
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

// report is the progress of a job. It contains the fence of the run that reported it.
type report struct {
	Fence int64 `json:"fence"`
}

// reportedUnder returns the fence of the progress in the database: 0 if there is no
// progress, -1 if it does not contain the fence, like that of older workers.
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
