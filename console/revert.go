package console

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// reversal describes how a change in the audit log can be reverted.
type reversal struct {
	Method, Href string // form that is filled with the former values
	Why          string // reason if the change cannot be reverted
}

// masked is the text that the audit log contains in place of confidential values.
var masked = []byte("***")

// Reversal describes how to revert an audit log entry. It is nil unless the entry is a
// change of a tenant, a limit, a schedule or a calendar that existed before.
func (v *visit) Reversal(e *fairleadv1.AuditEntry) *reversal {
	if e.GetAction() == "DeleteSchedule" {
		return &reversal{Why: v.T("Cannot be reverted: the audit log does not contain the job's arguments.")}
	}
	way := &reversal{Method: e.GetAction()}
	switch was := formerOf(e).(type) {
	case *fairleadv1.Tenant:
		way.Method, way.Href = "UpdateTenant", v.below("/tenants", was.GetName())+"/edit"
	case *fairleadv1.Limit:
		way.Href = v.below("/limits", was.GetScope()) + "/edit"
	case *fairleadv1.Schedule:
		way.Method, way.Href = "UpdateSchedule", v.below("/schedules", was.GetId())+"/edit"
	case *fairleadv1.Calendar:
		way.Href = v.below("/calendars", was.GetName()) + "/edit"
	default:
		return nil
	}
	switch e.GetAction() {
	case "DeleteTenant":
		way.Method, way.Href = "CreateTenant", "/new/tenant"
	case "DeleteCalendar":
		way.Method, way.Href = "CreateCalendar", "/new/calendar"
	}
	if bytes.Contains(e.GetBefore(), masked) {
		return &reversal{Why: v.T("Cannot be reverted: parts of the previous value are masked.")}
	}
	way.Href = v.Href(way.Href, "revert", e.GetId(), "subject", e.GetSubject(), "at", e.GetAt())
	return way
}

// formerOf returns the object before a change that can be reverted, or nil.
func formerOf(e *fairleadv1.AuditEntry) (was proto.Message) {
	switch e.GetAction() {
	case "UpdateTenant", "PatchTenant", "DeleteTenant":
		was = &fairleadv1.Tenant{}
	case "SetLimit":
		was = &fairleadv1.Limit{}
	case "UpdateSchedule", "PatchSchedule":
		was = &fairleadv1.Schedule{}
	case "UpdateCalendar", "DeleteCalendar":
		was = &fairleadv1.Calendar{}
	}
	if was == nil || len(e.GetBefore()) == 0 || wire.Unmarshal(e.GetBefore(), was) != nil {
		return nil
	}
	return was
}

// revert fills the form with the values before the audit log entry that the parameters
// identify. The form still has the current values to detect conflicts, and nothing
// is saved until it is submitted.
func (v *visit) revert() error {
	if v.Get("revert") == "" {
		return nil
	}
	p := v.parameters()
	id, at, subject := p.number("revert"), p.time("at"), p.text("subject")
	p.text("next") // read by the form
	if err := p.err(); err != nil {
		return err
	}
	entry, err := v.auditEntry(id, at, subject)
	if err != nil {
		return err
	}
	way := v.Reversal(entry)
	if way == nil || way.Why != "" || !strings.HasPrefix(way.Href, v.Form()+"?") {
		return refuse("revert", v.T("must be an entry of the audit log that this form can revert"))
	}
	v.former = v.formerFields(entry)
	return nil
}

// auditEntry returns an entry of the audit log.
func (v *visit) auditEntry(id int64, at *timestamppb.Timestamp, subject string) (*fairleadv1.AuditEntry, error) {
	found, err := v.audit.ListAudit(v.ctx, &fairleadv1.ListAuditRequest{
		Subject: subject, From: at, To: timestamppb.New(at.AsTime().Add(time.Millisecond)), PageSize: listRows,
	})
	if err != nil {
		return nil, err
	}
	for _, entry := range found.GetItems() {
		if entry.GetId() == id {
			return entry, nil
		}
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New(v.T("The entry is no longer in the audit log.")))
}

// formerFields returns the fields of a form with the values from before a change.
func (v *visit) formerFields(e *fairleadv1.AuditEntry) (fields map[string]any) {
	switch was := formerOf(e).(type) {
	case *fairleadv1.Tenant:
		fields = v.TenantFields(was)
		fields["name"] = was.GetName()
	case *fairleadv1.Limit:
		fields = limitFields(was)
	case *fairleadv1.Schedule:
		fields = v.ScheduleFields(&scheduleForm{Schedule: was})
		fields["way"] = wayOf(was)
		delete(fields, "args") // never in the audit log
		delete(fields, "kind") // the current arguments would not fit another kind
	case *fairleadv1.Calendar:
		fields = v.CalendarFields(was)
		for _, tick := range fields["weekdays"].([]weekdayTick) {
			fields[tick.Name] = tick.Value
		}
	}
	return fields
}

// Reverting reports whether the form is filled with former values.
func (v *visit) Reverting() bool { return v.former != nil }
