/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol of a matched persistent pair (src/p2p/pair.hpp) for the model checker spin: every interleaving of some
   messages of one sender to one receiver. test_pair_model.py runs the model and defines these macros:

     SENDS, RECEIVES   number of sends and of receives
     EMPTY_INBOX       1; 0: a closed pair's puts do not wait for the messages in the inbox, which must be caught
     OLDER_FIRST       1; 0: an arriving message does not wait for older puts, which must be caught

   The model has no memory order: each statement is one step for all processes. A message is known by its number. The
   sender chooses each time between its persistent send (tag 1), another send with tag 1, and one with tag 2. The receiver
   chooses between its persistent receive, another receive with tag 1, and one with any tag. Either may start the next
   operation before the last has completed. */

#define ENTRIES 2
#define ANY 0

byte tag[SENDS + 1]; /* of message i; 0: not sent yet */
bool taken[SENDS + 1];
chan inbox = [SENDS] of { byte, bool }; /* number, and does it ask for a pair? */
byte pushed;                          /* messages ever pushed into the inbox: its tail */

mtype = {NONE, WAITING, ACCEPTED, CLOSED, ENDED};
mtype state = NONE;
byte ended; /* number of puts + 1 */
byte told;  /* number of puts taken, as the receiver has told the sender */
typedef Entry { byte flag; byte message } /* the sequence flag of a put, and the put's message */
Entry ring[ENTRIES];

byte pattern[RECEIVES + 1];  /* ANY, or a tag */
bool posted[RECEIVES + 1];   /* in the queue of posted receives */
bool started[RECEIVES + 1];  /* also those of the pair */
bool over[RECEIVES + 1];

#define FITS(r, m) (pattern[r] == ANY || pattern[r] == tag[m])

proctype Sender() {
  byte i = 1, put;
  bool paired, asked;
  mtype seen;
  do
  :: i > SENDS -> break
  :: else ->
    if
    :: /* the persistent one */
      seen = state;
      if
      :: seen == ACCEPTED && put - told < ENTRIES ->
        skip; /* the receiver may close it in between */
        d_step {
          tag[i] = 1;
          put++;
          ring[put % ENTRIES].message = i;
          ring[put % ENTRIES].flag = put
        }
      :: else ->
        if
        :: seen == ACCEPTED || seen == CLOSED || seen == WAITING ->
          d_step { seen = state; state = ENDED }
          if
          :: seen == ACCEPTED || seen == CLOSED -> ended = put + 1
          :: else
          fi
        :: else
        fi;
        if
        :: !asked && seen == NONE ->
          asked = true;
          state = WAITING;
          d_step { tag[i] = 1; pushed++; inbox!i, true }
        :: d_step { tag[i] = 1; pushed++; inbox!i, false }
        fi
      fi
    :: /* another with its tag */
      if
      :: state == ACCEPTED || state == CLOSED || state == WAITING ->
        d_step { seen = state; state = ENDED }
        if
        :: seen == ACCEPTED || seen == CLOSED -> ended = put + 1
        :: else
        fi
      :: else
      fi;
      d_step { tag[i] = 1; pushed++; inbox!i, false }
    :: d_step { tag[i] = 2; pushed++; inbox!i, false }
    fi;
    i++
  od
}

/* The receiver's. */
local byte queue[SENDS + 1]; /* unexpected messages */
local byte queued;
local byte popped;
local byte own_taken, sighted; /* puts */
local bool open, closed;
local byte waits; /* the start of the pair's receive that is not over; 0: none */
local byte owner; /* the last start of the persistent receive by matching; 0: it was not the last that matched */

/* Message m goes to receive r: no receive before it could take it, and no older message could go there. */
inline give(r, m) {
  d_step {
    j = 1;
    do
    :: j == r -> break
    :: else -> assert(!started[j] || over[j] || !FITS(j, m)); j++
    od;
    j = 1;
    do
    :: j == m -> break
    :: else -> assert(taken[j] || !FITS(r, j)); j++
    od;
    assert(!taken[m]);
    taken[m] = true;
    over[r] = true;
    posted[r] = false;
    j = 0
  }
}

/* Message m is matched; r becomes its receive, or 0: it is unexpected now. Put before the first that is younger. */
inline match(m) {
  d_step {
    r = 1;
    do
    :: r > RECEIVES -> r = 0; break
    :: r <= RECEIVES && posted[r] && FITS(r, m) -> break
    :: else -> r++
    od;
    if
    :: r == 0 ->
      j = queued;
      do
      :: j > 0 && queue[j - 1] > m -> queue[j] = queue[j - 1]; j--
      :: else -> break
      od;
      queue[j] = m;
      queued++;
      j = 0
    :: else
    fi
  }
  if
  :: r != 0 -> give(r, m)
  :: else
  fi
}

