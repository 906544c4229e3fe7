package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) jobWatchCommand() *cobra.Command {
	return verb("watch ID", "Print the state of a job on every change until it ends", s.withID(func(ctx context.Context, c *call, id int64) error {
		job, err := c.follow(ctx, id, func(job *fairleadv1.Job) error {
			return c.say(job, "%s  job %d: %s%s", c.Now().Format(time.TimeOnly), id, job.GetState(), watched(job))
		})
		if err != nil {
			return err
		}
		return ended(job)
	}))
}

// watched returns the notable properties of a job besides its state.
func watched(job *fairleadv1.Job) string {
	text := ""
	if job.GetAttempt() > 0 {
		text += fmt.Sprintf("  attempt %d", job.GetAttempt())
	}
	if progress := job.GetProgress(); len(progress) > 0 && !final(job) {
		text += "  " + string(progress)
	}
	return text
}

func final(job *fairleadv1.Job) bool {
	return slices.Contains([]string{"succeeded", "failed", "cancelled", "skipped"}, job.GetState())
}

// ended returns an error if a job did not succeed.
func ended(job *fairleadv1.Job) error {
	if job.GetState() == "succeeded" {
		return nil
	}
	text := fmt.Sprintf("job %d %s", job.GetId(), inState(job.GetState()))
	if job.GetError() != "" {
		text += ": " + screen.Clean(job.GetError())
	}
	if job.GetAttempt() > 0 {
		text += fmt.Sprintf(" (attempt %d; list all attempts with fairlead job attempts %d)", job.GetAttempt(), job.GetId())
	}
	return failf(ExitJobFailed, "%s", text)
}

// again is the pause before a broken stream is requested again.
const again = 500 * time.Millisecond

// follow calls see after each change of a job and returns the job when it has ended.
func (c *call) follow(ctx context.Context, id int64, see func(*fairleadv1.Job) error) (*fairleadv1.Job, error) {
	return follow(ctx, c, func(ctx context.Context) (*rpc.Stream[*fairleadv1.Job], error) {
		return c.jobs.WatchJob(ctx, &fairleadv1.GetJobRequest{Id: id})
	}, final, see)
}

// follow calls see after each change of an object and returns the object when it has ended.
// If the server stops meanwhile, follow tries it again, or another server at the same URL,
// for as long as the timeout of one call.
func follow[T proto.Message](ctx context.Context, c *call, watch func(context.Context) (*rpc.Stream[T], error), ended func(T) bool, see func(T) error) (T, error) {
	var last, none T
	seen, heard := false, time.Now()
	for {
		stream, err := watch(ctx)
		if err == nil {
			for stream.Receive() {
				last, seen, heard = stream.Msg(), true, time.Now()
				if err := see(last); err != nil {
					return none, errors.Join(err, stream.Close())
				}
			}
			err = errors.Join(stream.Err(), stream.Close())
		}
		switch {
		case seen && ended(last):
			return last, nil
		case ctx.Err() != nil:
			return none, connect.NewError(connect.CodeCanceled, ctx.Err())
		case err != nil && (!seen || connect.IsWireError(err) && !rpc.Passes(err)):
			return none, err
		case time.Since(heard) > c.timeout && err != nil:
			return none, err
		case err == nil:
			heard = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}
