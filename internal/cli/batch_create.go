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

// batchFlags lists the flags of a batch with their names in the query of an upload.
var batchFlags = []struct{ flag, parameter, usage string }{
	{"name", "name", "display name of the batch (default for a CSV file: its name without .csv; otherwise none)"},
	{"type", "type", "operation to run on each target, such as cdc_job_stop (required unless the file sets it)"},
	{"description", "description", "description of the batch (default: none)"},
	{"creator", "creator", "creator of the batch (default: none)"},
	{"env", "env", "environment of the batch, such as live (default: none)"},
	{"queue", "queue", "queue or region whose nodes run the tasks (default \"default\")"},
	{"az", "az", "availability zone of the batch (default: none)"},
	{"service", "service", "service affected by the batch (default: none)"},
	{"info", "info", "JSON stored with the batch and passed to each task (default: none)"},
	{"tenant", "tenant", "tenant that owns the batch (default \"default\")"},
	{"priority", "priority", "priority of the tasks; higher values start first (default 0)"},
	{"max-running", "max_running", "maximum number of tasks running at once (default: unlimited)"},
	{"rate", "rate", "maximum number of tasks started per second (default: unlimited)"},
	{"task-timeout", "timeout", "timeout per task attempt, such as 20s (default: the operation's timeout)"},
	{"canary", "canary.tasks", "number of tasks to run first as a canary (default: no canary)"},
	{"canary-ratio", "canary.ratio", "fraction of canary tasks that must succeed to release the rest automatically, such as 0.9 (default: wait for approval)"},
	{"stop-after", "stop_after.failures", "pause the batch after this many failed tasks (default: never pause)"},
	{"stop-after-percent", "stop_after.percent", "pause the batch when this percentage of tasks has failed (default: never pause)"},
	{"notify", "notify", "URL to notify whenever the batch completes (default: none)"},
}

func (s *session) batchCreateCommand() *cobra.Command {
	var file string
	var wait waiting
	values := map[string]*string{}
	cmd := verb("create", "Create a batch from a file of targets", nil)
	cmd.Long = "Create a batch from a file of targets. The batch starts once all targets are stored.\n\n" +
		"The first line of a CSV file names its columns: target_id, target_name, target_type, target_env, before and after. The columns target_id and target_type are required. " +
		"A JSON Lines file has one task per line, as in {\"target\":{\"id\":…,\"type\":…},\"after\":{…}}; its first line may describe the batch.\n\n" +
		"With --wait, the command waits until the batch completes and exits with code 7 unless every task succeeded."
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
	f.StringVarP(&file, "file", "f", "", "CSV or JSON Lines file of targets, or - for standard input (required)")
	for _, flag := range batchFlags {
		values[flag.flag] = f.String(flag.flag, "", flag.usage)
	}
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
	wait.flag(cmd)
	return cmd
}

// lineKinds maps file extensions to content types.
var lineKinds = map[string]string{".csv": "text/csv", ".ndjson": "application/x-ndjson", ".jsonl": "application/x-ndjson"}

// upload sends the tasks of a file as it reads them.
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
		kind = "application/octet-stream" // the server detects the type
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// Standard input is closed by the program that writes to it.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.url, "/")+"/api/v1/batches/upload?"+query.Encode(), io.NopCloser(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	c.caller.sign(request.Header)
	batch := &fairleadv1.Batch{}
	return batch, c.exchange(request, batch)
}
