/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in pieces over several lanes (src/transport/stripes/stripes.hpp) and their relay (carry() in src/lanes/ways.hpp), for the
   model checker spin: every interleaving of some messages of a sender to a site leader, which hands each on to
   a receiver of its own site while the next comes. test_relay_model.py runs it. To be defined:

     LANES, LOSSES      how many lanes, 2 or 3, and how often one is lost
     MESSAGES, PIECES   how many, and of how many pieces each; 8 pieces in all at most
     PUSH               pieces of a message that go before its receive is there
     KEPT               pieces of which a send that is finished may have a copy
     INBOX              messages that the site leader has room for
     TELL_AGAIN         1; 0: lane_go is told once, though it may be lost with its lane, which must be caught
     DIVERT             1; 0: a piece whose twin has come goes on into the buffer, which must be caught
     KEEP               1; 0: a send is finished without a copy of what is not acknowledged, which must be caught
     WAIT_FOR_ROOM      1; 0: the site leader receives into room of what it is still handing on, which must be caught
     ANSWER             1; 0: who has all reads nothing any more, though what was lost comes again, which must be caught

   Each statement is one step for all, as under the lock of the lanes. A lane is lost in two ways: it breaks, perhaps with a
   piece half way, and the sender learns of it later; or the sender gives it up, and what it had goes on coming until the
   receiving end learns of it. Then it is made anew. One other lane works whenever one is lost. Nothing moves for ever, so
   a run that ends has brought all, and one that cannot is a deadlock. */

#define ROOM 2 /* pieces of a lane that are under way */
#define NONE 255

#define ALL (MESSAGES * PIECES)
#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define OF(m) ((BIT(PIECES) - 1) << ((m) * PIECES)) /* all pieces of a message */
#define MESSAGE(x) ((x) / PIECES)
#if MESSAGES == 1
#define ANY(is) is(0)
#elif MESSAGES == 2
#define ANY(is) (is(0) || is(1))
#else
#define ANY(is) (is(0) || is(1) || is(2))
#endif

/* Buffers have the number of their message in the place of each piece, or one half of a piece, or something else before
   and after. */
#define NUMBER(m) (1 + (m))
#define HALF 254
#define ELSE 0

/* --- a lane: its two ends, and what is on its way ------------------------------------------------------------------ */

bool open_out[LANES] = true, open_in[LANES] = true;
chan wire[LANES] = [ROOM] of { byte, byte }; /* piece, what it brings */
byte acks[LANES];    /* on their way back */
byte told_go[LANES]; /* the receives of these messages are there */
byte losses;

#define UP(l) (open_out[l] && open_in[l])
#define MAY_BE_LOST(l) (UP(l) && losses < LOSSES && (UP(((l) + 1) % LANES) || UP(((l) + LANES - 1) % LANES)))

/* --- the sender ---------------------------------------------------------------------------------------------------- */

byte source[MESSAGES]; /* the program's; it uses them for something else once the send is finished */
byte kept[MESSAGES];
byte next[MESSAGES];   /* the pieces before it have been given to lanes */
byte queued[MESSAGES]; /* pieces that a lane has and the kernel has not */
byte again, unacked;   /* sets of pieces */
byte go, finished;     /* sets of messages */

#define MORE(m) (next[m] < PIECES || (again & OF(m)) != 0)
#define READY(m) ((again & OF(m)) != 0 || (next[m] < PIECES && (next[m] < PUSH || HAS(go, m))))
#define SETTLED (finished == BIT(MESSAGES) - 1 && again == 0 && unacked == 0)

/* Nobody need wait for a message that the kernel has, if it can be sent again. */
inline finish(m) {
  i = 0;
  do
  :: i < PIECES && !HAS(unacked, m * PIECES + i) -> i++
  :: else -> break
  od;
  if
  :: !HAS(finished, m) && !MORE(m) && queued[m] == 0 && PIECES - i <= KEPT ->
    kept[m] = (KEEP -> source[m] : ELSE);
    source[m] = ELSE;
    finished = finished | BIT(m)
  :: else
  fi;
  i = 0
}

/* What the lane had and is not acknowledged goes over others. */
inline lose_out() {
  do
  :: nempty(under_way) -> under_way?x; unacked = unacked & ~BIT(x); again = again | BIT(x)
  :: empty(under_way) -> break
  od;
  if
  :: busy != NONE -> queued[MESSAGE(busy)]--; busy = NONE
  :: else
  fi;
  open_out[l] = false;
  x = 0
}

/* The sending end of a lane. */
proctype Out(byte l) {
  chan under_way = [ROOM] of { byte }; /* given and not acknowledged */
  byte busy = NONE;                    /* the piece that is not all in the kernel */
  byte m, x, i;
  do
  :: d_step { open_out[l] && busy == NONE && nfull(under_way) && ANY(READY) ->
      do
      :: READY(m) -> break
      :: else -> m++
      od;
      x = m * PIECES;
      if
      :: (again & OF(m)) != 0 ->
        do
        :: HAS(again, x) -> break
        :: else -> x++
        od;
        again = again & ~BIT(x)
      :: else -> x = x + next[m]; next[m]++
      fi;
      unacked = unacked | BIT(x);
      queued[m]++;
      busy = x;
      under_way!x;
      m = 0;
      x = 0
    }
  :: d_step { UP(l) && busy != NONE && nfull(wire[l]) ->
      m = MESSAGE(busy);
      wire[l]!busy, (HAS(finished, m) -> kept[m] : source[m]);
      busy = NONE;
      queued[m]--;
      finish(m);
      m = 0
    }
  :: d_step { open_out[l] && acks[l] != 0 ->
      acks[l]--;
      under_way?x;
      unacked = unacked & ~BIT(x);
      m = MESSAGE(x);
      finish(m);
      m = 0;
      x = 0
    }
  :: d_step { open_out[l] && told_go[l] != 0 -> go = go | told_go[l]; told_go[l] = 0 }
  :: d_step { MAY_BE_LOST(l) -> losses++; lose_out() } /* it is given up */
  :: d_step { open_out[l] && !open_in[l] -> lose_out() } /* it has broken */
  :: d_step { !open_out[l] && !open_in[l] -> /* it is made anew */
      acks[l] = 0;
      told_go[l] = 0;
      open_out[l] = true;
      open_in[l] = true
    }
  :: SETTLED -> break
  od
}

