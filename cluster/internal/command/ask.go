package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/client"
	"schedq/cluster/member"
	"schedq/cluster/record"
)

// withClient opens the cluster's client for one command.
func withClient(o *options, do func(ctx context.Context, etcd *clientv3.Client, c *client.Client) error) error {
	etcd, err := connect(o)
	if err != nil {
		return err
	}
	defer etcd.Close()
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	c, err := client.Open(ctx, etcd, o.prefix)
	if err != nil {
		return fmt.Errorf("etcd %s: %w", o.urls(), err)
	}
	return do(ctx, etcd, c)
}

// key prints where a pod is kept.
func key(o *options, words []string) error {
	return withClient(o, func(_ context.Context, _ *clientv3.Client, c *client.Client) error {
		key, err := c.Key(words[0], o.lot)
		if err == nil {
			fmt.Println(key)
		}
		return err
	})
}

// put submits a pod.
func put(o *options, words []string) error {
	text := ""
	if len(words) > 1 {
		text = words[1]
	}
	spec, err := record.DecodeSpec([]byte(text))
	if err == nil && text != "" {
		err = noOtherFields(text)
	}
	if err != nil {
		return fmt.Errorf("SPEC '%s': %w", text, err)
	}
	return withClient(o, func(ctx context.Context, _ *clientv3.Client, c *client.Client) error {
		uid, err := c.Submit(ctx, client.Pod{Name: words[0], Lot: o.lot, Spec: spec})
		if err == nil {
			fmt.Println(uid)
		}
		return err
	})
}

// noOtherFields refuses a field that no spec has. Who reads specs ignores such fields; who types one meant another.
func noOtherFields(text string) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&record.Spec{}); err != nil {
		return fmt.Errorf("%w: legal are priority, data, nominated, not_before", err)
	}
	return nil
}

// event tells of an event.
func event(o *options, words []string) error {
	return withClient(o, func(ctx context.Context, _ *clientv3.Client, c *client.Client) error {
		return c.Event(ctx, words[0], nil)
	})
}

// row is what status prints of a process.
type row struct {
	id      string
	leaving bool
	owned   []int
	top     string
	answer  *member.Status
	why     error
}

// status asks etcd who is there and owns what, and each process what it has.
func status(o *options, _ []string) error {
	return withClient(o, func(ctx context.Context, etcd *clientv3.Client, c *client.Client) error {
		layout := record.Layout{Prefix: o.prefix}
		answer, err := etcd.Txn(ctx).Then(clientv3.OpGet(layout.Members(), clientv3.WithPrefix()),
			clientv3.OpGet(layout.Owners(), clientv3.WithPrefix()), clientv3.OpGet(layout.Tops(), clientv3.WithPrefix())).Commit()
		if err != nil {
			return err
		}
		rows := map[string]*row{}
		for _, kv := range answer.Responses[0].GetResponseRange().Kvs {
			id := strings.TrimPrefix(string(kv.Key), layout.Members())
			var said record.Member
			_ = json.Unmarshal(kv.Value, &said)
			rows[id] = &row{id: id, leaving: said.Leaving}
			rows[id].answer, rows[id].why = ask(ctx, said.Address)
		}
		owned := 0
		for _, kv := range answer.Responses[1].GetResponseRange().Kvs {
			owned++
			s, _ := record.ParseShard(strings.TrimPrefix(string(kv.Key), layout.Owners()))
			if rows[string(kv.Value)] == nil {
				rows[string(kv.Value)] = &row{id: string(kv.Value), why: fmt.Errorf("it has no member key")}
			}
			rows[string(kv.Value)].owned = append(rows[string(kv.Value)].owned, s)
		}
		for _, kv := range answer.Responses[2].GetResponseRange().Kvs {
			if row := rows[strings.TrimPrefix(string(kv.Key), layout.Tops())]; row != nil {
				row.top = string(kv.Value)
			}
		}
		fmt.Printf("shards: %d, with an owner: %d, revision: %d\n", c.Config().Shards, owned, answer.Header.Revision)
		return printRows(rows, answer.Header.Revision)
	})
}

func ask(ctx context.Context, address string) (*member.Status, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var said member.Status
	return &said, json.NewDecoder(response.Body).Decode(&said)
}

func printRows(rows map[string]*row, revision int64) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "process\tstate\tshards\tpods\tin flight\toldest\twatch lag\ttop priority\tpops behind\tdones")
	sorted := make([]*row, 0, len(rows))
	for _, row := range rows {
		sorted = append(sorted, row)
	}
	slices.SortFunc(sorted, func(a, b *row) int { return cmp.Compare(a.id, b.id) })
	for _, row := range sorted {
		state := "ready"
		switch {
		case row.why != nil:
			fmt.Fprintf(table, "%s\tno answer: %v\t%s\n", row.id, row.why, ranges(row.owned))
			continue
		case row.leaving:
			state = "leaving"
		case !row.answer.Ready:
			state = "fenced"
		}
		pods, flying, moving, oldest := 0, 0, 0, int64(0)
		for _, shard := range row.answer.Shards {
			pods, flying, oldest = pods+shard.Pods, flying+shard.InFlight, max(oldest, shard.Oldest)
			if shard.Phase != "active" {
				moving++
			}
		}
		if moving > 0 {
			state += fmt.Sprintf(", %d moving", moving)
		}
		share := "-"
		if pops := row.answer.Counts.Pops; pops > 0 {
			share = strconv.FormatFloat(100*float64(row.answer.Counts.Behind)/float64(pops), 'f', 1, 64) + " %"
		}
		fmt.Fprintf(table, "%s\t%s\t%d: %s\t%d\t%d\t%v\t%d\t%s\t%s\t%d\n", row.id, state, len(row.owned), ranges(row.owned), pods, flying,
			time.Duration(oldest).Round(time.Millisecond), max(0, revision-row.answer.Revision), cmp.Or(row.top, "-"), share, row.answer.Counts.Dones)
	}
	return table.Flush()
}

// ranges writes numbers as "0-3,7".
func ranges(numbers []int) string {
	slices.Sort(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	if len(parts) > 6 {
		parts = append(parts[:6], "...")
	}
	return strings.Join(parts, ",")
}
