package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// batchFlags are the flags that say what a batch is, and what they are called in the
// query of an upload.
var batchFlags = []struct{ flag, parameter, usage string }{
	{"name", "name", "for people (default that of the file)"},
	{"type", "type", "what is done, as cdc_job_stop"},
	{"description", "description", "for people"},
	{"creator", "creator", "who made it"},
	{"env", "env", "environment, as live"},
	{"queue", "queue", "region: which nodes run its tasks (default default)"},
	{"az", "az", "availability zone"},
	{"service", "service", "the service that it is about"},
	{"info", "info", "JSON that is kept with it, and that each task carries"},
	{"tenant", "tenant", "the tenant that it runs for (default default)"},
	{"priority", "priority", "higher goes first (default 0)"},
	{"max-running", "max_running", "tasks that run at once (default no bound)"},
	{"rate", "rate", "tasks that begin per second (default no bound)"},
	{"task-timeout", "timeout", "of one attempt of a task, as 20s (default the operation's)"},
	{"canary", "canary.tasks", "so many tasks go first"},
	{"canary-ratio", "canary.ratio", "part of them that has to succeed for the others to follow without approval (default: approval is needed)"},
	{"stop-after", "stop_after.failures", "so many failures pause it"},
	{"stop-after-percent", "stop_after.percent", "so many failures in a hundred tasks pause it"},
	{"notify", "notify", "URL that gets a message at each completion"},
}

func (s *session) batchCreateCommand() *cobra.Command {
	var file string
	var wait waiting
	values := map[string]*string{}
	cmd := verb("create", "Store a batch of the targets in a file", nil)
	cmd.Long = "Store a batch of the targets in a file, and let it begin when all are stored.\n\n" +
		"A CSV file begins with a line that names its columns: target_id, target_name, target_type, target_env, before and after; target_id and target_type have to be there. " +
		"A file of JSON lines has a task on each, as {\"target\":{\"id\":…,\"type\":…},\"after\":{…}}; its first line may be the batch.\n\n" +
		"With --wait it ends when the batch has completed, with exit code 7 if not all tasks succeeded."
	cmd.Example = "  fairlead batch create -f targets.csv --type cdc_job_stop --wait\n" +
		"  fairlead batch create -f tasks.ndjson --type cdc_switch_az --canary 10 --canary-ratio 0.9 --stop-after-percent 5"
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !cmd.Flags().Changed("timeout") {
			s.timeout = bulkTimeout // there may be a million lines
		}
	}
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if file == "" {
			return Usagef("%s needs --file (see %s --help)", cmd.CommandPath(), cmd.CommandPath())
		}
		query := url.Values{}
		for _, f := range batchFlags {
			if cmd.Flags().Changed(f.flag) {
				query.Set(f.parameter, *values[f.flag])
			}
		}
		batch, err := c.upload(ctx, file, query)
		if err != nil {
			return err
		}
		if wait.asked(cmd) {
			return wait.batch(ctx, c, batch.GetId())
		}
		return c.print(batch, func() error {
			_, err := fmt.Fprintln(c.Out, batch.GetId())
			return err
		})
	})
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "CSV or JSON lines, or - for what is piped in")
	for _, flag := range batchFlags {
		values[flag.flag] = f.String(flag.flag, "", flag.usage)
	}
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
	wait.flag(cmd)
	return cmd
}

// lineKinds are content types by the names of files.
var lineKinds = map[string]string{".csv": "text/csv", ".ndjson": "application/x-ndjson", ".jsonl": "application/x-ndjson"}

// upload sends the tasks of a file as they are read.
func (c *call) upload(ctx context.Context, file string, query url.Values) (*fairleadv1.Batch, error) {
	body, kind := c.in, ""
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, Usagef("%w", err)
		}
		defer opened.Close()
		body, kind = opened, lineKinds[strings.ToLower(filepath.Ext(file))]
		if base := filepath.Base(file); !query.Has("name") && kind == "text/csv" {
			query.Set("name", strings.TrimSuffix(base, filepath.Ext(base)))
		}
	}
	if kind == "" {
		kind = "application/octet-stream" // the server looks
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// The program that pipes something in closes it.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.url, "/")+"/api/v1/batches/upload?"+query.Encode(), io.NopCloser(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	c.caller.sign(request.Header)
	batch := &fairleadv1.Batch{}
	return batch, c.exchange(request, batch)
}
