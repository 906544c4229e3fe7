package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/sweep"
)

// maskers mask the messages that show something of jobs.
var maskers = map[protoreflect.FullName]func(fields fairlead.Confidential, message proto.Message){
	nameOf[*fairleadv1.Job]():          masker(maskJob),
	nameOf[*fairleadv1.NewJob]():       masker(maskNewJob),
	nameOf[*fairleadv1.Alert]():        masker(maskAlert),
	nameOf[*fairleadv1.AlertRule]():    masker(maskAlertRule),
	nameOf[*fairleadv1.Task]():         masker(maskTask),
	nameOf[*fairleadv1.TaskRun]():      masker(maskTaskRun),
	nameOf[*fairleadv1.Batch]():        masker(maskBatch),
	nameOf[*fairleadv1.BatchTask]():    masker(maskBatchTask),
	nameOf[*fairleadv1.BatchJob]():     masker(maskBatchJob),
	nameOf[*fairleadv1.BatchJobTask](): masker(maskBatchJobTask),
	nameOf[*fairleadv1.Sweep]():        masker(maskSweep),
}

func nameOf[Message proto.Message]() protoreflect.FullName {
	var none Message
	return none.ProtoReflect().Descriptor().FullName()
}

func masker[Message proto.Message](mask func(fairlead.Confidential, Message)) func(fairlead.Confidential, proto.Message) {
	return func(fields fairlead.Confidential, message proto.Message) { mask(fields, message.(Message)) }
}

func maskJob(all fairlead.Confidential, job *fairleadv1.Job) {
	shown := mask.Show(fieldsOf(all, job.GetKind(), job.GetArgs()), mask.Job{
		Args: job.GetArgs(), Output: job.GetOutput(), Progress: job.GetProgress(), Reported: job.GetReported(), Memo: job.GetMemo(), Error: job.GetError(),
	})
	job.Args, job.Output, job.Progress, job.Reported, job.Memo, job.Error = shown.Args, shown.Output, shown.Progress, shown.Reported, shown.Memo, shown.Error
}

// fieldsOf are the confidential fields of a job of a kind: those that were declared, and headers
// of calls that hold secrets by their names. A job that asks the gate of a sweep has the args of
// the sweep, whose kind it does not say: what is confidential of one is so of all.
func fieldsOf(all fairlead.Confidential, kind string, args json.RawMessage) []string {
	switch kind {
	case httpcall.Kind, sweep.KindOf(httpcall.Kind):
		return slices.Concat(all[kind], httpcall.Confidential(args))
	case sweep.GateKind:
		var asked sweep.GateCall
		_ = json.Unmarshal(args, &asked) // what cannot be read has no headers
		var fields []string
		for _, field := range slices.Concat(kindsLike(all, sweep.KindOf(""), ""), httpcall.Confidential(asked.Data)) {
			if inside, is := strings.CutPrefix(field+".", "args."); is {
				fields = append(fields, strings.TrimSuffix("args.data."+inside, "."))
			}
		}
		return fields
	}
	return all[kind]
}

func maskNewJob(all fairlead.Confidential, job *fairleadv1.NewJob) {
	job.Args = mask.Document(fieldsOf(all, job.GetKind(), job.GetArgs()), "args", job.GetArgs())
}

// maskSweep masks what the items of a sweep are handled with.
func maskSweep(all fairlead.Confidential, s *fairleadv1.Sweep) {
	s.Args = mask.Document(fieldsOf(all, sweep.KindOf(s.GetKind()), s.GetArgs()), "args", s.GetArgs())
}

// maskAlert masks what becomes a job of the kind http.
func maskAlert(all fairlead.Confidential, alert *fairleadv1.Alert) {
	maskCall(all, &alert.Url, &alert.Headers, &alert.Body)
}

func maskAlertRule(all fairlead.Confidential, rule *fairleadv1.AlertRule) {
	maskCall(all, &rule.Url, &rule.Headers, &rule.Body)
}

// maskCall masks a call. Headers get a map of their own: that of the message may be the one
// that is sent with alerts.
func maskCall(all fairlead.Confidential, url *string, headers *map[string]string, body *[]byte) {
	args, _ := alertDocument("", *headers, nil) // texts always encode
	fields := fieldsOf(all, httpcall.Kind, args)
	maskText(fields, "args.url", url)
	*headers = maps.Clone(*headers)
	for name, value := range *headers {
		maskText(fields, "args.headers."+name, &value)
		(*headers)[name] = value
	}
	*body = maskMember(fields, "args.body", *body)
}

