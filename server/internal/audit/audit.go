// Package audit records what callers change.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Recorder records the actions of callers in the audit log.
type Recorder struct {
	registrar access.Store
	log       *slog.Logger
	Before    map[protoreflect.Name]func(ctx context.Context, request proto.Message) (proto.Message, error) // by service
	Sums      *Sums
}

// New returns an auditor that stores its entries with the registrar.
func New(registrar access.Store, log *slog.Logger) *Recorder {
	return &Recorder{registrar: registrar, log: log, Sums: NewSums()}
}

// auditPatience is the timeout for writing to the audit log.
const auditPatience = 5 * time.Second

// Logged reports whether calls of an endpoint belong in the audit log.
func Logged(endpoint *rest.Endpoint) bool {
	rule, annotated := proto.GetExtension(endpoint.Method.Options(), annotations.E_Http).(*annotations.HttpRule)
	reads := annotated && rule.GetGet() != ""
	return !reads && !endpoint.Access.GetUnlogged()
}

// IsDryRun reports whether a request is a dry run, which changes nothing.
func IsDryRun(request proto.Message) bool {
	asked, can := request.(interface{ GetDryRun() bool })
	return can && asked.GetDryRun()
}

// Around performs a call and records it. It does not record refused calls, because they
// changed nothing.
func (a *Recorder) Around(ctx context.Context, endpoint *rest.Endpoint, request proto.Message, next func(context.Context, proto.Message) (proto.Message, error)) (proto.Message, error) {
	if endpoint.Access.GetSummed() {
		answer, err := next(ctx, request)
		if err == nil {
			a.Sums.add(ctx, endpoint, answer)
		}
		return answer, err
	}
	entry := NewEntry(ctx, endpoint)
	entry.Subject = SubjectOf(endpoint, request)
	var before proto.Message
	if read := a.Before[endpoint.Method.Parent().Name()]; read != nil {
		before, _ = read(ctx, request) // left out if it cannot be read
	}
	answer, err := next(ctx, request)
	if Refused(err) {
		return answer, err
	}
	after := answer
	if err != nil || empty(answer) {
		after = request
	}
	if err != nil {
		entry.Error = "it is unknown whether this happened"
	}
	entry.Before, entry.After = shown(before), shown(after)
	entry.Tenant = TenantIn(after, before, request)
	a.Write(ctx, entry)
	return answer, err
}

// NewEntry returns an entry for a call of an endpoint by the caller of the request.
func NewEntry(ctx context.Context, endpoint *rest.Endpoint) access.Entry {
	c := caller.Of(ctx)
	return access.Entry{Actor: c.Identity.Name, Role: c.Identity.Role, From: c.From, Action: string(endpoint.Method.Name())}
}

// Write stores entries. The caller gets its answer even if the entries cannot be written.
func (a *Recorder) Write(ctx context.Context, entries ...access.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditPatience)
	defer cancel()
	if err := a.registrar.Audit(ctx, entries); err != nil {
		for _, e := range entries { // not as the "error" attribute: log limits during outages must not drop entries stored nowhere else
			a.log.Error("audit log write failed", "actor", e.Actor, "action", e.Action, "subject", e.Subject, "cause", err)
		}
	}
}

// Refused reports whether an error means that nothing was changed.
func Refused(err error) bool {
	for _, known := range []error{fairlead.ErrInvalid, fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, known) {
			return true
		}
	}
	var own *rest.Error
	return errors.As(err, &own) && (own.Status < http.StatusInternalServerError || own.Status == http.StatusBadGateway) // the gate did not respond
}

// SubjectOf returns the object of a request, such as "queue:mail".
func SubjectOf(endpoint *rest.Endpoint, request proto.Message) string {
	noun := strings.ToLower(strings.TrimSuffix(string(endpoint.Method.Parent().Name()), "Service"))
	message := request.ProtoReflect()
	for _, name := range []protoreflect.Name{"ref", "id", "name", "scope"} {
		field := message.Descriptor().Fields().ByName(name)
		switch {
		case field == nil || !message.Has(field):
		case field.Kind() == protoreflect.Int64Kind:
			return noun + ":" + strconv.FormatInt(message.Get(field).Int(), 10)
		case field.Kind() == protoreflect.StringKind:
			return noun + ":" + message.Get(field).String()
		}
	}
	return noun
}

// TenantIn returns the tenant named by the first of the messages that names one.
func TenantIn(messages ...proto.Message) string {
	for _, message := range messages {
		switch m := message.(type) {
		case *fairleadv1.Tenant:
			return m.GetName()
		case *fairleadv1.Schedule:
			return m.GetJob().GetTenant()
		case interface{ GetTenant() string }:
			return m.GetTenant()
		}
	}
	return ""
}

func empty(message proto.Message) bool {
	return message == nil || proto.Size(message) == 0
}

// maxShown limits the size of a message in the audit log, in bytes.
const maxShown = 16 << 10

// shown returns the form of a message for the audit log: without secrets, and without the
// input and output of handlers, which may contain anything.
func shown(message proto.Message) []byte {
	if message == nil || !message.ProtoReflect().IsValid() {
		return nil
	}
	clean := proto.Clone(message)
	wipe(clean.ProtoReflect())
	raw, err := wire.Marshal(clean)
	if err != nil || len(raw) > maxShown {
		return nil
	}
	return raw
}

func wipe(message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		options := field.Options()
		switch {
		case proto.GetExtension(options, fairleadv1.E_Secret).(bool), proto.GetExtension(options, fairleadv1.E_Private).(bool), proto.GetExtension(options, fairleadv1.E_Json).(bool):
			message.Clear(field)
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				wipe(value.List().Get(i).Message())
			}
		case field.Message() != nil && !field.IsMap() && !field.IsList():
			wipe(value.Message())
		}
		return true
	})
}
