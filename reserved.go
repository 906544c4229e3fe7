package fairlead

import "fmt"

// NoticeKind is the kind of jobs that tell a tenant what became of a job.
const NoticeKind = "notice"

// Notices have a queue and a tenant of their own: they count against no limit of the
// tenant that is told, and wait behind none of its jobs.
const (
	NoticeQueue  = "fairlead-notices"
	NoticeTenant = "fairlead-notices"
)

// IsReservedKind tells whether only Fairlead itself makes jobs of a kind: notices,
// completions of batches and calls of gates are sent in its name, signed with the key
// of a tenant, and shards of sweeps are what a sweep employs. The service refuses
// such jobs from callers and from remote workers; programs that use a Client on their
// own store are trusted, as they can write there anyway. StartKind is not reserved.
func IsReservedKind(kind string) bool {
	switch kind {
	case NoticeKind, CompletedKind, GateKind:
		return true
	}
	return IsShardKind(kind)
}

// IsNodeKind tells whether jobs of a kind are run by nodes alone: they act in the name
// of Fairlead for every tenant. A remote worker that leased them would read what
// tenants are told, and could keep it from them. Shards of sweeps are for workers too.
func IsNodeKind(kind string) bool {
	return kind == StartKind || IsReservedKind(kind) && !IsShardKind(kind)
}

// CheckUnreserved returns an *InvalidError, whose fields begin with the prefix, for a
// job that is not for callers to make.
func CheckUnreserved(prefix string, job *Job) error {
	var c complaints
	if IsReservedKind(job.Kind) {
		c.Refuse(prefix+"kind", "is %q, which is reserved: only Fairlead itself makes such jobs; choose another", job.Kind)
	}
	if job.Tenant == NoticeTenant {
		c.Refuse(prefix+"tenant", "is %q, which is reserved for notices; choose another", job.Tenant)
	}
	return Invalid(c.Found...)
}

// checkTaskKind refuses tasks whose jobs would be of a reserved kind.
func (b *Batch) checkTaskKind(change *Change) error {
	kind := TaskKind(change.Target.Type, b.Type)
	if !IsReservedKind(kind) && kind != StartKind {
		return nil
	}
	message := fmt.Sprintf("makes tasks of the kind %q in a batch of the type %q, which is reserved; choose another", kind, b.Type)
	return &InvalidError{Fields: []FieldError{{Field: "target.type", Message: message}}}
}
