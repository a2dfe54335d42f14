/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol of a channel (src/halo/channel.hpp) for the model checker spin: every interleaving of some exchanges of
   two or three ranks. test_halo_model.py runs the model and defines these macros:

     RANKS, CHANNELS      number of ranks and of channels, at most 4 channels
     FROM(e), TO(e)       sender and receiver of channel e
     CREDIT(e)            whether the relation is one-way
     BUFFERS              number of buffers: 2; 1 is the form that must be caught
     KIND                 way of the payloads of all channels: IN_SLOT, BOUNCE or RENDEZVOUS; without it: any, as below

   The model has no memory order: each statement is one step for all ranks. A payload holds the number of its exchange. A
   rendezvous payload has two pieces. A program reuses its buffers as soon as it may. */

#define LAST 3 /* exchanges */
#if RANKS == 2
#define PIECES 2
#else
#define PIECES 1 /* more pieces show nothing new, and have too many states to search */
#endif

#define T(e, k) ((e) * BUFFERS + (k) % BUFFERS)
#define BUFFER_FREE(e, k) (!CREDIT(e) || k <= BUFFERS || ready[e] >= k - 1)

/* The way of a channel's payloads: in the mailbox slot, with bounce buffers, or by rendezvous. Between two ranks each
   channel has any of these. More than two channels with rendezvous would take minutes. */
mtype = {IN_SLOT, BOUNCE, RENDEZVOUS};
local mtype kind[CHANNELS];

/* A sequence flag and the kind of its put are one word. */
mtype = {BOUNCED, DIRECT, RTS};
typedef MailboxSlot { byte flag; mtype how; byte payload }
MailboxSlot mailbox[CHANNELS * BUFFERS];
byte ready[CHANNELS];
typedef Share { byte claimed; byte by_sender; byte by_receiver }
Share share[CHANNELS * BUFFERS];

/* The program's buffers: 0 stands for any use outside of exchanges. */
byte source[CHANNELS];
typedef Elements { byte piece[PIECES] }
Elements target[CHANNELS];
byte inside[RANKS]; /* number of the exchange that a rank is in; 0: none */

mtype = {HELD, RTS_SENT, SHARING, LEFT};
local mtype stage[CHANNELS]; /* the sender's */
mtype = {WAITING, CLAIMED, TAKEN};
local mtype receipt[CHANNELS]; /* the receiver's */
local byte sent[CHANNELS], received[CHANNELS]; /* pieces copied by each */

inline publish(e, w, then) {
  d_step { mailbox[T(e, k)].flag = k; mailbox[T(e, k)].how = w; stage[e] = then }
}

inline write_target(e, p) {
  d_step { assert(inside[TO(e)] == k) /* invariant 4 */; target[e].piece[p] = source[e] }
}

inline put(e) {
  if
  :: kind[e] != IN_SLOT && kind[e] != RENDEZVOUS && ready[e] >= k ->
    write_target(e, 0);
    write_target(e, PIECES - 1);
    publish(e, DIRECT, LEFT)
  :: else ->
    if
    :: d_step { !BUFFER_FREE(e, k) -> stage[e] = HELD }
    :: else ->
      if
      :: kind[e] == RENDEZVOUS ->
        d_step { share[T(e, k)].claimed = 0; share[T(e, k)].by_sender = 0; share[T(e, k)].by_receiver = 0; sent[e] = 0 }
        publish(e, RTS, RTS_SENT)
      :: else ->
        mailbox[T(e, k)].payload = source[e];
        publish(e, BOUNCED, LEFT)
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
  :: d_step { mailbox[T(e, k)].how == BOUNCED ->
      target[e].piece[0] = mailbox[T(e, k)].payload;
      target[e].piece[PIECES - 1] = mailbox[T(e, k)].payload;
      receipt[e] = TAKEN
    }
  :: d_step { mailbox[T(e, k)].how == DIRECT -> receipt[e] = TAKEN }
  :: mailbox[T(e, k)].how == RTS -> claim(e)
  fi
}

/* Everything that a poll of a channel may find to do. */
#define POLL(e)                                                                                                       \
  :: FROM(e) == self && stage[e] == HELD && BUFFER_FREE(e, k) -> put(e)                                               \
  :: FROM(e) == self && stage[e] == RTS_SENT && ready[e] >= k -> share_out(e)                                         \
  :: d_step { FROM(e) == self && (stage[e] == RTS_SENT || stage[e] == SHARING) &&                                     \
     share[T(e, k)].by_receiver + sent[e] == PIECES -> stage[e] = LEFT }                                              \
  :: TO(e) == self && receipt[e] == WAITING && mailbox[T(e, k)].flag == k -> take(e)                                  \
  :: TO(e) == self && receipt[e] == WAITING && mailbox[T(e, k)].flag > k -> assert(false) /* invariant 3 */           \
  :: d_step { TO(e) == self && receipt[e] == CLAIMED && received[e] + share[T(e, k)].by_sender == PIECES ->           \
     receipt[e] = TAKEN }

#define DONE(e) ((FROM(e) != self || stage[e] == LEFT) && (TO(e) != self || receipt[e] == TAKEN))
#if CHANNELS == 1
#define POLL_ALL POLL(0)
#define ALL_DONE DONE(0)
#elif CHANNELS == 2
#define POLL_ALL POLL(0) POLL(1)
#define ALL_DONE (DONE(0) && DONE(1))
#elif CHANNELS == 3
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
      :: e == CHANNELS -> break
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
    :: e == CHANNELS -> break
    :: else ->
      if
      :: TO(e) == self && (CREDIT(e) || kind[e] != IN_SLOT) -> ready[e] = k
      :: else
      fi;
      e++
    od;
    e = 0;
    do
    :: e == CHANNELS -> break
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
      :: e == CHANNELS -> break
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
    for (i : 0 .. CHANNELS - 1) {
#ifdef KIND
      kind[i] = KIND
#else
      if
      :: i != 0 && RANKS != 2 -> kind[i] = kind[0]
      :: i == 0 || RANKS == 2 -> kind[i] = IN_SLOT
      :: i == 0 || RANKS == 2 -> kind[i] = BOUNCE
      :: (i == 0 || RANKS == 2) && CHANNELS <= 2 -> kind[i] = RENDEZVOUS
      fi
#endif
    }
    for (i : 0 .. RANKS - 1) { run Rank(i) }
  }
}
