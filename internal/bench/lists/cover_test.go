package lists

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	bulks "github.com/fairlead-io/fairlead/bulk" // bulk is how rows are written here
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// filters contains the filters of stores and clients. A new filter must be added here, and
// each of its fields to the queries.
var filters = []any{
	fairlead.Filter{},
	access.Filter{},
	batch.Filter{},
	batch.ChunkFilter{},
	batch.TaskFilter{},
	batch.JobFilter{},
	bulks.Filter{},
	bulks.MissFilter{},
	schedule.Filter{},
	schedule.FireFilter{},
	sweep.Filter{},
	sweep.ItemFilter{},
	sweep.LogFilter{},
	sweep.EventFilter{},
	fairlead.TenantFilter{},
}

// noStore is asked nothing.
type noStore struct{ Store }

// anyStock has what asks need to be written down.
func anyStock() *stock {
	s := &stock{mix: newMix(1000, time.Unix(1_700_000_000, 0)), side: 1000, tasks: []int64{1, 501}}
	s.store, s.client = noStore{}, fairlead.NewClient(noStore{})
	s.schedule.ID, s.schedule.Name, s.sweep.ID, s.sweep.Name, s.batch.ID = 1, "schedule", 2, "sweep", 1
	return s
}

func TestEveryFieldOfEveryFilterIsMeasured(t *testing.T) {
	asked := map[string]bool{}
	for _, a := range anyStock().asks() {
		if a.filter == nil {
			continue
		}
		filter := reflect.ValueOf(a.filter)
		for i := range filter.NumField() {
			if !filter.Field(i).IsZero() {
				asked[filter.Type().Name()+"."+filter.Type().Field(i).Name] = true
			}
		}
	}
	for _, filter := range filters {
		of := reflect.TypeOf(filter)
		for i := range of.NumField() {
			if field := of.Name() + "." + of.Field(i).Name; !asked[field] {
				t.Errorf("no list is measured with %s", field)
			}
		}
	}
	store := reflect.TypeFor[Store]()
	for i := range store.NumMethod() {
		method := store.Method(i)
		for in := range method.Type.NumIn() {
			if name := method.Type.In(in).Name(); strings.HasSuffix(name, "Filter") && !slices.ContainsFunc(filters, func(f any) bool { return reflect.TypeOf(f).Name() == name }) {
				t.Errorf("%s takes a %s, which is not measured", method.Name, name)
			}
		}
	}
}

// listed returns what each list and figure of the API is made from. Those that are short by
// their nature are of what people declare, one by one.
var listed = map[string]string{
	"ListJobs": "jobs: ", "ListAttempts": "attempts", "ExplainJob": "explain: ready", "BulkJobs": "count of jobs: ", "CountJobs": "count of jobs: ",
	"ListSchedules": "schedules: ", "ListRuns": "runs: schedule", "GetScheduleStats": "runs: schedule", "ListCalendars": "calendars",
	"ListTenants": "tenants", "GetTenantStats": "usage", "ListQueues": "usage", "GetStats": "usage", "WatchEvents": "jobs: failed since",
	"ListNodes": "nodes", "ListKinds": "usage", "ListLimits": "limits", "ListTokens": "tokens", "ListAudit": "audit: ",
	"ListBatches": "batches: ", "ListBatchTasks": "tasks of a batch: ", "ListSweeps": "sweeps: ", "ListSweepLogs": "lines: ",
	"ListFailedItems": "failed items: ", "ListSweepHistory": "events: ", "ListShards": "shards",
	"ListTasks": "schedules: ", "ListTaskRuns": "runs: schedule", "ListRetries": "failed items: again", "ListShardItems": "sweeps: id", "ListLeases": "jobs: id",
	"ListBulks": "bulks: ", "ListBulkMisses": "misses of a bulk: second page",
	"ListBreakers": noDatabase,
}

// noDatabase is what a list is made from that a node has in memory.
const noDatabase = ""

func TestEveryListOfTheAPIIsMeasured(t *testing.T) {
	measured := map[string]bool{}
	for _, a := range anyStock().asks() {
		measured[a.name] = true
	}
	for _, file := range []protoreflect.FileDescriptor{
		fairleadv1.File_fairlead_v1_job_proto, fairleadv1.File_fairlead_v1_schedule_proto, fairleadv1.File_fairlead_v1_tenant_proto, fairleadv1.File_fairlead_v1_cluster_proto,
		fairleadv1.File_fairlead_v1_access_proto, fairleadv1.File_fairlead_v1_batch_proto, fairleadv1.File_fairlead_v1_sweep_proto, fairleadv1.File_fairlead_v1_task_proto,
		fairleadv1.File_fairlead_v1_worker_proto, fairleadv1.File_fairlead_v1_batch_job_proto, fairleadv1.File_fairlead_v1_bulk_proto,
	} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for m := range methods.Len() {
				name := string(methods.Get(m).Name())
				from, known := listed[name]
				if (strings.HasPrefix(name, "List") || strings.HasSuffix(name, "Stats")) && !known {
					t.Errorf("%s is not measured", name)
				}
				if known && from != noDatabase && !measured[from] {
					t.Errorf("%s is made from %q, which is not measured", name, from)
				}
			}
		}
	}
}
