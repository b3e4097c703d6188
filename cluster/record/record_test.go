package record

import (
	"math"
	"strings"
	"testing"

	"schedq"
)

func TestAStateHas48BytesAndComesBack(t *testing.T) {
	state := State{Parked, 3, 255, math.MaxUint32, -1, math.MaxInt64, schedq.AllPlugins, 7, 1 << 40}
	value := state.Encode()
	if len(value) != StateSize {
		t.Fatalf("%d bytes", len(value))
	}
	back, err := DecodeState(value)
	if err != nil || back != state {
		t.Fatalf("%+v, %v", back, err)
	}
	for _, bad := range [][]byte{nil, value[:47], append([]byte{2}, value[1:]...), append([]byte{1, 9}, value[2:]...)} {
		if _, err := DecodeState(bad); err == nil {
			t.Errorf("%v was read", bad)
		}
	}
}

func TestPlaces(t *testing.T) {
	place, err := PlaceOf("default/web", "", 256)
	if err != nil {
		t.Fatal(err)
	}
	s, name, ok := SplitPlace(place)
	if !ok || name != "default/web" || Place(s, name) != place {
		t.Errorf("%q: %d %q %v", place, s, name, ok)
	}
	other, _ := PlaceOf("other/db", "default", 256)
	if other[:5] != place[:5] {
		t.Errorf("one lot, two shards: %q and %q", place, other)
	}
	for _, bad := range []string{"", "web", "/web", "default/", "a/" + strings.Repeat("b", NameMax)} {
		if _, err := PlaceOf(bad, "", 256); err == nil {
			t.Errorf("name %q was taken", bad)
		}
	}
	if NameMax+len("0000/") != schedq.NameMax {
		t.Errorf("a place has at most %d bytes, a name of schedq %d", NameMax+5, schedq.NameMax)
	}
}

func TestConfigsAreChecked(t *testing.T) {
	good := NewConfig(256, []Plugin{{"Fit", []string{"NodeAdd", "*"}}, {"Volumes", nil}})
	if back, err := DecodeConfig(good.Encode()); err != nil || len(back.Plugins) != 2 {
		t.Fatal(back, err)
	}
	for _, bad := range []string{
		``, `{}`, `{"version":2,"shards":1}`, `{"version":1,"shards":0}`, `{"version":1,"shards":5000}`,
		`{"version":1,"shards":1,"plugins":[{"name":""}]}`,
		`{"version":1,"shards":1,"plugins":[{"name":"a"},{"name":"a"}]}`,
		`{"version":1,"shards":1,"plugins":[{"name":"a","events":["x/y"]}]}`,
	} {
		if _, err := DecodeConfig([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
