/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol of an edge (src/halo/edge.hpp) for the model checker spin: every interleaving of some exchanges of two or
   three ranks. test_halo_model.py runs it. To be defined:

     RANKS, EDGES         how many of each, up to 4 edges
     FROM(e), TO(e)       the ends of edge e
     CREDIT(e)            does the relation go one way?
     TURNS                2; 1 is the form that must be caught
     KIND                 of the payloads of all edges: IN_LINE, LANDING or RENDEZVOUS; left out: any, as below

   Memory order is no part of it: each statement is one step for all. What a payload holds is the number of its exchange,
   and one by rendezvous has two pieces. A program uses its buffers again as soon as it may. */

#define LAST 3 /* exchanges */
#if RANKS == 2
#define PIECES 2
#else
#define PIECES 1 /* of more there is nothing more to see, and too many states to search */
#endif

#define T(e, k) ((e) * TURNS + (k) % TURNS)
#define TURN_FREE(e, k) (!CREDIT(e) || k <= TURNS || ready[e] >= k - 1)

/* How payloads go: in line, with landing places, or by rendezvous; any of these, between two ranks for each edge. More
   than two edges of rendezvous would take minutes. */
mtype = {IN_LINE, LANDING, RENDEZVOUS};
local mtype kind[EDGES];

/* A mark and the kind of its put are one word. */
mtype = {LANDED, DIRECT, RTS};
typedef PutLine { byte mark; mtype how; byte payload }
PutLine put_line[EDGES * TURNS];
byte ready[EDGES];
typedef Share { byte claimed; byte by_sender; byte by_receiver }
Share share[EDGES * TURNS];

/* The program's buffers: 0 is whatever it does with them outside of exchanges. */
byte source[EDGES];
typedef Elements { byte piece[PIECES] }
Elements target[EDGES];
byte inside[RANKS]; /* the exchange that a rank is in; 0: none */

mtype = {HELD, RTS_SENT, SHARING, LEFT};
local mtype stage[EDGES]; /* the sender's */
mtype = {WAITING, CLAIMED, TAKEN};
local mtype receipt[EDGES]; /* the receiver's */
local byte sent[EDGES], received[EDGES]; /* pieces copied by each */

inline publish(e, w, then) {
  d_step { put_line[T(e, k)].mark = k; put_line[T(e, k)].how = w; stage[e] = then }
}

inline write_target(e, p) {
  d_step { assert(inside[TO(e)] == k) /* invariant 4 */; target[e].piece[p] = source[e] }
}

inline put(e) {
  if
  :: kind[e] != IN_LINE && kind[e] != RENDEZVOUS && ready[e] >= k ->
    write_target(e, 0);
    write_target(e, PIECES - 1);
    publish(e, DIRECT, LEFT)
  :: else ->
    if
    :: d_step { !TURN_FREE(e, k) -> stage[e] = HELD }
    :: else ->
      if
      :: kind[e] == RENDEZVOUS ->
        d_step { share[T(e, k)].claimed = 0; share[T(e, k)].by_sender = 0; share[T(e, k)].by_receiver = 0; sent[e] = 0 }
        publish(e, RTS, RTS_SENT)
      :: else ->
        put_line[T(e, k)].payload = source[e];
        publish(e, LANDED, LEFT)
      fi
    fi
  fi
}

/* The sender copies from the back. */
inline share_out(e) {
  stage[e] = SHARING;
  do
  :: atomic { share[T(e, k)].claimed < PIECES -> share[T(e, k)].claimed++ }
    write_target(e, PIECES - 1 - sent[e]);
    sent[e]++
  :: share[T(e, k)].claimed == PIECES -> break
  od;
  share[T(e, k)].by_sender = sent[e]
}

/* The receiver copies from the front. */
inline claim(e) {
  received[e] = 0;
  do
  :: atomic { share[T(e, k)].claimed < PIECES -> share[T(e, k)].claimed++ }
    write_target(e, received[e]);
    received[e]++
  :: share[T(e, k)].claimed == PIECES -> break
  od;
  receipt[e] = CLAIMED;
  if
  :: received[e] != 0 -> share[T(e, k)].by_receiver = received[e]
  :: else
  fi
}