inline close_pair() {
  d_step {
    if
    :: state == ACCEPTED -> state = CLOSED
    :: else
    fi;
    open = false;
    closed = true;
    if
    :: waits != 0 -> posted[waits] = true; waits = 0
    :: else
    fi
  }
}

#define NEXT ring[(own_taken + 1) % ENTRIES]

inline hand_over() {
  m = NEXT.message;
  match(m);
  d_step { own_taken++; told = own_taken; m = 0 }
}

/* The oldest message of the inbox. */
inline arrive() {
  d_step { inbox?n, asks; popped++ }
  if
  :: open && tag[n] == 1 -> close_pair()
  :: else
  fi;
  do
  :: OLDER_FIRST && closed && NEXT.flag == own_taken + 1 && NEXT.message < n -> hand_over()
  :: else -> break
  od;
  skip; /* a break must not lead into a d_step */
  match(n);
  /* a persistent receive has taken it, and nothing else could have, nor could it take anything else */
  d_step {
    if
    :: asks && r != 0 && persistent[r] ->
      alone = true;
      j = 1;
      do
      :: j > RECEIVES -> break
      :: else -> alone = alone && !(posted[j] && pattern[j] != 2); j++
      od;
      j = 0;
      do
      :: j == queued -> break
      :: else -> alone = alone && tag[queue[j]] != 1; j++
      od;
      if
      :: alone && state == WAITING -> state = ACCEPTED; open = true
      :: else
      fi;
      alone = false
    :: else
    fi;
    j = 0;
    r = 0;
    n = 0;
    asks = false
  }
}

/* What is in the ring goes to its place. */
inline settle() {
  do
  :: d_step { closed && NEXT.flag == own_taken + 1 ->
      sighted = own_taken + 1;
      if
      :: ring[(own_taken + 2) % ENTRIES].flag == own_taken + 2 -> sighted++
      :: else
      fi
    }
    tail = pushed;
    do
    :: EMPTY_INBOX && popped < tail -> arrive()
    :: else -> break
    od;
    do
    :: own_taken < sighted -> hand_over()
    :: else -> break
    od;
    tail = 0
  :: else -> break
  od
}

proctype Receiver() {
  byte p = 1, j, r, m, n, tail;
  bool asks, alone, all;
  bool persistent[RECEIVES + 1];
  do
  :: p <= RECEIVES ->
    if
    :: atomic { pattern[p] = 1; persistent[p] = true }
    :: pattern[p] = 1
    :: pattern[p] = ANY
    fi;
    /* one request is started only when its last start is over */
    all = true;
    d_step {
      j = 1;
      do
      :: j == p -> break
      :: else -> all = all && !(persistent[p] && persistent[j] && !over[j]); j++
      od;
      j = 0
    }
    if
    :: !all -> persistent[p] = false
    :: else
    fi;
    if
    :: persistent[p] && open -> atomic { started[p] = true; waits = p }
    :: else ->
      if
      :: open -> close_pair()
      :: else
      fi;
      settle();
      skip;
      d_step {
        started[p] = true;
        r = 0;
        do
        :: r == queued -> break
        :: r < queued && FITS(p, queue[r]) -> break
        :: else -> r++
        od;
        if
        :: r < queued ->
          m = queue[r];
          do
          :: r + 1 == queued -> break
          :: else -> queue[r] = queue[r + 1]; r++
          od;
          queued--;
          queue[queued] = 0
        :: else -> posted[p] = true
        fi;
        r = 0
      }
      if
      :: m != 0 -> give(p, m); m = 0
      :: else
      fi
    fi;
    p++
  :: nempty(inbox) -> arrive()
  :: waits != 0 && NEXT.flag == own_taken + 1 ->
    m = NEXT.message;
    r = waits;
    waits = 0;
    give(r, m);
    d_step { own_taken++; told = own_taken; m = 0; r = 0 }
  :: closed && NEXT.flag == own_taken + 1 -> settle()
  :: d_step { closed && ended == own_taken + 1 -> closed = false }
  :: timeout ->
    /* Nothing moves: whatever could meet has met. */
    d_step {
      j = 1;
      do
      :: j > SENDS -> break
      :: else ->
        r = 1;
        do
        :: r > RECEIVES -> break
        :: else -> assert(taken[j] || over[r] || !FITS(r, j)); r++
        od;
        j++
      od
    }
    break
  od
}

init { atomic { run Sender(); run Receiver() } }
