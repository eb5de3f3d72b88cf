package plugin

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

func TestIdleTimerReleasesMemoryAfterLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		r := newIdleTimer(func() { released.Add(1) })
		defer r.stop()
		sleep := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := released.Load(); got != want {
				t.Fatalf("memory was released %d times, want %d", got, want)
			}
		}
		call := func(method string) {
			t.Helper()
			info := &grpc.UnaryServerInfo{FullMethod: method}
			if _, err := r.unary(t.Context(), nil, info, func(context.Context, any) (any, error) {
				return nil, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		sleep(idleAfter, 1) // after the start
		for range 5 {
			call(protocol.MethodPrefix + "Component/Configure")
			sleep(idleAfter/2, 1) // busy
			err := r.stream(nil, silentStream{ctx: t.Context()}, nil, func(any, grpc.ServerStream) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			sleep(idleAfter/2, 1)
		}
		sleep(idleAfter, 2)
		call("/grpc.health.v1.Health/Check")
		call(protocol.MethodPrefix + "Registry/Limits")
		sleep(time.Hour, 2) // nothing has been called since
	})
}

func TestIdleTimerKeepsMemoryDuringCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		r := newIdleTimer(func() { released.Add(1) })
		defer r.stop()
		call := func(took time.Duration) {
			info := &grpc.UnaryServerInfo{FullMethod: protocol.MethodPrefix + "Registry/Digest"}
			_, err := r.unary(t.Context(), nil, info, func(context.Context, any) (any, error) {
				time.Sleep(took)
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		list := func(took time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := r.stream(nil, silentStream{ctx: ctx}, nil, func(_ any, ss grpc.ServerStream) error {
				err := ss.RecvMsg(nil)
				time.Sleep(took)
				return err
			}); err != nil {
				t.Error(err)
			}
		}
		go call(20 * time.Second)
		go list(time.Minute)
		go call(time.Second) // ends while the others are under way
		time.Sleep(30 * time.Second)
		if err := r.stream(nil, silentStream{ctx: t.Context()}, nil, func(any, grpc.ServerStream) error {
			return nil
		}); err != nil {
			t.Error(err)
		}
		time.Sleep(29 * time.Second)
		if got := released.Load(); got != 0 {
			t.Errorf("memory was released %d times during a call", got)
		}
		time.Sleep(2 * time.Second)
		if got := released.Load(); got != 1 {
			t.Errorf("memory was released %d times after the calls, want 1", got)
		}
	})
}

// silentStream is a call whose messages are empty.
type silentStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s silentStream) Context() context.Context { return s.ctx }
func (silentStream) RecvMsg(any) error          { return nil }

func TestIdleTimerReleasesMemoryDuringOpenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		r := newIdleTimer(func() { released.Add(1) })
		defer r.stop()
		err := r.stream(nil, silentStream{ctx: t.Context()}, nil, func(_ any, ss grpc.ServerStream) error {
			for i := range int32(3) {
				if err := ss.RecvMsg(nil); err != nil {
					return err
				}
				time.Sleep(idleAfter)
				synctest.Wait()
				if got := released.Load(); got != i+1 {
					t.Errorf("memory was released %d times, want %d", got, i+1)
				}
				time.Sleep(time.Hour)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