inline take(e) {
  if
  :: d_step { put_line[T(e, k)].how == LANDED ->
      target[e].piece[0] = put_line[T(e, k)].payload;
      target[e].piece[PIECES - 1] = put_line[T(e, k)].payload;
      receipt[e] = TAKEN
    }
  :: d_step { put_line[T(e, k)].how == DIRECT -> receipt[e] = TAKEN }
  :: put_line[T(e, k)].how == RTS -> claim(e)
  fi
}

/* Whatever a poll of an edge may find to do. */
#define POLL(e)                                                                                                      \
  :: FROM(e) == self && stage[e] == HELD && TURN_FREE(e, k) -> put(e)                                                \
  :: FROM(e) == self && stage[e] == RTS_SENT && ready[e] >= k -> share_out(e)                                        \
  :: d_step { FROM(e) == self && (stage[e] == RTS_SENT || stage[e] == SHARING) &&                                    \
     share[T(e, k)].by_receiver + sent[e] == PIECES -> stage[e] = LEFT }                                             \
  :: TO(e) == self && receipt[e] == WAITING && put_line[T(e, k)].mark == k -> take(e)                                \
  :: TO(e) == self && receipt[e] == WAITING && put_line[T(e, k)].mark > k -> assert(false) /* invariant 3 */         \
  :: d_step { TO(e) == self && receipt[e] == CLAIMED && received[e] + share[T(e, k)].by_sender == PIECES ->          \
     receipt[e] = TAKEN }

#define DONE(e) ((FROM(e) != self || stage[e] == LEFT) && (TO(e) != self || receipt[e] == TAKEN))
#if EDGES == 1
#define POLL_ALL POLL(0)
#define ALL_DONE DONE(0)
#elif EDGES == 2
#define POLL_ALL POLL(0) POLL(1)
#define ALL_DONE (DONE(0) && DONE(1))
#elif EDGES == 3
#define POLL_ALL POLL(0) POLL(1) POLL(2)
#define ALL_DONE (DONE(0) && DONE(1) && DONE(2))
#else
#define POLL_ALL POLL(0) POLL(1) POLL(2) POLL(3)
#define ALL_DONE (DONE(0) && DONE(1) && DONE(2) && DONE(3))
#endif

proctype Rank(byte self) {
  byte k = 1;
  byte e;
  do
  :: k > LAST -> break
  :: else ->
    d_step {
      inside[self] = k;
      e = 0;
      do
      :: e == EDGES -> break
      :: else ->
        if
        :: FROM(e) == self -> source[e] = k
        :: else
        fi;
        if
        :: TO(e) == self -> receipt[e] = WAITING
        :: else
        fi;
        e++
      od;
      e = 0
    }
    do
    :: e == EDGES -> break
    :: else ->
      if
      :: TO(e) == self && (CREDIT(e) || kind[e] != IN_LINE) -> ready[e] = k
      :: else
      fi;
      e++
    od;
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
      if
      :: FROM(e) == self -> put(e)
      :: else
      fi;
      e++
    od;
    do
    POLL_ALL
    :: ALL_DONE -> break
    od;
    skip; /* a break must not lead into a d_step */
    d_step {
      e = 0;
      do
      :: e == EDGES -> break
      :: else ->
        if
        :: TO(e) == self ->
          assert(target[e].piece[0] == k && target[e].piece[PIECES - 1] == k);
          target[e].piece[0] = 0;
          target[e].piece[PIECES - 1] = 0
        :: else
        fi;
        if
        :: FROM(e) == self -> source[e] = 0
        :: else
        fi;
        e++
      od;
      e = 0;
      inside[self] = 0;
      k++
    }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. EDGES - 1) {
#ifdef KIND
      kind[i] = KIND
#else
      if
      :: i != 0 && RANKS != 2 -> kind[i] = kind[0]
      :: i == 0 || RANKS == 2 -> kind[i] = IN_LINE
      :: i == 0 || RANKS == 2 -> kind[i] = LANDING
      :: (i == 0 || RANKS == 2) && EDGES <= 2 -> kind[i] = RENDEZVOUS
      fi
#endif
    }
    for (i : 0 .. RANKS - 1) { run Rank(i) }
  }
}
