package console

import (
	"net/http"
	"unicode/utf8"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// shownDocument limits the number of bytes of a document on a page. A document may have a
// megabyte, and a page is sent again after each change.
const shownDocument = 32 << 10

// Beginning returns the part of a document that a page shows.
func (v *visit) Beginning(document []byte) []byte {
	if len(document) <= shownDocument {
		return document
	}
	cut := shownDocument
	for cut > shownDocument-utf8.UTFMax && !utf8.RuneStart(document[cut]) {
		cut--
	}
	return document[:cut]
}

// Rest returns the number of bytes of a document that a page does not show.
func (v *visit) Rest(document []byte) int { return len(document) - len(v.Beginning(document)) }

// Document returns the URL of the complete document.
func (v *visit) Document(list string, id any, name string) string {
	return v.Prefix() + v.below(list, text(id)) + "/documents/" + name
}

// documents contains the functions that load documents, by the path of the list and the
// name of the document.
var documents = map[string]map[string]func(*visit) ([]byte, error){
	"/jobs": {
		"args":     ofJob((*fairleadv1.Job).GetArgs),
		"output":   ofJob((*fairleadv1.Job).GetOutput),
		"progress": ofJob((*fairleadv1.Job).GetProgress),
		"reported": ofJob((*fairleadv1.Job).GetReported),
		"memo":     ofJob((*fairleadv1.Job).GetMemo),
	},
	"/schedules": {"args": func(v *visit) ([]byte, error) {
		schedule, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
		return schedule.GetJob().GetArgs(), err
	}},
	"/batches": {"info": func(v *visit) ([]byte, error) {
		id, _ := number(v.Value("id"))
		batch, err := v.batches.GetBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
		return batch.GetInfo(), err
	}},
	"/sweeps": {"args": func(v *visit) ([]byte, error) {
		sweep, err := v.sweeps.GetSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: v.Value("id")})
		return sweep.GetArgs(), err
	}},
}

func ofJob(document func(*fairleadv1.Job) []byte) func(*visit) ([]byte, error) {
	return func(v *visit) ([]byte, error) {
		id, _ := number(v.Value("id"))
		job, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
		return document(job), err
	}
}

// document serves a complete document, with the viewer's permissions.
func (c *Console) document(named map[string]func(*visit) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := c.identify(r)
		v := c.visit(r, who)
		read, known := named[v.Value("document")]
		switch {
		case err != nil:
			c.refuse(w, v, err)
			return
		case !known:
			c.notFound(w, r)
			return
		}
		body, err := read(v)
		if err != nil {
			c.refuse(w, v, err)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(withoutUserinfo(body)) // the viewer may have disconnected
	}
}
