// Package masks replaces confidential values in responses.
package masks

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/server/internal/audit"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// masksFresh is how long the list of confidential fields is cached.
const masksFresh = time.Second

// Masks replaces confidential values by "***" in responses. The responses of all methods
// pass through it, for every protocol, so that no method can forget it. The services behind
// it use the stored values. Workers get the stored values because they need them to run
// jobs.
type Masks struct {
	store fairlead.Confider
	Audit func(ctx context.Context, entries ...access.Entry)

	mu     sync.Mutex
	fields fairlead.Confidential
	readAt time.Time
}

// New returns masks for the confidential fields that are stored.
func New(store fairlead.Confider) *Masks { return &Masks{store: store} }

// known returns the confidential fields. If they cannot be determined, requests fail.
func (m *Masks) known(ctx context.Context) (fairlead.Confidential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if age := time.Since(m.readAt); m.fields != nil && age >= 0 && age < masksFresh {
		return m.fields, nil
	}
	fields, err := m.store.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	m.fields, m.readAt = fields, time.Now()
	return fields, nil
}

// Forget clears the cached list of confidential fields.
func (m *Masks) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fields = nil
}

// Around returns endpoints whose responses pass through the masks.
func (m *Masks) Around(endpoints []*rest.Endpoint) []*rest.Endpoint {
	masked := make([]*rest.Endpoint, len(endpoints))
	for i, endpoint := range endpoints {
		masked[i] = m.endpoint(endpoint)
	}
	return masked
}

func (m *Masks) endpoint(endpoint *rest.Endpoint) *rest.Endpoint {
	if endpoint.Method.Parent().Name() == "WorkerService" {
		return endpoint
	}
	if !masking(endpoint.Method.Output(), map[protoreflect.FullName]bool{}) && endpoint.Method.Input().FullName() != nameOf[*fairleadv1.GetJobRequest]() {
		return endpoint // nothing to mask or reveal
	}
	masked := *endpoint
	if endpoint.Call != nil {
		masked.Call = func(ctx context.Context, request proto.Message) (proto.Message, error) {
			return m.call(ctx, endpoint, request)
		}
	}
	if endpoint.Stream != nil {
		masked.Stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
			if err := unrevealing(request); err != nil {
				return err
			}
			return endpoint.Stream(ctx, request, func(answer proto.Message) error {
				if err := m.Hide(ctx, answer); err != nil {
					return err
				}
				return send(answer)
			})
		}
	}
	return &masked
}

// call answers one request.
func (m *Masks) call(ctx context.Context, endpoint *rest.Endpoint, request proto.Message) (proto.Message, error) {
	if asked, ok := request.(*fairleadv1.GetJobRequest); ok && asked.GetReveal() && endpoint.Method.Name() == "GetJob" {
		return m.reveal(ctx, endpoint, asked)
	}
	if err := unrevealing(request); err != nil {
		return nil, err
	}
	answer, err := endpoint.Call(ctx, request)
	if err != nil {
		return nil, err
	}
	if err := m.Hide(ctx, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// unrevealing rejects requests for confidential values in methods that do not return them.
func unrevealing(request proto.Message) error {
	if asked, ok := request.(*fairleadv1.GetJobRequest); ok && asked.GetReveal() {
		return rest.InvalidField("reveal", "applies only to GET /api/v1/jobs/{id}; omit it")
	}
	return nil
}

// reveal returns a job with its confidential values to a caller with permission to see
// them. It records the access in the audit log before it returns the job.
func (m *Masks) reveal(ctx context.Context, endpoint *rest.Endpoint, request *fairleadv1.GetJobRequest) (proto.Message, error) {
	if role := caller.Of(ctx).Identity.Role; !role.May(access.RoleAdmin) {
		return nil, caller.ErrRole(role, access.RoleAdmin)
	}
	answer, err := endpoint.Call(ctx, request)
	if err != nil {
		return nil, err
	}
	entry := audit.NewEntry(ctx, endpoint)
	entry.Action, entry.Subject, entry.Tenant = "RevealJob", audit.SubjectOf(endpoint, request), audit.TenantIn(answer)
	m.Audit(ctx, entry)
	return answer, nil
}

// Before returns functions that read the objects about to be changed for the audit log,
// masked.
func (m *Masks) Before(reads map[protoreflect.Name]func(context.Context, proto.Message) (proto.Message, error)) map[protoreflect.Name]func(context.Context, proto.Message) (proto.Message, error) {
	for service, read := range reads {
		reads[service] = func(ctx context.Context, request proto.Message) (proto.Message, error) {
			found, err := read(ctx, request)
			if err != nil || found == nil || !found.ProtoReflect().IsValid() {
				return nil, err
			}
			if err := m.Hide(ctx, found); err != nil {
				return nil, err
			}
			return found, nil
		}
	}
	return reads
}

// Hide masks a message that only the caller has.
func (m *Masks) Hide(ctx context.Context, message proto.Message) error {
	if message == nil {
		return nil
	}
	fields, err := m.known(ctx)
	if err != nil {
		return err
	}
	hideIn(fields, message.ProtoReflect())
	return nil
}

// HideAttempts masks confidential values of a job in the errors of its attempts, which do
// not name the job.
func (m *Masks) HideAttempts(ctx context.Context, job *fairlead.Job, attempts []fairlead.Attempt) error {
	if m == nil {
		return nil
	}
	fields, err := m.known(ctx)
	if err != nil {
		return err
	}
	secrets := mask.Secrets(mask.Fields(fields, job.Kind, job.Args), mask.Job{Args: job.Args, Output: job.Output, Progress: job.Progress, Reported: job.Told, Memo: job.Memo})
	for i := range attempts {
		attempts[i].Error = secrets.Text(attempts[i].Error)
	}
	return nil
}

// OfSweep returns the confidential values of a sweep, to mask them in errors, log lines and notes.
func (m *Masks) OfSweep(ctx context.Context, s *sweep.Sweep) (mask.Values, error) {
	if m == nil {
		return mask.Values{}, nil
	}
	fields, err := m.known(ctx)
	if err != nil {
		return mask.Values{}, err
	}
	return mask.Secrets(mask.Fields(fields, sweep.KindOf(s.Kind), s.Data), mask.Job{Args: s.Data}), nil
}

// hideIn masks a message and the messages that it contains.
func hideIn(fields fairlead.Confidential, message protoreflect.Message) {
	if hide := maskers[message.Descriptor().FullName()]; hide != nil {
		hide(fields, message.Interface())
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				hideIn(fields, value.List().Get(i).Message())
			}
		default:
			hideIn(fields, value.Message())
		}
		return true
	})
}

// masking reports whether messages of a type contain anything to mask.
func masking(message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if maskers[message.FullName()] != nil {
		return true
	}
	if seen[message.FullName()] {
		return false
	}
	seen[message.FullName()] = true
	for i := range message.Fields().Len() {
		if inner := message.Fields().Get(i).Message(); inner != nil && masking(inner, seen) {
			return true
		}
	}
	return false
}
