package caller

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Bind restricts a joining worker to the tenants, kinds and queues of its token, and sets
// the owner of its session. It rejects kinds and queues that the token does not cover.
func (i Identity) Bind(node *fairlead.Node) error {
	refused := append(outside("kinds", node.Kinds, i.Kinds), outside("queues", node.Queues, i.Queues)...)
	if len(refused) > 0 {
		return &fairlead.InvalidError{Fields: refused}
	}
	if len(node.Queues) == 0 {
		node.Queues = i.Queues
	}
	node.Tenants, node.Owner = i.Tenants, i.Name
	return nil
}

// outside returns an error for each name that is not among those that a token is restricted
// to.
func outside(field string, names, bound []string) (refused []fairlead.FieldError) {
	for n, name := range names {
		if bound != nil && !slices.Contains(bound, name) {
			refused = append(refused, fairlead.FieldError{
				Field: fmt.Sprintf("%s[%d]", field, n), Message: fmt.Sprintf("is %q, which the token does not allow; omit it, or use a token that allows it", name),
			})
		}
	}
	return refused
}

// errNarrowed is the error for a worker that joined when its token covered more.
var errNarrowed = &rest.Error{Status: http.StatusForbidden, Detail: "the token no longer allows all kinds and queues that the worker joined with; join again"}

// Covers returns errNarrowed if a worker may run jobs that the caller may not: its token
// was replaced by one with the same name, or the identity provider has changed its claims.
func (i Identity) Covers(node *fairlead.Node) error {
	for _, binding := range []struct{ bound, has []string }{{i.Kinds, node.Kinds}, {i.Queues, node.Queues}, {i.Tenants, node.Tenants}} {
		if binding.bound != nil && (len(binding.has) == 0 || len(outside("", binding.has, binding.bound)) > 0) {
			return errNarrowed
		}
	}
	return nil
}

// CheckNewJob returns errors for a job that a worker requests as a replacement for its own, if
// the token does not cover its kind, queue or tenant, or if the job may cancel such a job,
// because kinds and queues share the keys of a tenant.
func (i Identity) CheckNewJob(at string, in *fairleadv1.NewJob) (refused []fairlead.FieldError) {
	job := message.NewJobOf(in)
	if job.Queue == "" {
		job.Queue = fairlead.DefaultQueue
	}
	if job.Tenant == "" {
		job.Tenant = fairlead.DefaultTenant
	}
	for _, binding := range []struct {
		field, name string
		bound       []string
	}{{"kind", job.Kind, i.Kinds}, {"queue", job.Queue, i.Queues}, {"tenant", job.Tenant, i.Tenants}} {
		if binding.bound != nil && !slices.Contains(binding.bound, binding.name) {
			refused = append(refused, fairlead.FieldError{Field: at + binding.field, Message: fmt.Sprintf("is %q, which the token is not for", binding.name)})
		}
	}
	if job.OnDuplicate == fairlead.ReplaceDuplicate && (i.Kinds != nil || i.Queues != nil) {
		refused = append(refused, fairlead.FieldError{
			Field: at + "on_duplicate", Message: `is "replace", which could cancel jobs of other kinds and queues; use "keep" or "error", or a token that is not bound to kinds or queues`,
		})
	}
	return refused
}
