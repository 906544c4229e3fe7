// Command proto generates the Go code of the API from its schema.
//
// It compiles the .proto files of a directory, runs protobuf's generator for messages, and
// writes the clients of services. Imported files from elsewhere are taken from the Go
// packages generated from them, so that no copies are needed, and nothing is downloaded
// except Go modules.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	_ "google.golang.org/genproto/googleapis/api/annotations" // imported by the schema
)

func main() {
	root := flag.String("root", "api", "directory of the schema, to which the code is written too")
	flag.Parse()
	if err := generate(context.Background(), *root); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, root string) error {
	names, err := schemaFiles(root)
	if err != nil {
		return err
	}
	files, err := compile(ctx, root, names)
	if err != nil {
		return err
	}
	if err := writeSchema(filepath.Join(root, "schema.binpb"), names, files); err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, ProtoFile: files, Parameter: proto.String("paths=source_relative")}
	for _, generate := range []func(*pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error){
		func(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
			return writeMessages(ctx, request)
		},
		writeClients,
	} {
		response, err := generate(request)
		if err != nil {
			return err
		}
		if err := write(root, response); err != nil {
			return err
		}
	}
	return nil
}

// schemaFiles returns the .proto files below a directory.
func schemaFiles(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".proto" {
			return err
		}
		name, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("there is no .proto file below %s", root)
	}
	return names, err
}

// compile returns the files and all their imports, each after its own imports.
func compile(ctx context.Context, root string, names []string) ([]*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		SourceInfoMode: protocompile.SourceInfoStandard,
		Resolver: protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{root}},
			protocompile.ResolverFunc(linked),
		},
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	var ordered []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		ordered = append(ordered, protodesc.ToFileDescriptorProto(file))
	}
	for _, file := range compiled {
		add(file)
	}
	return ordered, nil
}

// writeSchema stores the schema with its comments, which the Go code lacks.
func writeSchema(path string, names []string, files []*descriptorpb.FileDescriptorProto) error {
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range files {
		if slices.Contains(names, file.GetName()) {
			set.File = append(set.File, file)
		}
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}

// linked returns a file with Go code that is linked into this program.
func linked(path string) (protocompile.SearchResult, error) {
	file, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: file}, nil
}

// writeMessages runs protobuf's generator for messages.
func writeMessages(ctx context.Context, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	const generator = "google.golang.org/protobuf/cmd/protoc-gen-go"
	raw, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	var answer bytes.Buffer
	command := exec.CommandContext(ctx, "go", "tool", generator)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(raw), &answer, os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", generator, err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	return response, proto.Unmarshal(answer.Bytes(), response)
}

// write stores the output of a generator.
func write(root string, response *pluginpb.CodeGeneratorResponse) error {
	if response.GetError() != "" {
		return errors.New(response.GetError())
	}
	for _, file := range response.GetFile() {
		path := filepath.Join(root, filepath.FromSlash(file.GetName()))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
		fmt.Println(strings.TrimPrefix(path, root+string(filepath.Separator)))
	}
	return nil
}
