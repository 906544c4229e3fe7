package openapi

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/fairlead-io/fairlead/api"
)

// comments contains the comments of the schema by the full name of the declaration.
type comments map[string]string

// Field numbers that source info uses in paths to declarations.
const (
	messageInFile    = 4
	serviceInFile    = 6
	fieldInMessage   = 2
	methodInService  = 2
	declarationDepth = 2 // length of a path to a message or service; fields and methods are one step deeper
)

func readComments() (comments, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(api.Schema, set); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	found := comments{}
	for _, file := range set.GetFile() {
		for _, location := range file.GetSourceCodeInfo().GetLocation() {
			if name := nameAt(file, location.GetPath()); name != "" {
				found[file.GetPackage()+"."+name] = clean(location.GetLeadingComments())
			}
		}
	}
	return found, nil
}

// nameAt returns the name of the declaration at a path, without its package, or "" if it is
// not a relevant declaration.
func nameAt(file *descriptorpb.FileDescriptorProto, path []int32) string {
	if len(path) < declarationDepth || len(path)%2 != 0 {
		return ""
	}
	kind, index := path[0], path[1]
	switch {
	case kind == messageInFile && len(path) == declarationDepth:
		return file.GetMessageType()[index].GetName()
	case kind == messageInFile && len(path) == 2*declarationDepth && path[2] == fieldInMessage:
		message := file.GetMessageType()[index]
		return message.GetName() + "." + message.GetField()[path[3]].GetName()
	case kind == serviceInFile && len(path) == declarationDepth:
		return file.GetService()[index].GetName()
	case kind == serviceInFile && len(path) == 2*declarationDepth && path[2] == methodInService:
		service := file.GetService()[index]
		return service.GetName() + "." + service.GetMethod()[path[3]].GetName()
	}
	return ""
}

// clean joins the lines of a comment.
func clean(comment string) string { return strings.Join(strings.Fields(comment), " ") }
