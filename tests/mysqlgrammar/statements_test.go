package mysqlgrammar

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// store contains the statements and migrations of the store.
var store = os.DirFS("../../mysql")

// samples contains sample values for the placeholders in statements. Any other name is a
// table.
var samples = map[string]string{
	"after": "5", "batch_id": "7", "chosen": "l.id in (1,2) and (l.id, l.queue, l.tenant, l.kind) in ((1,x'61',x'',x'62'))",
	"choice": "select id, schedule, due, cause, number, skip, '' as state from `db`.`fairlead_fire` force index (listing) where schedule = 1 order by id desc limit 5",
	"clock":  "1700000000000000", "count": "2", "end": "", "fence_no": "1700000000000001", "gate_id": "4", "id": "9", "idle": "5", "ids": "1,2,3",
	"among": "(id in (1,2) or id >= 4 and id < 9)", "index": "primary", "into": "into @fairlead_now", "key_name": "x'6b'", "kind": "x'6b'", "known": "1,2",
	"lane_id": "3", "limit": "100", "list": "x'61',x'62'", "mark": "fairlead_1", "member": "concat_ws(' ', @@wsrep_node_name, @@hostname, @@port)",
	"member_lease": "6000000", "minimum": "least", "node_id": "2", "number": "1", "rows": "(1,x'61',null,1.5e3)",
	"named": "and id > 0 and tenant in (x'61',x'')", "now": clock, "realtime": clock, "set": "case lane when 1 then 2 else 0 end", "solo": "0",
	"spans": "lane = 1 and turn = 0 and start_by = 5 and id between 7 and 9", "start_by": "5", "tenant_name": "x''", "turn": "0",
	"unless_taken": "/* unless taken */", "wait": "skip locked",
	"once_window": "86400000000", "starts_bucket": "10000000", "alert_bucket": "10000000",
}

const clock = "timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', sysdate(6))"

// otherSamples contains the samples that are different for a single statement.
var otherSamples = map[string]map[string]string{
	"chunks":            {"chosen": "select number from `db`.`fairlead_part` force index (primary) where batch = 7 and number > 5 order by number limit 9"},
	"chunks_with_tasks": {"chosen": "select number from `db`.`fairlead_part` force index (primary) where batch = 7 and number > 5 order by number limit 9"},
	"fires_chosen":      {"named": "id > 0 and schedule in (1,2)"},
	"ended_schedules":   {"named": "and o.schedule not in (1,2)"},
}

var slot = regexp.MustCompile(`\{\{(\w+)\}\}`)

// filled replaces the placeholders of a statement with samples.
func filled(name, text string, all map[string]string) string {
	text = strings.ReplaceAll(text, "'[{{rows}}]'", "'[[1,2,3,4],[5,6,7,\"6162\"]]'") // for json_table
	text = strings.ReplaceAll(text, "'[{{list}}]'", "'[1,2]'")
	if strings.Contains(text, "{{end}}") {
		text = strings.ReplaceAll(text, "{{rows}}", "") // the form of a row follows it
	}
	return slot.ReplaceAllStringFunc(text, func(s string) string {
		key := strings.Trim(s, "{}")
		if other, ok := otherSamples[name][key]; ok {
			return other
		}
		if key == "running_sweep" {
			return filled(key, all[key], all)
		}
		if sample, ok := samples[key]; ok {
			return sample
		}
		return "`db`.`fairlead_" + key + "`"
	})
}

// statements returns the statements of the store by name.
func statements(t *testing.T) map[string]string {
	t.Helper()
	all, err := sqlstore.Statements(store, sqlstore.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("only %d statements were found", len(all))
	}
	for name, text := range all {
		all[name] = filled(name, text, all)
	}
	return all
}

func TestEveryStatementIsMySQL(t *testing.T) {
	for name, text := range statements(t) {
		if _, err := parse(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

func TestEveryMigrationIsMySQL(t *testing.T) {
	migrations, err := sqlstore.LoadMigrations(store, func(name string) string { return filled("", "{{"+name+"}}", nil) })
	if err != nil {
		t.Fatal(err)
	}
	if len(migrations) == 0 {
		t.Fatal("no migration was found")
	}
	for _, migration := range migrations {
		for _, step := range migration.Steps {
			if _, err := parse(step); err != nil {
				t.Errorf("%s: %v\n%s", migration, err, step)
			}
		}
	}
}
