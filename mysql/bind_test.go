package mysql

import (
	"reflect"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

func TestManyValuesBecomePartOfTheText(t *testing.T) {
	var rows, none, truths sqlstore.Rows
	truths.Add(int64(1), "a", true)
	truths.Add(int64(2), "", false)
	rows.Add(int64(1), "a", sqlstore.JSON(nil))
	rows.Add(int64(-2), "", sqlstore.JSON("{}"))
	many := make(sqlstore.List[int32], chunkIDs+1)
	for _, c := range []struct {
		statement string
		args      []any
		scalars   []any
		texts     []string
	}{
		{"delete ?", []any{int64(7), sqlstore.JSON("[]")}, []any{int64(7), []byte("[]")}, []string{"delete ?"}},
		{"in ({{list}})", []any{sqlstore.List[int64]{3, 4}}, nil, []string{"in (3,4)"}},
		{"in ({{list}})", []any{"x", sqlstore.List[string]{"a", "'"}}, []any{"x"}, []string{"in (x'61',x'27')"}},
		{"in ({{list}})", []any{sqlstore.List[int64]{}}, nil, []string{"in (null)"}},
		{"values {{rows}};", []any{&rows}, nil, []string{"values (1,x'61',null),(-2,x'',x'7b7d');"}},
		{"values {{rows}}(now, ?, ?, ?){{end}} on", []any{int64(7), &rows}, []any{int64(7)}, []string{"values (now, 1, x'61', null),(now, -2, x'', x'7b7d') on"}},
		{"values {{rows}}", []any{&none}, nil, nil},
		{"values {{rows}}(?, ?){{end}} on", []any{&rows}, nil, []string{"values (1, x'61'),(-2, x'') on"}},
		{"from '[{{json_rows}}]' v", []any{&truths}, nil, []string{`from '[[1,"61",1],[2,null,0]]' v`}},
		{"not in ({{except}})", []any{sqlstore.Except{3, 4}}, nil, []string{"not in (3,4)"}},
		{"not in ({{except}})", []any{int64(7), sqlstore.Except{}}, []any{int64(7)}, []string{"not in (0)"}},
	} {
		scalars, texts := bind(c.args, c.statement)
		if !reflect.DeepEqual(scalars, c.scalars) || !reflect.DeepEqual(texts, c.texts) {
			t.Errorf("%s becomes %q with %v", c.statement, texts, scalars)
		}
	}
	if _, texts := bind([]any{many}, "in ({{list}})"); len(texts) != 2 {
		t.Errorf("%d values are asked for in %d statements", len(many), len(texts))
	}
}

func TestNumberedArgumentsAreGivenAsOftenAsTheyStandInTheText(t *testing.T) {
	scalars, texts := bind([]any{"a", sqlstore.List[int64]{7, 8}, int64(2)}, "select ?3, ?1, ?3 where id in ({{list}})")
	if want := "select ?, ?, ? where id in (7,8)"; len(texts) != 1 || texts[0] != want {
		t.Errorf("the texts are %q, not %q", texts, want)
	}
	if !slices.Equal(scalars, []any{int64(2), "a", int64(2)}) {
		t.Errorf("the arguments are %v", scalars)
	}
}
