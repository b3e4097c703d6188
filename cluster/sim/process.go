package sim

import (
	"fmt"

	"schedq"
	"schedq/cluster/internal/plant"
	"schedq/cluster/owner"
	"schedq/cluster/queue"
	"schedq/cluster/record"
)

// process is a machine with one owner on it, and somebody who pops, places, and binds.
type process struct {
	world  *world
	judge  *judge
	id     string
	owner  *owner.Owner
	port   *port
	alive  bool
	paused bool
	held   []func() // what arrived while it was paused
	start  int64
	rate   float64 // of its clock
	jump   int64   // of its wall clock
	armed  uint64
	busy   int // pods that its worker has
}

// clock is the process' monotonic clock, which goes on while it is paused.
func (p *process) clock() int64 {
	return 1000*second + int64(float64(p.world.now-p.start)*p.rate)
}

// epoch is the world's wall clock at time 0.
const epoch = int64(1.7e18)

func (p *process) wall() int64 { return epoch + p.world.now + p.jump }

func newProcess(w *world, j *judge, id string, config record.Config, defects plant.Defects, engine schedq.Engine) *process {
	p := &process{world: w, judge: j, id: id, alive: true, start: w.now, rate: 0.92 + 0.16*w.random.Float64()}
	p.port = &port{world: w, process: p}
	w.ports = append(w.ports, p.port)
	made, err := owner.New(owner.Config{
		ID: id, Cluster: config, Layout: record.Layout{Prefix: record.DefaultPrefix}, Port: p.port, Now: p.clock, Wall: p.wall,
		Random: w.random.Uint64, Engine: engine, InitialBackoff: 100 * millisecond, MaxBackoff: second, MaxParked: 3600 * second,
		Batch: 1 + int(w.random.Uint64()%8), Window: 1 + int(w.random.Uint64()%3), Moving: 2, Taking: 3, Defects: defects,
		Trace: func(step owner.Step) { j.step(p, step) },
	})
	if err != nil {
		panic(fmt.Sprintf("sim: owner.New: %v", err))
	}
	p.owner = made
	p.deliver(p.owner.Start)
	return p
}

// deliver gives the process a message, now or when it goes on.
func (p *process) deliver(do func()) {
	if !p.alive {
		return
	}
	if p.paused {
		p.held = append(p.held, do)
		return
	}
	do()
	p.arm()
	p.work()
}

// arm sets an alarm for the owner's next deadline.
func (p *process) arm() {
	if !p.alive {
		return
	}
	p.armed++
	armed := p.armed
	wait := p.owner.NextDeadline() - p.clock()
	if wait > 100*second {
		return
	}
	wait = int64(float64(wait)/p.rate) + 1
	p.world.in(max(wait, 10000), func() {
		if p.armed == armed {
			p.deliver(p.owner.Tick)
		}
	})
}

// pause stops the process, in the middle of whatever it does.
func (p *process) pause(length int64) {
	p.paused = true
	p.world.in(length, func() {
		p.paused = false
		held := p.held
		p.held = nil
		for _, do := range held {
			p.deliver(do)
		}
		p.deliver(p.owner.Tick)
	})
}

// kill ends the process. What it sent may still arrive.
func (p *process) kill() {
	if !p.alive {
		return
	}
	p.alive = false
	p.owner.Close()
}

// work pops what there is room for: a worker has a few pods at a time.
func (p *process) work() {
	for p.alive && !p.paused && p.busy < 3 {
		popped, err := p.owner.Pop()
		if err != nil {
			return
		}
		p.busy++
		p.judge.popped(p, popped)
		seen := p.owner.Seen()
		think := p.world.between(millisecond, 100*millisecond)
		if !p.world.calm && p.world.chance(3) {
			think = p.world.between(second, 9*second)
		}
		p.world.in(think, func() { p.deliver(func() { p.decide(popped, seen) }) })
	}
}

// decide is the end of a cycle: the worker saw the cluster as it was when it popped.
func (p *process) decide(popped queue.Popped, seen int64) {
	p.busy--
	rejector, fits := p.judge.fits(popped.UID, seen)
	switch {
	case !fits:
		p.fail(popped, rejector)
	case p.world.chance(30):
		p.fail(popped, 0)
	default:
		p.bind(popped)
	}
}

func (p *process) fail(popped queue.Popped, rejectors schedq.Plugins) {
	err := p.owner.Fail(popped.Ticket, rejectors, func(error) {})
	p.judge.failed(p, popped, err)
}

func (p *process) bind(popped queue.Popped) {
	again := func() {
		p.world.in(100*millisecond, func() {
			p.deliver(func() { p.bind(popped) })
		})
	}
	switch err := p.owner.Alive(popped.Ticket); err {
	case nil:
		p.judge.bound(p, popped)
		p.judge.asked(p, popped)
		if err := p.owner.Done(popped.Ticket, func(err error) { p.judge.done(p, popped, err) }); err != nil {
			p.judge.violate("done of a pod that was alive: %v", err)
		}
	case queue.ErrFenced:
		again()
	default:
		// Whoever loses a pod drops its ticket.
		_ = p.owner.Done(popped.Ticket, func(error) {})
	}
}
