package fairlead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// tooHeavy are packages that the program is built without, by the beginning of their paths.
var tooHeavy = []struct{ path, instead string }{
	{"google.golang.org/grpc", "Connect serves gRPC, and cmd/fairlead/internal/otlp sends traces over HTTP"},
	{"github.com/grpc-ecosystem/", "server/internal/rest makes routes of the schema"},
	{"go.opentelemetry.io/otel/exporters/", "cmd/fairlead/internal/otlp sends traces, without gRPC"},
	{"go.opentelemetry.io/proto/", "cmd/fairlead/internal/otlp writes the one message that it sends"},
	{"charm.land/", "internal/top draws its lines itself"},
	{"golang.org/x/net/http2", "net/http speaks HTTP/2"},
	{module + "/internal/testdb", "only tests start database servers"},
	{"testing", "only tests are tested"},
}

// A fresh clone compiles every package that the program depends on, in minutes.
func TestTheProgramIsBuiltWithoutHeavyPackages(t *testing.T) {
	if _, err := os.ReadFile("go.sum"); err != nil { // go test keeps the result only as long as it is the same
		t.Fatal(err)
	}
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/fairlead").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(listed)) {
		name = strings.TrimSpace(name)
		for _, heavy := range tooHeavy {
			if strings.HasPrefix(name, heavy.path) {
				t.Errorf("the program depends on %s: %s; go mod why -m says by which way", name, heavy.instead)
			}
		}
	}
}

// perMessage are the names of package connect that are compiled anew for each type of
// message that they are used with.
var perMessage = []string{
	"Client", "NewClient", "Request", "NewRequest", "Response", "NewResponse",
	"NewUnaryHandler", "NewUnaryHandlerSimple", "NewClientStreamHandler", "NewClientStreamHandlerSimple",
	"NewServerStreamHandler", "NewServerStreamHandlerSimple", "NewBidiStreamHandler",
	"ClientStream", "ServerStream", "BidiStream", "ClientStreamForClient", "ClientStreamForClientSimple",
	"ServerStreamForClient", "BidiStreamForClient", "BidiStreamForClientSimple",
}

// Once for all methods they are a second of compiling; once for each they were 17.
func TestConnectIsInstantiatedOnce(t *testing.T) {
	const one = "api/rpc"
	instantiated := false
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, name := range perMessageNames(t, file) {
			if path.Dir(file) == one {
				instantiated = true
			} else {
				t.Errorf("%s uses connect.%s, which is compiled for each type of message: only %s does, for all", file, name, one)
			}
		}
	}
	if !instantiated {
		t.Errorf("%s does not use what this test looks for", one)
	}
}

// perMessageNames lists what a file uses of perMessage.
func perMessageNames(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(parsed.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"connectrpc.com/connect"` }) {
		return nil
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && slices.Contains(perMessage, selector.Sel.Name) {
			if from, ok := selector.X.(*ast.Ident); ok && from.Name == "connect" {
				names = append(names, selector.Sel.Name)
			}
		}
		return true
	})
	return names
}
