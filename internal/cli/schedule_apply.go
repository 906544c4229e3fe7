package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// setByServer are the fields of a schedule that a file does not say.
var setByServer = []protoreflect.Name{"id", "version", "next_due", "next_fire", "created_at", "updated_at", "ref", "clear"}

// asFile is a schedule as a file has it.
func asFile(schedule *fairleadv1.Schedule) *fairleadv1.Schedule {
	out := proto.CloneOf(schedule)
	for _, name := range setByServer {
		out.ProtoReflect().Clear(out.ProtoReflect().Descriptor().Fields().ByName(name))
	}
	return out
}

func (s *session) scheduleExportCommand() *cobra.Command {
	cmd := verb("export [NAME]", "Write a schedule, or all, with their calendars as a file that apply reads", s.runs(func(ctx context.Context, c *call) error {
		all := &fairleadv1.ListSchedulesResponse{}
		if len(c.args) > 0 {
			schedule, err := c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
			if err != nil {
				return err
			}
			all.Items = append(all.Items, schedule)
		} else {
			var err error
			if all, err = c.listSchedules(ctx, &fairleadv1.ListSchedulesRequest{}, 0); err != nil {
				return err
			}
		}
		if c.format == "table" {
			c.format = "yaml" // a file is no table
		}
		calendars, err := c.calendarsDocument(ctx, all.GetItems())
		if err == nil && calendars != nil {
			err = c.document(calendars)
		}
		if err != nil {
			return err
		}
		for _, schedule := range all.GetItems() {
			body, err := wire.Marshal(asFile(schedule))
			if err != nil {
				return err
			}
			if err := c.document(body); err != nil {
				return err
			}
		}
		return nil
	}))
	return cmd
}

func (s *session) scheduleApplyCommand() *cobra.Command {
	var file string
	var dryRun, yes bool
	cmd := verb("apply", "Make schedules be as a file says", nil)
	cmd.Long = "Make schedules be as a file says: YAML or JSON documents with the fields of the API, found by their names. " +
		"What a document does not say has its default, but for enabled and reason, which stay as they are. Schedules that the file does not have are left alone. " +
		"A document {calendars: [{name: …, dates: […]}]} has calendars, which are made first; a calendar that a schedule names and neither the file nor the server has is reported as missing.\n\n" +
		"What would change is shown first. It is asked back on a terminal, and needs --yes without one; --dry-run only shows it."
	cmd.Example = "  fairlead schedule export > schedules.yaml\n  fairlead schedule apply -f schedules.yaml --dry-run"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if file == "" {
			return Usagef("%s needs --file (see %s --help)", cmd.CommandPath(), cmd.CommandPath())
		}
		wanted, err := readSchedules(file, c.in)
		if err != nil {
			return err
		}
		changes, err := c.fileChanges(ctx, wanted)
		if err != nil {
			return err
		}
		if err := changes.show(c); err != nil {
			return err
		}
		if dryRun || changes.none() {
			_, err := fmt.Fprintf(c.Out, "%d of %d schedules differ\n", len(changes.schedules), len(wanted.schedules))
			return err
		}
		if len(changes.missing) > 0 {
			return Usagef("the file names calendars that do not exist: nothing was changed; create them first, or add them to the file as {calendars: [{name: …}]}")
		}
		if !yes {
			if file == "-" || !screen.IsTerminal(c.in) || !c.errors.Terminal {
				return Usagef("without a terminal nothing confirms that you want to apply this: add --yes, or --dry-run to see it only")
			}
			if err := c.confirm("apply this?"); err != nil {
				return err
			}
		}
		if err := changes.make(ctx, c); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out, "%d of %d schedules changed\n", len(changes.schedules), len(wanted.schedules))
		return err
	})
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "YAML or JSON documents, or - for what is piped in")
	f.BoolVar(&dryRun, "dry-run", false, "only show what would change")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// scheduleFile is what a file says.
type scheduleFile struct {
	schedules []*fairleadv1.Schedule
	calendars []*fairleadv1.Calendar
}

// fileChanges are all that is to become as a file says.
type fileChanges struct {
	calendars []*calendarChange
	schedules []*scheduleChange
	missing   []string // calendars, in words
}

// fileChanges compares what a file says with what there is.
func (c *call) fileChanges(ctx context.Context, wanted *scheduleFile) (changes fileChanges, err error) {
	if changes.calendars, changes.missing, err = c.calendarChanges(ctx, wanted); err != nil {
		return changes, err
	}
	changes.schedules, err = c.changes(ctx, wanted.schedules)
	return changes, err
}

func (changes *fileChanges) none() bool {
	return len(changes.calendars) == 0 && len(changes.schedules) == 0
}

// show shows what would change, and what is missing for it.
func (changes *fileChanges) show(c *call) error {
	var lines []string
	for _, change := range changes.calendars {
		lines = append(lines, change.text())
	}
	for _, change := range changes.schedules {
		lines = append(lines, change.text())
	}
	_, err := fmt.Fprint(c.Out, strings.Join(append(lines, changes.missing...), ""))
	return err
}

