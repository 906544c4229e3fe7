package rest

import (
	"fmt"
	"net/http"
	"regexp"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// Route is an HTTP route to an API method.
type Route struct {
	*Endpoint
	Verb   string // HTTP method
	Path   string // in the syntax of net/http
	Params []string
	Body   bool // fields come from the body instead of the query
	Also   bool // the method has an earlier route
}

// Status returns the HTTP status code of a successful response.
func (r *Route) Status() int {
	if proto.GetExtension(r.Method.Options(), fairleadv1.E_Created).(bool) {
		return http.StatusCreated
	}
	return http.StatusOK
}

// Pattern returns the route's pattern for http.ServeMux.
func (r *Route) Pattern() string { return r.Verb + " " + r.Path }

var pathParam = regexp.MustCompile(`\{([a-z_]+)\}`)

// Routes returns the routes of the endpoints, in schema order. A method without an HTTP
// annotation has no route.
func Routes(endpoints []*Endpoint) ([]*Route, error) {
	var routes []*Route
	for _, endpoint := range endpoints {
		rule, annotated := proto.GetExtension(endpoint.Method.Options(), annotations.E_Http).(*annotations.HttpRule)
		if !annotated || rule == nil {
			continue
		}
		for i, rule := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
			route, err := newRoute(endpoint, rule)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", endpoint.Method.FullName(), err)
			}
			route.Also = i > 0
			routes = append(routes, route)
		}
	}
	return routes, nil
}

func newRoute(endpoint *Endpoint, rule *annotations.HttpRule) (*Route, error) {
	r := &Route{Endpoint: endpoint}
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		r.Verb, r.Path = http.MethodGet, pattern.Get
	case *annotations.HttpRule_Post:
		r.Verb, r.Path = http.MethodPost, pattern.Post
	case *annotations.HttpRule_Put:
		r.Verb, r.Path = http.MethodPut, pattern.Put
	case *annotations.HttpRule_Patch:
		r.Verb, r.Path = http.MethodPatch, pattern.Patch
	case *annotations.HttpRule_Delete:
		r.Verb, r.Path = http.MethodDelete, pattern.Delete
	default:
		return nil, fmt.Errorf("the annotation has no supported verb")
	}
	switch rule.GetBody() {
	case "", "*":
		r.Body = rule.GetBody() == "*"
	default:
		return nil, fmt.Errorf("the body is %q; it must be \"*\" or empty", rule.GetBody())
	}
	for _, param := range pathParam.FindAllStringSubmatch(r.Path, -1) {
		if endpoint.Method.Input().Fields().ByTextName(param[1]) == nil {
			return nil, fmt.Errorf("the path names %s, which is not a field of the request", param[1])
		}
		r.Params = append(r.Params, param[1])
	}
	return r, nil
}
