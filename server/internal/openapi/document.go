package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// object is any part of the document.
type object map[string]any

// Document returns the OpenAPI document that describes routes.
func Document(routes []*rest.Route, version string) (map[string]any, error) {
	known, err := readComments()
	if err != nil {
		return nil, err
	}
	d := &describing{comments: known, schemas: object{}}
	paths := object{}
	for _, route := range routes {
		item, _ := paths[route.Path].(object)
		if item == nil {
			item = object{}
			paths[route.Path] = item
		}
		item[strings.ToLower(route.Verb)] = d.operation(route)
	}
	paths[CallbackPath] = callback()
	paths[UploadPath] = object{"post": d.upload()}
	d.schemas["Problem"] = problemSchema
	return object{
		"openapi":    "3.1.0",
		"info":       object{"title": "Fairlead", "version": version, "description": "Fairlead is a distributed scheduler for durable background jobs."},
		"paths":      paths,
		"components": object{"schemas": d.schemas},
	}, nil
}

var problemSchema = object{
	"type": "object",
	"properties": object{
		"type": object{"type": "string"}, "title": object{"type": "string"}, "status": object{"type": "integer"}, "detail": object{"type": "string"},
		"errors": object{"type": "array", "items": object{"type": "object", "properties": object{"field": object{"type": "string"}, "message": object{"type": "string"}}}},
	},
}

// describing is a document under construction.
type describing struct {
	comments comments
	schemas  object
}

// operationID returns the name of the method. For an additional route to the method, it
// appends the verb.
func operationID(route *rest.Route) string {
	if route.Also {
		return string(route.Method.Name()) + "By" + route.Verb
	}
	return string(route.Method.Name())
}

func (d *describing) operation(route *rest.Route) object {
	method := route.Method
	success := object{"description": "The request succeeded.", "content": object{"application/json": object{"schema": d.message(method.Output())}}}
	if route.Stream != nil {
		success = object{"description": "A stream of server-sent events, one for each change.", "content": object{"text/event-stream": object{"schema": d.message(method.Output())}}}
	}
	problem := object{"description": "Description of the error.", "content": object{"application/problem+json": object{"schema": ref("Problem")}}}
	operation := object{
		"operationId": operationID(route),
		"tags":        []string{strings.TrimSuffix(string(method.Parent().Name()), "Service")},
		"description": strings.TrimSpace(d.comments[string(method.FullName())] + fmt.Sprintf(" Requires the role %s.", route.Access.GetRole())),
		"responses":   object{strconv.Itoa(route.Status()): success, "default": problem},
	}
	if parameters := d.parameters(route); len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	if route.Body {
		operation["requestBody"] = object{"content": object{"application/json": object{"schema": d.message(method.Input())}}}
	}
	return operation
}

// parameters returns the parameters in the path and, for routes without a body, in the
// query.
func (d *describing) parameters(route *rest.Route) []object {
	var parameters []object
	fields := route.Method.Input().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		inPath := slices.Contains(route.Params, string(field.Name()))
		if !inPath && (route.Body || route.Verb == http.MethodDelete) {
			continue
		}
		place := "query"
		if inPath {
			place = "path"
		}
		parameters = append(parameters, object{
			"name": string(field.Name()), "in": place, "required": inPath, "description": d.comments[string(field.FullName())], "schema": d.field(field),
		})
	}
	return parameters
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// message returns a reference to the schema of a message, which is added once.
func (d *describing) message(message protoreflect.MessageDescriptor) object {
	name := string(message.Name())
	if _, known := d.schemas[name]; known {
		return ref(name)
	}
	properties, required := object{}, []string{}
	d.schemas[name] = object{} // defined early for messages that contain themselves
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		schema := d.field(field)
		if comment := d.comments[string(field.FullName())]; comment != "" {
			schema["description"] = comment
		}
		properties[string(field.Name())] = schema
		if rules := rulesOf(field); rules.GetRequired() {
			required = append(required, string(field.Name()))
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	if comment := d.comments[string(message.FullName())]; comment != "" {
		schema["description"] = comment
	}
	d.schemas[name] = schema
	return ref(name)
}

func rulesOf(field protoreflect.FieldDescriptor) *fairleadv1.Rules {
	rules, _ := proto.GetExtension(field.Options(), fairleadv1.E_Rules).(*fairleadv1.Rules)
	return rules
}

func (d *describing) field(field protoreflect.FieldDescriptor) object {
	rules := rulesOf(field)
	switch {
	case field.IsMap():
		return object{"type": "object", "additionalProperties": object{"type": "string"}}
	case field.IsList():
		list := object{"type": "array", "items": d.value(field, rules)}
		if rules != nil && rules.Min != nil {
			list["minItems"] = rules.GetMin()
		}
		if rules != nil && rules.Max != nil {
			list["maxItems"] = rules.GetMax()
		}
		return list
	}
	value := d.value(field, rules)
	if rules != nil && rules.Min != nil {
		value["minimum"] = rules.GetMin()
	}
	if rules != nil && rules.Max != nil {
		value["maximum"] = rules.GetMax()
	}
	return value
}

// value returns the schema of a single value of a field.
func (d *describing) value(field protoreflect.FieldDescriptor, rules *fairleadv1.Rules) object {
	switch field.Kind() {
	case protoreflect.MessageKind:
		switch field.Message().FullName() {
		case "google.protobuf.Timestamp":
			return object{"type": "string", "format": "date-time"}
		case "google.protobuf.Duration":
			return object{"type": "string", "examples": []string{"20s"}}
		}
		return d.message(field.Message())
	case protoreflect.BytesKind:
		if proto.GetExtension(field.Options(), fairleadv1.E_Json).(bool) {
			return object{} // any document
		}
		return object{"type": "string", "contentEncoding": "base64"}
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.Int32Kind:
		return object{"type": "integer"}
	case protoreflect.Int64Kind:
		return object{"type": []string{"string", "integer"}, "format": "int64"}
	case protoreflect.DoubleKind:
		return object{"type": "number"}
	}
	text := object{"type": "string"}
	if allowed := rules.GetIn(); len(allowed) > 0 {
		text["enum"] = allowed
	}
	if most := rules.GetMaxBytes(); most > 0 {
		text["maxLength"] = most
	}
	return text
}
