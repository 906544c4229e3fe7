package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Ten thousand invalid requests are rejected with the name of the wrong field, and none of
// them makes the service fail.
func TestMalformedRequestsAreRefusedByField(t *testing.T) {
	const requests = 10_000
	a := newGuardedAPI(t)
	secrets := []string{a.token("admin", ""), a.token("worker", "")}
	random := rand.New(rand.NewPCG(7, 7))
	all := slices.DeleteFunc(methods(), func(m protoreflect.MethodDescriptor) bool { return ruleOf(m) == nil })
	for n := range requests {
		method := all[random.IntN(len(all))]
		request, what := malformed(t, random, method)
		// Who may call a method of workers may call nothing else.
		for _, secret := range secrets {
			request := request()
			request.Header.Set("Authorization", "Bearer "+secret)
			answer := httptest.NewRecorder()
			a.service.ServeHTTP(answer, request)
			if answer.Code == http.StatusForbidden {
				continue
			}
			var problem struct {
				Errors []struct{ Field, Message string }
			}
			_ = json.Unmarshal(answer.Body.Bytes(), &problem)
			if answer.Code < 400 || answer.Code > 499 || len(problem.Errors) == 0 || problem.Errors[0].Field == "" || problem.Errors[0].Message == "" {
				t.Fatalf("request %d, %s %s (%s): %d %s", n, request.Method, request.URL, what, answer.Code, answer.Body)
			}
		}
	}
}

// malformed draws a request to a method with one thing wrong with it.
func malformed(t *testing.T, random *rand.Rand, method protoreflect.MethodDescriptor) (request func() *http.Request, what string) {
	rule := ruleOf(method)
	verb, path := verbAndPath(rule)
	if rule.GetBody() != "*" {
		path = withParams(path, nil)
		query := wrongQuery(random, method.Input())
		return func() *http.Request {
			return httptest.NewRequestWithContext(t.Context(), verb, path+"?"+query, http.NoBody)
		}, query
	}
	body := wrongBody(random, method.Input())
	path = withParams(path, nil)
	return func() *http.Request {
		return httptest.NewRequestWithContext(t.Context(), verb, path, strings.NewReader(body))
	}, body
}

func verbAndPath(rule *annotations.HttpRule) (verb, path string) {
	for v, p := range map[string]string{"GET": rule.GetGet(), "POST": rule.GetPost(), "PUT": rule.GetPut(), "PATCH": rule.GetPatch(), "DELETE": rule.GetDelete()} {
		if p != "" {
			verb, path = v, p
		}
	}
	return verb, path
}

// withParams puts values into a path; 1 where there is none.
func withParams(path string, values map[string]any) string {
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(path, func(param string) string {
		value, given := values[strings.Trim(param, "{}")]
		if !given {
			return "1"
		}
		return url.PathEscape(fmt.Sprint(value))
	})
}

func wrongQuery(random *rand.Rand, message protoreflect.MessageDescriptor) string {
	wrong := []string{"nonsense=1", "nonsense", "%00=1", "a.b=c"}
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		name := string(field.Name())
		switch field.Kind() {
		case protoreflect.Int32Kind, protoreflect.Int64Kind:
			wrong = append(wrong, name+"=x", name+"=1.5", name+"=99999999999999999999", name+"=")
		case protoreflect.BoolKind:
			wrong = append(wrong, name+"=maybe", name+"=2")
		case protoreflect.MessageKind:
			wrong = append(wrong, name+"=yesterday", name+"=", name+"=99")
		case protoreflect.StringKind:
			wrong = append(wrong, name+"=%ff%fe")
		}
	}
	return wrong[random.IntN(len(wrong))]
}

// wrongValues returns JSON values that are invalid for a kind of field.
func wrongValues(field protoreflect.FieldDescriptor) []string {
	switch {
	case field.IsMap():
		return []string{`1`, `"x"`, `[1]`, `{"a":1}`}
	case field.IsList():
		return []string{`1`, `"x"`, `{"a":1}`, `[null]`, `[[1]]`}
	}
	switch field.Kind() {
	case protoreflect.Int32Kind:
		return []string{`"x"`, `1.5`, `3000000000`, `true`, `{}`, `[1]`, `1e400`}
	case protoreflect.Int64Kind:
		return []string{`"x"`, `1.5`, `99999999999999999999`, `true`, `{}`, `[1]`}
	case protoreflect.DoubleKind:
		return []string{`"x"`, `true`, `{}`, `[1]`, `1e999`}
	case protoreflect.BoolKind:
		return []string{`1`, `"yes"`, `{}`}
	case protoreflect.StringKind:
		return []string{`1`, `true`, `{}`, `["x"]`, "\"\xff\xfe\"", `"\ud800"`}
	case protoreflect.MessageKind:
		return []string{`1`, `"x"`, `true`, `[1]`, `{"nonsense":1}`}
	default:
		return []string{`{"a":`, `[1,`, `nul`} // JSON of its own: only what is none
	}
}

func wrongBody(random *rand.Rand, message protoreflect.MessageDescriptor) string {
	whole := []string{
		`{`, `}`, `[]`, `1`, `"x"`, `nul`, `{"a"}`, `{"a":}`, `{"nonsense":1}`, `{"Id":1}`, "{\"\xff\":1}", `{} {}`,
		strings.Repeat(`{"a":`, 10_000), strings.Repeat(`[`, 100_000), `{"` + strings.Repeat("x", 10_000) + `":1}`, "\x00", `{"a":1,}`, `{/*x*/}`,
	}
	if message.Fields().Len() == 0 || random.IntN(4) == 0 {
		return whole[random.IntN(len(whole))]
	}
	field := message.Fields().Get(random.IntN(message.Fields().Len()))
	name := string(field.Name())
	if field.IsList() && field.Kind() == protoreflect.MessageKind && random.IntN(3) > 0 {
		return fmt.Sprintf(`{%q:[%s]}`, name, wrongBody(random, field.Message()))
	}
	values := wrongValues(field)
	return fmt.Sprintf(`{%q:%s}`, name, values[random.IntN(len(values))])
}

func TestATokenForAnEmptyListOfTenantsIsRefused(t *testing.T) {
	a := newAPI(t)
	for _, tenants := range []string{"[]", "null"} {
		problem, _ := a.send(400, "POST", "/api/v1/tokens", `{"name":"n","role":"viewer","tenants":`+tenants+`}`)
		if text := refusals(problem)["tenants"]; !strings.Contains(text, "specify at least 1, or omit the field") {
			t.Errorf("%s is answered with %v", tenants, problem)
		}
	}
	a.send(200, "POST", "/api/v1/tokens", `{"name":"n","role":"viewer"}`)
}
