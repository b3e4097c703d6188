package kubequeue

import (
	"testing"
	"time"

	"schedq"
)

// Tests of Kubernetes give scheduler.New a clock that they move.
func TestAClockThatIsMovedBringsPodsBack(t *testing.T) {
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) {
			test := newFixture(t, Options{Engine: engine, InitialBackoff: time.Minute, MaxBackoff: time.Minute, NoPopFromBackoff: true})
			test.Queue.Run(test.logger)
			test.add("pod", "1")
			test.fail(test.pop()) // an error: it backs off
			test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
			time.Sleep(50 * time.Millisecond) // what sleeps by another clock does so by now
			test.clock.Step(2 * time.Minute)
			test.fail(test.pop(), nodePluginName)
			test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
			test.clock.Step(test.options.MaxParked + leftoverPeriod)
			if info := test.pop(); info.Pod.Name != "pod" {
				t.Errorf("popped %q", info.Pod.Name)
			}
		})
	}
}
