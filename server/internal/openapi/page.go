package openapi

import (
	"bytes"
	_ "embed" // for page.html
	"html/template"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/server/internal/rest"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// group is a service with its operations.
type group struct {
	Name, About string
	Operations  []operation
}

type operation struct {
	Name, Verb, Path, About, Role string
	Input                         []input
	Answer                        string
	Stream                        bool
}

// input is a parameter or a body field of a request.
type input struct {
	Name, Place, Type, About string
	Required                 bool
}

// Page returns the API reference as a self-contained HTML page.
func Page(routes []*rest.Route, version string) ([]byte, error) {
	known, err := readComments()
	if err != nil {
		return nil, err
	}
	var groups []*group
	for _, route := range routes {
		service := route.Method.Parent()
		name := strings.TrimSuffix(string(service.Name()), "Service")
		if len(groups) == 0 || groups[len(groups)-1].Name != name {
			groups = append(groups, &group{Name: name, About: known[string(service.FullName())]})
		}
		last := groups[len(groups)-1]
		last.Operations = append(last.Operations, describe(route, known))
		if route.Method.Name() == "CreateBatch" {
			last.Operations = append(last.Operations, describeUpload(known))
		}
	}
	groups = append(groups, callbackGroup())
	var out bytes.Buffer
	err = page.Execute(&out, map[string]any{"Version": version, "Groups": groups})
	return out.Bytes(), err
}

func describe(route *rest.Route, known comments) operation {
	method := route.Method
	o := operation{
		Name: operationID(route), Verb: route.Verb, Path: route.Path, About: known[string(method.FullName())],
		Role: route.Access.GetRole(), Answer: string(method.Output().Name()), Stream: route.Stream != nil,
	}
	fields := method.Input().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		in := input{
			Name: string(field.Name()), Place: "query", Type: typeName(field), About: known[string(field.FullName())], Required: rulesOf(field).GetRequired(),
		}
		switch {
		case slices.Contains(route.Params, in.Name):
			in.Place = "path"
		case route.Body:
			in.Place = "body"
		}
		o.Input = append(o.Input, in)
	}
	return o
}

// typeName returns the name of a field's type for people.
func typeName(field protoreflect.FieldDescriptor) string {
	name := map[protoreflect.Kind]string{
		protoreflect.BoolKind: "boolean", protoreflect.Int32Kind: "number", protoreflect.Int64Kind: "number", protoreflect.DoubleKind: "number",
		protoreflect.BytesKind: "JSON", protoreflect.StringKind: "string",
	}[field.Kind()]
	if field.Kind() == protoreflect.MessageKind && !field.IsMap() {
		name = map[protoreflect.FullName]string{"google.protobuf.Timestamp": "time", "google.protobuf.Duration": "duration"}[field.Message().FullName()]
		if name == "" {
			name = string(field.Message().Name())
		}
	}
	switch {
	case field.IsMap():
		return "map of strings"
	case field.IsList():
		return "list of " + name
	}
	return name
}
