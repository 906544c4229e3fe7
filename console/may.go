package console

import (
	"errors"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// rolesOf returns the roles required by the schema, by method name.
var rolesOf = sync.OnceValue(func() map[string]access.Role {
	roles := map[string]access.Role{}
	protoregistry.GlobalFiles.RangeFilesByPackage(fairleadv1.File_fairlead_v1_job_proto.Package(), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				rule, _ := proto.GetExtension(methods.Get(j).Options(), fairleadv1.E_Access).(*fairleadv1.Access)
				roles[string(methods.Get(j).Name())] = access.Role(rule.GetRole())
			}
		}
		return true
	})
	return roles
})

// May reports whether the viewer's role permits a method of the API; otherwise its button
// is not shown. The API enforces permissions; it alone checks tenants and other
// restrictions.
func (v *viewer) May(method string) bool {
	needed, known := rolesOf()[method]
	return known && access.Role(v.Role).May(needed)
}

// errMayNot returns the error for a viewer who requests a form without having its button.
func errMayNot(v *visit) error {
	return connect.NewError(connect.CodePermissionDenied, errors.New(v.T("Your role (%s) does not allow this action.", v.Role)))
}