// maskTask masks what a task says of its call.
func maskTask(all fairlead.Confidential, task *fairleadv1.Task) {
	var text string // headers are answered as the text of a document
	_ = json.Unmarshal(task.GetHeadersJson(), &text)
	fields := fieldsOf(all, httpcall.Kind, json.RawMessage(`{"headers":`+text+`}`))
	if task.TargetUrl != nil {
		maskText(fields, "args.url", task.TargetUrl)
	}
	if task.BodyTemplate != nil {
		maskText(fields, "args.body", task.BodyTemplate) // as a whole: it is a text
	}
	if within := mask.Within(fields, "args.headers", "args"); len(within) > 0 && text != "" {
		task.HeadersJson, _ = json.Marshal(string(mask.Document(within, "args", json.RawMessage(text)))) // a text always encodes
	}
}

// maskTaskRun masks what was sent and answered, which a job keeps as its progress or output.
func maskTaskRun(all fairlead.Confidential, run *fairleadv1.TaskRun) {
	fields := all[httpcall.Kind]
	for _, document := range []string{"output", "progress"} {
		run.Request = maskMember(fields, document+".request", run.GetRequest())
		run.Response = maskMember(fields, document+".response", run.GetResponse())
	}
}

// maskBatch masks what the tasks of a batch get to know of it. Their kinds end with its type.
func maskBatch(all fairlead.Confidential, batch *fairleadv1.Batch) {
	batch.Info = maskMember(kindsLike(all, "", "."+batch.GetType()), "args.extra_info", batch.GetInfo())
}

func maskBatchJob(all fairlead.Confidential, batch *fairleadv1.BatchJob) {
	batch.ExtraInfo = maskMember(kindsLike(all, "", "."+batch.GetBatchType()), "args.extra_info", batch.GetExtraInfo())
}

// maskBatchTask masks what a task does. Its kind begins with the type of its target; what is
// confidential of one operation on such targets is so of all.
func maskBatchTask(all fairlead.Confidential, task *fairleadv1.BatchTask) {
	target := task.GetTarget()
	fields := kindsLike(all, target.GetType()+".", "")
	if len(fields) == 0 {
		return
	}
	args, _ := json.Marshal(map[string]json.RawMessage{"before": orNull(task.GetBefore()), "after": orNull(task.GetAfter())}) // they are JSON
	task.Info = mask.Secrets(fields, mask.Job{Args: args}).Text(task.GetInfo())
	task.Before, task.After = maskMember(fields, "args.before", task.GetBefore()), maskMember(fields, "args.after", task.GetAfter())
	maskText(fields, "args.target.id", &target.Id)
	maskText(fields, "args.target.name", &target.Name)
}

func maskBatchJobTask(all fairlead.Confidential, task *fairleadv1.BatchJobTask) {
	fields := kindsLike(all, task.GetTargetType()+".", "")
	var param map[string]json.RawMessage
	if len(fields) == 0 || json.Unmarshal(task.GetTargetParam(), &param) != nil {
		return
	}
	args, _ := json.Marshal(map[string]json.RawMessage{"before": orNull(param["before_update"]), "after": orNull(param["after_update"])}) // they are JSON
	if task.Info != nil {
		task.Info = proto.String(mask.Secrets(fields, mask.Job{Args: args}).Text(task.GetInfo()))
	}
	for member, path := range map[string]string{"before_update": "args.before", "after_update": "args.after"} {
		if param[member] != nil {
			param[member] = maskMember(fields, path, param[member])
		}
	}
	task.TargetParam, _ = json.Marshal(param) // it was decoded
	task.TargetId = maskMember(fields, "args.target.id", task.GetTargetId())
	maskText(fields, "args.target.name", &task.TargetName)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// kindsLike returns the confidential fields of all kinds with a prefix and a suffix.
func kindsLike(all fairlead.Confidential, prefix, suffix string) (fields []string) {
	for kind, some := range all {
		if strings.HasPrefix(kind, prefix) && strings.HasSuffix(kind, suffix) {
			fields = append(fields, some...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// maskMember masks what stands at a path of a job, and in the message on its own.
func maskMember(fields []string, path string, raw json.RawMessage) json.RawMessage {
	return mask.Document(mask.Within(fields, path, "args"), "args", raw)
}

// maskText masks a text that stands at a path of a job.
func maskText(fields []string, path string, text *string) {
	if *text != "" && len(mask.Within(fields, path, "args")) > 0 {
		*text = mask.Masked
	}
}
