package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Remote is a scheduler whose workers run in a separate process, so that wakes must cross
// processes. Jobs are enqueued in this process.
type Remote struct {
	Scheduler
	// Command is the worker's program. It reads a Post from its standard input and calls
	// ServeWork.
	Command []string
	Post    Post
}

// Post is the configuration of a worker in another process.
type Post struct {
	System   string `json:"system,omitempty"`
	Workload string `json:"workload,omitempty"`
	URL      string `json:"url"` // not on the command line, because it may contain a password
	Queue    string `json:"queue,omitempty"`
}

// news is a line from the worker.
type news struct {
	Started *time.Duration `json:"started,omitempty"` // waiting time of a job whose handler started
	Ended   bool           `json:"ended,omitempty"`
}

// Work starts the process and ends it with ctx. If this process dies, the worker's input
// ends and the worker ends too.
func (r *Remote) Work(ctx context.Context, events Events) error {
	// The worker ends at the end of its input instead of by a signal, so that it drains.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.Command[0], r.Command[1:]...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	ended := context.AfterFunc(ctx, func() { input.Close() })
	defer ended()
	sendErr := json.NewEncoder(input).Encode(r.Post)
	readErr := relay(output, events)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return errors.Join(sendErr, readErr)
}

// relay passes on news until the output ends.
func relay(output io.Reader, events Events) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var n news
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return fmt.Errorf("worker said %q: %w", lines.Text(), err)
		}
		if n.Started != nil {
			events.Started(*n.Started)
		}
		if n.Ended {
			events.Ended()
		}
	}
	return lines.Err()
}

// ReadPost reads the Post as the worker's first step.
func ReadPost(input *bufio.Reader) (Post, error) {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return Post{}, fmt.Errorf("read the message of the worker: %w", err)
	}
	var post Post
	return post, json.Unmarshal(line, &post)
}

// ServeWork works until the input ends and reports on the output.
func ServeWork(ctx context.Context, s Scheduler, input io.Reader, output io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input) // the work ends with the input, even after an error
		cancel()
	}()
	told := make(chan news, 1024)
	written := make(chan error, 1)
	go func() {
		lines := json.NewEncoder(output)
		var failed error
		for n := range told {
			if failed == nil {
				failed = lines.Encode(n)
			}
		}
		written <- failed
	}()
	err := s.Work(ctx, Events{
		Started: func(waited time.Duration) { told <- news{Started: &waited} },
		Ended:   func() { told <- news{Ended: true} },
	})
	close(told)
	return firstError(err, <-written)
}