/* --- the site leader ---------------------------------------------------------------------------------------------- */

byte room[INBOX * PIECES];
#define PLACE(x) room[(MESSAGE(x) % INBOX) * PIECES + (x) % PIECES]

byte posted, over;   /* sets of messages: the receive is there; all has come and the buffer is the schedule's again */
byte count[MESSAGES]; /* pieces that have come */
byte come;            /* set of pieces */
byte said_go;         /* set of messages: lane_go has gone */
byte unexpected[ALL]; /* what has come before its receive */

mtype = {PLACED, ASIDE, AWAY};
mtype where[LANES] = PLACED; /* the piece that is coming in goes into its place, to memory of the lane's, nowhere */
byte coming[LANES] = NONE;

#define TO_TELL(m) (PIECES > PUSH && HAS(posted & ~over & ~said_go, m) && (come & OF(m)) != 0)

inline conclude(m) {
  if
  :: count[m] == PIECES -> assert(!HAS(over, m)); over = over | BIT(m); said_go = said_go & ~BIT(m)
  :: else
  fi
}

inline lose_in() {
  do
  :: nempty(wire[l]) -> wire[l]?x, brings
  :: empty(wire[l]) -> break
  od;
  coming[l] = NONE;
  where[l] = PLACED;
  open_in[l] = false;
  said_go = (TELL_AGAIN -> 0 : said_go);
  x = 0;
  brings = 0
}

/* The receiving end of a lane. */
proctype In(byte l) {
  byte m, x, brings, i;
  do
  :: d_step { open_in[l] && coming[l] == NONE && nempty(wire[l]) -> /* its head and one half */
      wire[l]?x, brings;
      coming[l] = x;
      if
      :: HAS(over, MESSAGE(x)) || HAS(come, x) -> where[l] = AWAY
      :: else ->
        if
        :: HAS(posted, MESSAGE(x)) -> where[l] = PLACED; PLACE(x) = HALF
        :: else -> where[l] = ASIDE
        fi
      fi;
      x = 0
    }
  :: d_step { open_in[l] && coming[l] != NONE -> /* the rest */
      x = coming[l];
      m = MESSAGE(x);
      coming[l] = NONE;
      acks[l]++;
      if
      :: where[l] == PLACED -> assert(!HAS(over, m)); PLACE(x) = brings
      :: where[l] == ASIDE && HAS(posted, m) -> PLACE(x) = brings
      :: where[l] == ASIDE && !HAS(posted, m) -> unexpected[x] = brings
      :: else
      fi;
      if
      :: where[l] != AWAY ->
        come = come | BIT(x);
        count[m]++;
        do
        :: i < LANES && coming[i] == x && DIVERT -> where[i] = AWAY; i++
        :: i < LANES && !(coming[i] == x && DIVERT) -> i++
        :: else -> break
        od;
        i = 0;
        conclude(m)
      :: else
      fi;
      where[l] = PLACED;
      m = 0;
      x = 0;
      brings = 0
    }
  :: d_step { open_in[l] && ANY(TO_TELL) ->
      do
      :: TO_TELL(m) -> break
      :: else -> m++
      od;
      said_go = said_go | BIT(m);
      told_go[l] = told_go[l] | BIT(m);
      m = 0
    }
  :: d_step { MAY_BE_LOST(l) -> losses++; lose_in() } /* it breaks */
  :: d_step { open_in[l] && !open_out[l] -> lose_in() } /* it was given up */
  :: SETTLED || (!ANSWER && over == BIT(MESSAGES) - 1) -> break
  od
}

/* --- the relay ----------------------------------------------------------------------------------------------------- */

byte handed; /* messages that the receiver has */

/* A receive is there as soon as there is room for it. */
proctype Leader() {
  byte m, x;
  do
  :: m == MESSAGES -> break
  :: d_step { m < MESSAGES && (m < INBOX || handed + INBOX > m || (!WAIT_FOR_ROOM && HAS(over, m - INBOX))) ->
      posted = posted | BIT(m);
      x = m * PIECES;
      do
      :: x == (m + 1) * PIECES -> break
      :: else ->
        PLACE(x) = (HAS(come, x) -> unexpected[x] : ELSE);
        unexpected[x] = 0;
        x++
      od;
      x = 0;
      conclude(m);
      m++
    }
  od
}

/* Messages come in their order, each piece by piece. */
proctype Receiver() {
  byte x;
  do
  :: x == ALL -> break
  :: d_step { x < ALL && HAS(over, MESSAGE(x)) ->
      assert(PLACE(x) == NUMBER(MESSAGE(x)));
      x++;
      handed = MESSAGE(x)
    }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. MESSAGES - 1) { source[i] = NUMBER(i) }
    for (i : 0 .. LANES - 1) { run Out(i); run In(i) }
    run Leader();
    run Receiver()
  }
}