// make makes the changes, calendars first: schedules name them.
func (changes *fileChanges) make(ctx context.Context, c *call) error {
	for _, change := range changes.calendars {
		if err := change.make(ctx, c); err != nil {
			return err
		}
	}
	for _, change := range changes.schedules {
		if err := c.make(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// readSchedules reads the documents of a file.
func readSchedules(file string, in io.Reader) (*scheduleFile, error) {
	all := &scheduleFile{}
	raw, err := readInput(file, in)
	if err != nil {
		return nil, err
	}
	if err := checkYAML(file, raw); err != nil {
		return nil, Usagef("the file is not YAML as it is read here: %w", err)
	}
	named := map[string]bool{}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, Usagef("the file is not YAML: %w", YAMLMistake(file, err))
		}
		if document == nil {
			continue // nothing between two separators
		}
		body, err := yaml.MarshalWithOptions(document, yaml.JSON())
		if err != nil {
			return nil, Usagef("%s, document %d: %w", file, n, err)
		}
		calendars, isOne, err := readCalendars(body)
		if err != nil {
			return nil, Usagef("%s, document %d: %w", file, n, err)
		}
		if isOne {
			all.calendars = append(all.calendars, calendars...)
			continue
		}
		schedule := &fairleadv1.Schedule{}
		if err := wire.Unmarshal(body, schedule); err != nil {
			return nil, Usagef("%s, document %d: %w", file, n, err)
		}
		schedule = asFile(schedule)
		switch name := schedule.GetName(); {
		case name == "":
			return nil, Usagef("%s, document %d: name is missing; it must be given", file, n)
		case named[name]:
			return nil, Usagef("%s, document %d: there are two schedules with the name %s", file, n, name)
		default:
			named[name] = true
		}
		all.schedules = append(all.schedules, schedule)
	}
}

// scheduleChange is a schedule that is to become as a file says.
type scheduleChange struct {
	current *fairleadv1.Schedule // nil: there is none yet
	wanted  *fairleadv1.Schedule
	lines   []string
}

func (change *scheduleChange) text() string {
	head := "~ " + change.wanted.GetName()
	if change.current == nil {
		head = "+ " + change.wanted.GetName()
	}
	return screen.Clean(head) + "\n" + strings.Join(change.lines, "")
}

// changes compares what is wanted with what there is.
func (c *call) changes(ctx context.Context, wanted []*fairleadv1.Schedule) (all []*scheduleChange, err error) {
	there, err := c.listSchedules(ctx, &fairleadv1.ListSchedulesRequest{}, 0)
	if err != nil {
		return nil, err
	}
	byName := map[string]*fairleadv1.Schedule{}
	for _, schedule := range there.GetItems() {
		byName[schedule.GetName()] = schedule
	}
	for _, w := range wanted {
		asKept(w)
		change := &scheduleChange{current: byName[w.GetName()], wanted: w}
		before := &fairleadv1.Schedule{}
		if change.current != nil {
			before = asFile(change.current)
			change.keep()
		}
		change.compare("", before.ProtoReflect(), w.ProtoReflect())
		if change.current == nil || len(change.lines) > 0 {
			all = append(all, change)
		}
	}
	return all, nil
}

// asKept writes an expression as the server keeps it. One that it will refuse
// stays as it is.
func asKept(schedule *fairleadv1.Schedule) {
	if schedule.Cron == nil {
		return
	}
	if expr, err := cron.Parse(schedule.GetCron()); err == nil {
		schedule.Cron = proto.String(expr.String())
	}
}

// keep leaves a schedule switched on or off as it is, unless the file says.
func (change *scheduleChange) keep() {
	if change.wanted.Enabled == nil {
		change.wanted.Enabled, change.wanted.Reason = change.current.Enabled, change.current.Reason
	}
}

// defaults are what the server fills in for fields that are not given.
var defaults = map[string]string{
	"timezone": "UTC", "overlap_action": "allow", "failure_action": "run_new", "max_concurrency": "0", "concurrency_policy": "queue", "queue_depth": "100",
	"catch_up_mode": "none", "catch_up_limit": "100", "catch_up_window": "24h0m0s", "enabled": "yes",
	"job.queue": "default", "job.tenant": "default", "job.key_scope": "live", "job.on_duplicate": "error", "job.on_crash": "revive", "job.on_fail": "keep",
}

// compare notes the fields that differ.
func (change *scheduleChange) compare(path string, before, after protoreflect.Message) {
	p := &printer{Screen: &screen.Screen{}, format: "table"}
	for i := range after.Descriptor().Fields().Len() {
		f := after.Descriptor().Fields().Get(i)
		name := path + string(f.Name())
		if name == "name" {
			continue // by it they were found
		}
		if name == "job" {
			change.compare("job.", before.Get(f).Message(), after.Get(f).Message())
			continue
		}
		old, now := p.plain(name, f, before), p.plain(name, f, after)
		if change.current == nil {
			old = defaults[name]
		}
		if old != now {
			change.lines = append(change.lines, fmt.Sprintf("    %s: %s -> %s\n", name, screen.Clean(orNone(old)), screen.Clean(orNone(now))))
		}
	}
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

// plain is a value in words, or its default.
func (p *printer) plain(name string, f protoreflect.FieldDescriptor, message protoreflect.Message) string {
	if !message.Has(f) {
		return defaults[name]
	}
	switch m := message.Get(f).Interface().(type) {
	case protoreflect.Message:
		return exact(m.Interface())
	case []byte:
		var out bytes.Buffer
		if err := json.Compact(&out, m); err != nil {
			return string(m)
		}
		return out.String()
	}
	return p.one(f, message.Get(f))
}

// exact is a time, a span or another message without rounding.
func exact(message proto.Message) string {
	switch m := message.(type) {
	case *timestamppb.Timestamp:
		return m.AsTime().Format(time.RFC3339Nano)
	case *durationpb.Duration:
		return m.AsDuration().String()
	}
	raw, err := wire.Marshal(message)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// make changes one schedule.
func (c *call) make(ctx context.Context, change *scheduleChange) (err error) {
	if change.current == nil {
		_, err = c.schedules.CreateSchedule(ctx, change.wanted)
		return err
	}
	wanted := proto.CloneOf(change.wanted)
	wanted.Ref, wanted.Version = change.current.GetId(), change.current.GetVersion()
	_, err = c.schedules.UpdateSchedule(ctx, wanted)
	return err
}
