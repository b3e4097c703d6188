package record

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"schedq"
	"schedq/cluster/shard"
)

// Spec is a pod as its submitter describes it. Whoever reads one ignores fields that it does not know.
type Spec struct {
	Priority  int32           `json:"priority,omitempty"`   // higher first
	Data      json.RawMessage `json:"data,omitempty"`       // given to whoever pops the pod
	Nominated uint64          `json:"nominated,omitempty"`  // the number of a node; 0 = none
	NotBefore int64           `json:"not_before,omitempty"` // held until then, nanoseconds since 1970; 0 = it is not
}

// Encode is the value of a spec's key.
func (spec *Spec) Encode() []byte {
	text, err := json.Marshal(spec)
	if err != nil {
		panic("record: a spec's Data is no JSON: " + err.Error())
	}
	return text
}

// DecodeSpec reads a value; one that is empty is the zero Spec.
func DecodeSpec(value []byte) (spec Spec, err error) {
	if len(value) == 0 {
		return spec, nil
	}
	if err = json.Unmarshal(value, &spec); err == nil && spec.NotBefore < 0 {
		err = fmt.Errorf("not_before: %d: at least 0", spec.NotBefore)
	}
	return spec, err
}

// StateSize is the length of a state.
const StateSize = 48

// Kind is where a pod was when its state was written.
type Kind uint8

const (
	Active       Kind = iota + 1 // it is only nominated
	Backoff                      // after a rejection
	ErrorBackoff                 // after an error
	Parked
)

// State is what a queue knows of a pod and its spec does not say. Times are nanoseconds since 1970.
type State struct {
	Kind       Kind
	Rejections uint8 // 255: at least so many
	Errors     uint8 // since the last rejection; the same
	Attempts   uint32
	Failed     int64 // when it failed last
	Expiry     int64 // end of its backoff; 0 = it had none
	Rejectors  schedq.Plugins
	Node       uint64 // it is nominated to; 0 = none
	Seen       int64  // greatest revision of an event that was seen when it was popped
}

const stateVersion = 1

// Encode is the value of a state's key.
func (state *State) Encode() []byte {
	value := make([]byte, 0, StateSize)
	value = append(value, stateVersion, byte(state.Kind), state.Rejections, state.Errors)
	value = binary.LittleEndian.AppendUint32(value, state.Attempts)
	for _, word := range [...]uint64{uint64(state.Failed), uint64(state.Expiry), uint64(state.Rejectors), state.Node, uint64(state.Seen)} {
		value = binary.LittleEndian.AppendUint64(value, word)
	}
	return value
}

// DecodeState reads a value.
func DecodeState(value []byte) (state State, err error) {
	if len(value) != StateSize || value[0] != stateVersion || value[1] < byte(Active) || value[1] > byte(Parked) {
		return state, fmt.Errorf("a state of %d bytes, or of an unknown version or place: legal are %d bytes, version %d", len(value), StateSize, stateVersion)
	}
	word := func(n int) uint64 { return binary.LittleEndian.Uint64(value[8*n:]) }
	return State{
		Kind:       Kind(value[1]),
		Rejections: value[2],
		Errors:     value[3],
		Attempts:   binary.LittleEndian.Uint32(value[4:]),
		Failed:     int64(word(1)),
		Expiry:     int64(word(2)),
		Rejectors:  schedq.Plugins(word(3)),
		Node:       word(4),
		Seen:       int64(word(5)),
	}, nil
}

// Saturated is a count in a byte.
func Saturated(count uint32) uint8 { return uint8(min(count, math.MaxUint8)) }

// Plugin is somebody who can reject a pod, and the events that it wants to hear of then.
type Plugin struct {
	Name   string   `json:"name"`
	Events []string `json:"events,omitempty"` // "*": every event
}

// Config is what all processes of a cluster have in common. It is written once.
type Config struct {
	Version int      `json:"version"`
	Shards  int      `json:"shards"`
	Plugins []Plugin `json:"plugins,omitempty"` // plugin n has bit n in a State
}

const configVersion = 1

// PluginsMax is how many plugins a Config can have.
const PluginsMax = 62

// Check refuses what is out of range, in words.
func (config *Config) Check() error {
	if config.Version != configVersion {
		return fmt.Errorf("config: version: %d: this program reads %d", config.Version, configVersion)
	}
	if len(config.Plugins) > PluginsMax {
		return fmt.Errorf("config: %d plugins: legal are 0..%d", len(config.Plugins), PluginsMax)
	}
	names := map[string]bool{}
	for _, plugin := range config.Plugins {
		if plugin.Name == "" || names[plugin.Name] || strings.IndexByte(plugin.Name, 0) >= 0 {
			return fmt.Errorf("config: plugin %q: names are not empty, and no two are the same", plugin.Name)
		}
		names[plugin.Name] = true
		for _, event := range plugin.Events {
			if err := CheckEvent(event); event != "*" && err != nil {
				return err
			}
		}
	}
	return shard.CheckCount(config.Shards)
}

// CheckEvent refuses what is no event's name.
func CheckEvent(name string) error {
	if name == "" || len(name) > 63 || strings.ContainsAny(name, "/*\x00") {
		return fmt.Errorf("event %q: legal are 1..63 bytes without / and *", name)
	}
	return nil
}

// NewConfig is a configuration of this version.
func NewConfig(shards int, plugins []Plugin) Config {
	return Config{Version: configVersion, Shards: shards, Plugins: plugins}
}

// Encode is the value of the configuration's key.
func (config *Config) Encode() []byte {
	text, _ := json.Marshal(config)
	return text
}

// DecodeConfig reads and checks a value.
func DecodeConfig(value []byte) (config Config, err error) {
	if err = json.Unmarshal(value, &config); err != nil {
		return config, fmt.Errorf("config: %w", err)
	}
	return config, config.Check()
}

// Member is the value of a process' key.
type Member struct {
	Leaving bool   `json:"leaving"`
	Address string `json:"address,omitempty"` // where it answers HTTP
}

// Clean is the value of a shard's clean mark: who gave it away, under which token, and how many of its pods were in flight.
type Clean struct {
	By       string `json:"by"`
	Token    int64  `json:"token"`
	InFlight int    `json:"inflight"`
}

// Encode is the value of a key.
func Encode(value any) []byte {
	text, _ := json.Marshal(value)
	return text
}
