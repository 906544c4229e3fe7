package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// newJob holds the flags of a new job.
type newJob struct {
	job                fairleadv1.NewJob
	args               string
	notBefore, startBy moment
	timeout            time.Duration
	file               string
	wait               waiting
}

func (s *session) jobEnqueueCommand() *cobra.Command {
	n := &newJob{}
	cmd := verb("enqueue [KIND]", "Enqueue a job, or all jobs in a file", nil)
	cmd.Long = "Enqueue a job, or all jobs in a file, and print their IDs. If any job in a file is rejected, no jobs are enqueued.\n\n" +
		"With --wait, the command waits until all jobs end and exits with code 7 unless every job succeeded."
	cmd.Example = "  fairlead job enqueue http --args '{\"url\":\"https://example.com\"}' --wait\n" +
		"  fairlead job enqueue report --args @report.json --not-before 10m --key nightly --on-duplicate keep\n" +
		"  fairlead job enqueue --file jobs.json"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		request, err := n.request(cmd, c)
		if err != nil {
			return err
		}
		stored, err := c.jobs.EnqueueJobs(ctx, request)
		if err != nil {
			return err
		}
		if n.wait.asked(cmd) {
			return n.wait.all(ctx, c, stored.GetIds())
		}
		return c.print(stored, func() error {
			for _, id := range stored.GetIds() {
				if _, err := fmt.Fprintln(c.Out, id); err != nil {
					return err
				}
			}
			return nil
		})
	})
	n.flags(cmd, s)
	return cmd
}

func (n *newJob) flags(cmd *cobra.Command, s *session) {
	f := cmd.Flags()
	f.StringVar(&n.args, "args", "", "input for the handler: JSON, @FILE, or - for standard input (default: none)")
	f.StringVar(&n.job.Queue, "queue", "", "queue whose nodes may run the job (default \"default\")")
	f.StringVar(&n.job.Tenant, "tenant", "", "tenant that owns the job (default \"default\")")
	f.Int32Var(&n.job.Priority, "priority", 0, "priority of the job; higher values start first (default 0)")
	f.Var(&n.notBefore, "not-before", "earliest start: a timestamp, or a duration from now such as 10m (default: now)")
	f.Var(&n.startBy, "start-by", "soft deadline for the start, used to order jobs of equal priority: a timestamp, or a duration from now such as 10m (default: none)")
	f.DurationVar(&n.timeout, "timeout", 0, "timeout per attempt (0 = the handler's timeout)")
	f.Int32Var(&n.job.MaxAttempts, "max-attempts", 0, "maximum number of failed attempts (0 = the handler's limit)")
	f.StringVar(&n.job.Key, "key", "", "unique key of the job within its tenant (default: none)")
	f.StringVar(&n.job.KeyScope, "key-scope", "", "how long the key stays reserved: live (until the job ends) or forever (default \"live\")")
	f.StringVar(&n.job.OnDuplicate, "on-duplicate", "", "action if the key is already in use: error, keep or replace (default \"error\")")
	f.StringVar(&n.job.ConcurrencyKey, "concurrency-key", "", "jobs with the same concurrency key run one at a time, or up to the --per-key limit of their kind (default: no key)")
	f.StringVar(&n.job.OnFail, "on-fail", "", "action when the job fails permanently: keep or remove (default \"keep\")")
	f.StringVar(&n.job.OnCrash, "on-crash", "", "action if the node running the job dies: revive or cancel (default \"revive\")")
	f.StringVar(&n.file, "file", "", "file with a JSON array of jobs, using the field names of the API, or - for standard input (required without KIND)")
	n.wait.flag(cmd)
	cmd.ValidArgsFunction = first(s.asked(kindNames))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
	complete(cmd, "key-scope", oneOf(keyScopes...))
	complete(cmd, "on-duplicate", oneOf("error", "keep", "replace"))
	complete(cmd, "on-crash", oneOf("revive", "cancel"))
}

func (n *newJob) request(cmd *cobra.Command, c *call) (*fairleadv1.EnqueueJobsRequest, error) {
	switch {
	case n.file != "" && len(c.args) > 0:
		return nil, Usagef("specify either KIND or --file, not both")
	case n.file != "":
		for _, flag := range []string{"args", "queue", "tenant", "priority", "not-before", "start-by", "timeout", "max-attempts", "key", "key-scope", "on-duplicate", "concurrency-key", "on-crash"} {
			if cmd.Flags().Changed(flag) {
				return nil, Usagef("--%s cannot be combined with --file: set it in the file", flag)
			}
		}
		return readJobs(n.file, c.in)
	case len(c.args) == 0:
		return nil, Usagef("%s needs KIND or --file (see %s --help)", cmd.CommandPath(), cmd.CommandPath())
	}
	n.job.Kind, n.job.NotBefore, n.job.StartBy = c.args[0], n.notBefore.proto(), n.startBy.proto()
	if n.timeout != 0 {
		n.job.Timeout = durationpb.New(n.timeout)
	}
	if cmd.Flags().Changed("args") {
		var err error
		if n.job.Args, err = readDocument("--args", n.args, c.in); err != nil {
			return nil, err
		}
	}
	return &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{&n.job}}, nil
}

// maxInput is the maximum size of an input file; the server accepts less.
const maxInput = 64 << 20

// readInput reads a file, or standard input if file is "-".
func readInput(file string, in io.Reader) ([]byte, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, Usagef("%w", err)
		}
		defer opened.Close()
		in = opened
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(raw) > maxInput {
		err = Usagef("%s is larger than %d MiB: split it", file, maxInput>>20)
	}
	return raw, err
}

// readDocument reads the JSON given by a flag: inline, as @FILE, or from standard input if
// it is "-".
func readDocument(flag, text string, in io.Reader) ([]byte, error) {
	raw := []byte(text)
	file, named := strings.CutPrefix(text, "@")
	if named || text == "-" {
		var err error
		if raw, err = readInput(file, in); err != nil {
			return nil, err
		}
	}
	var document json.RawMessage
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, Usagef("%s is not valid JSON (%w): quote it for the shell, as in '{\"n\":1}'", flag, err)
	}
	return document, nil
}

// readJobs reads a list of jobs, or a complete request in the format of the API.
func readJobs(file string, in io.Reader) (*fairleadv1.EnqueueJobsRequest, error) {
	raw, err := readInput(file, in)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		raw = append(append([]byte(`{"jobs":`), raw...), '}')
	}
	request := &fairleadv1.EnqueueJobsRequest{}
	var field *wire.FieldError
	if err := wire.Unmarshal(raw, request); errors.As(err, &field) && field.Field == "" {
		return nil, Usagef("--file %s: %w", file, err)
	} else if err != nil {
		return nil, Usagef("%w", err)
	}
	return request, nil
}
