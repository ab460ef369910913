/* The commit and reveal phases of one hand with three seats, an equivocating server, and a court.
 *
 * README.md says what is modelled, what is left out and why that is sound. Numbers such as 3.4 or
 * 6.3 are steps of ../protocol.md.
 *
 *   PROPERTY 1  bound:    no reveal leaves before its author has seen every commitment of the log
 *                         that the reveal is bound to
 *   PROPERTY 2  one deck: two valid logs of one hand do not hold different commitments with the
 *                         reveal of one honest seat
 *   PROPERTY 3  clear:    no honest seat is named
 *
 * HONEST is how many of the three seats are honest (1 or 2); the adversary has the other seats' keys
 * and the server's. What is defined as 0 below are guards that a mutant leaves out: see run.sh.
 */
#ifndef PROPERTY
#define PROPERTY 3
#endif
#ifndef HONEST
#define HONEST 1
#endif
#ifndef GONE_MAX
#define GONE_MAX 1     /* seats that a live log replaces (a log in court: any) */
#endif
#ifndef HOUSES
#define HOUSES (PROPERTY == 3 -> 2 : 3)   /* commits that the house has to show; the third is for 1 and 2 */
#endif
#ifndef WITNESS
#define WITNESS 0      /* not 0: what must be reachable, so that the properties do not hold idly */
#endif

/* -- guards of the seat that a mutant leaves out -- */
#ifndef FORGETS        /* 3.4: a restart loses the store, and the seat speaks all the same */
#define FORGETS 0
#endif
#ifndef SENDS_FIRST    /* 3.4: sends before it stores */
#define SENDS_FIRST 0
#endif
#ifndef NO_HEAD        /* 3.3: takes a log that does not extend the head it had */
#define NO_HEAD 0
#endif
#ifndef NO_ONCE        /* 3.4: remembers by (type, seen) only, not "no second commit or reveal" */
#define NO_ONCE 0
#endif
#ifndef NO_HOUSE       /* 4.1: commits before the house has */
#define NO_HOUSE 0
#endif
#ifndef EARLY          /* 4.1: reveals when it has committed, before everybody has */
#define EARLY 0
#endif
#ifndef PREFIX         /* 4.1: reveals over the entry before the last commit */
#define PREFIX 0
#endif
#ifndef UNSIGNED       /* 3.3: takes entries without a signature, also in its own name */
#define UNSIGNED 0
#endif

/* -- guards of the verifier that a mutant leaves out -- */
#ifndef NO_SEEN        /* 6.2 to 6.4: a person's `seen` is not looked at */
#define NO_SEEN 0
#endif
#ifndef UNKNOWN_BLAMED /* 6.2: a `seen` that is not on this log is held against its author */
#define UNKNOWN_BLAMED 0
#endif
#ifndef BY_PLACE       /* 6.4: a message is judged where it stands, not where its author saw the log */
#define BY_PLACE 0
#endif
#ifndef REPEAT_BLAMED  /* 6.1: a message that stands twice is held against its author */
#define REPEAT_BLAMED 0
#endif
#ifndef NO_AUTHENTIC   /* 7.2.2: what is in a seat's name is its word */
#define NO_AUTHENTIC 0
#endif
#ifndef NO_ROOTED      /* 7.2.3: a `seen` may stand on a broken chain */
#define NO_ROOTED 0
#endif
#ifndef NO_ASTRAY      /* 6.3: a `seen` after the log went astray is judged like any other */
#define NO_ASTRAY 0
#endif

/* -- logs -----------------------------------------------------------------------------------------
 * An entry hash is ideal: it IS the log up to that entry, written as digits of base 32, the first
 * entry first. `open` is the empty log, 0. Entries of a log that an honest seat takes:
 */
#define BASE 5
#define HOUSE(v)  (1 + (v))             /* the house's commit. 0 and 2: one commitment at two times */
#define MADE(s,v) (4 + 4*(s) + (v))     /* a commit of seat s as the server's side makes it */
#define OWN(s,k)  (6 + 4*(s) + (k))     /* the k-th commit that the honest seat s has signed */
#define GONE(s)   (16 + (s))            /* replace of seat s */
#define IS_COMMIT(c) ((c) < 16)
#define SHUFFLER(c)  ((c) / 4)          /* of a commit: 0 the house, s + 1 seat s */
#define COMMITMENT(c) ((c) == HOUSE(2) -> HOUSE(0) : (c))
#define ALL 15                          /* the house and three seats have committed */
#define BIT(n) (1 << (n))
#define SEATS 3
#define NONE (-1)

#define THEN(log, entry) (((log) << BASE) | (entry))
#define LAST(log) ((log) & 31)
#define BEFORE(log) ((log) >> BASE)

/* Whether `log` is `prefix` or goes on from it, into `yes`. */
inline extends(log, prefix, yes) {
    x = log;
    do
    :: x > prefix -> x = BEFORE(x)
    :: else -> break
    od;
    yes = (x == prefix)
}

/* -- what honest seats have signed: the adversary knows all of it, for ever -------------------------
 * Message M(s, t, k) is the k-th commit (t 0) or reveal (t 1) of seat s; over[m] is its `seen`.
 * What it says besides is its number: a new seed each time, a new box each time.
 */
#define M(s,t,k) (4*(s) + 2*(t) + (k))
#define MESSAGES (4*HONEST)
#define SEAT_OF(m) ((m) / 4)
#define TYPE_OF(m) (((m) / 2) % 2)
#define TWIN_OF(m) ((m) - (m)%2 + 1 - (m)%2)
int over[MESSAGES] = NONE;

/* -- honest seats -----------------------------------------------------------------------------------*/
int view[HONEST];              /* the log as shown since the seat was started */
int start[HONEST] = NONE;      /* of it: up to the entry with which the house has committed */
byte said[HONEST];             /* of it: who has committed */
byte gone[HONEST];             /* of it: who was replaced */

int head[HONEST] = NONE;       /* the store: the head when the seat last signed */
int stored[2*HONEST] = NONE;   /* the store: its commit and its reveal, as numbers k */
int stored_over[2*HONEST] = NONE;

bool court;                    /* the hand is over; somebody composes logs and has them judged */
chan tell[HONEST] = [0] of { byte };   /* server to seat: the next entry */
#define RESTART 0

/* shared scratch: always 0 between steps */
int x, y; byte i, j, m, n, d; bool yes, fits, sent;

inline tidy() { x = 0; y = 0; i = 0; j = 0; m = 0; n = 0; d = 0; yes = 0; fits = 0; sent = 0 }

/* What of its own a seat may take in its own name (3.3): what it stored. */
#define STORED(me, t, k) (stored[2*(me) + (t)] == (k))

/* Take entry `e` if the live rules let it (3.3, 4.1); else stay as it was. */
inline receive(me, e) {
    fits = 0;
    if
    :: e < MADE(0,0) -> fits = !(said[me] & 1)
    :: e >= GONE(0) && e <= GONE(2) ->
       n = e - GONE(0);
       fits = (n != me && !(gone[me] & BIT(n)));
       i = 0; j = 0;                       /* few enough replaced */
       do
       :: i < SEATS -> j = j + ((gone[me] >> i) & 1); i++
       :: else -> break
       od;
       fits = (fits && j < GONE_MAX)
    :: else ->
       n = SHUFFLER(e) - 1;
       if
       :: said[me] & BIT(n + 1) -> skip
       :: gone[me] & BIT(n) -> fits = (e % 4 < 2)        /* the server commits for it, at any time */
       :: !(said[me] & 1) -> skip                        /* persons come after the house */
       :: else ->
          if
          :: n >= HONEST -> fits = (e % 4 < 2)
          :: e % 4 < 2 -> fits = UNSIGNED                /* nobody else can sign for it */
          :: n == me -> fits = (STORED(me, 0, e % 4 - 2) && over[M(n, 0, e % 4 - 2)] == start[me])
          :: else -> fits = (over[M(n, 0, e % 4 - 2)] == start[me])   /* exists, and over this log */
          fi
       fi
    fi;
    if
    :: fits && said[me] != ALL ->
       y = THEN(view[me], e);
       if
       :: !NO_HEAD && head[me] != NONE ->
          extends(y, head[me], fits);              /* goes on from it, or is fed again up to it */
          if
          :: !fits -> extends(head[me], y, fits)
          :: else -> skip
          fi
       :: else -> skip
       fi
    :: else -> fits = 0
    fi;
    if
    :: fits ->
       view[me] = y;
       if
       :: IS_COMMIT(e) -> said[me] = said[me] | BIT(SHUFFLER(e))
       :: else -> gone[me] = gone[me] | BIT(e - GONE(0))
       fi;
       if
       :: e < MADE(0,0) -> start[me] = y
       :: else -> skip
       fi
    :: else -> skip
    fi;
    tidy()
}

/* Whether seat `me` may now sign its commit (t 0) or reveal (t 1) over `seen`, into `fits`. */
inline may_sign(me, t, seen) {
    if
    :: NO_HEAD || head[me] == NONE -> fits = 1
    :: else -> extends(view[me], head[me], fits)         /* not shown less than it has seen */
    fi;
    if
    :: stored[2*me + t] == NONE -> skip
    :: NO_ONCE && stored_over[2*me + t] != seen -> skip
    :: else -> fits = 0                                  /* it sends again what it stored: no step */
    fi;
    fits = (fits && over[M(me, t, 1)] == NONE);          /* two of a type are enough to fail */
    /* By symmetry: the values that the first reveal of all is signed over are called 0. */
    x = (t == 1 -> seen : 0);
    i = 0;
    do
    :: i < HONEST && x > 0 ->
       x = (over[M(i, 1, 0)] == NONE -> x : 0);
       i++
    :: else -> break
    od;
    do
    :: x > 0 ->
       n = LAST(x);
       fits = (fits && n != HOUSE(2) && n != MADE(0, 1) && n != MADE(1, 1) && n != MADE(2, 1));
       x = BEFORE(x)
    :: else -> break
    od
}

/* Store, then send: one step, as a message that is stored and lost is one never made use of. */
inline sign(me, t, seen, keep) {
    k_[me] = (over[M(me, t, 0)] == NONE -> 0 : 1);
    over[M(me, t, k_[me])] = seen;
    if
    :: keep ->
       stored[2*me + t] = k_[me];
       stored_over[2*me + t] = seen;
       head[me] = view[me]
    :: else -> skip
    fi;
    k_[me] = 0
}
byte k_[HONEST];

/* Which shufflers' commits `log` holds, into `n`. */
inline committed(log) {
    x = log; n = 0;
    do
    :: x > 0 ->
       if
       :: IS_COMMIT(LAST(x)) -> n = n | BIT(SHUFFLER(LAST(x)))
       :: else -> skip
       fi;
       x = BEFORE(x)
    :: else -> break
    od
}

#define CAN_COMMIT(me) (!court && !(said[me] & BIT(me + 1)) && start[me] != NONE)
#define CAN_REVEAL(me) (!court && said[me] == ALL)

/* What must hold as soon as something is signed. */
inline said_now(me) {
    d_step {
        j = (over[M(me, 1, 1)] == NONE -> M(me, 1, 0) : M(me, 1, 1));
        if
        :: PROPERTY == 1 && sent && over[j] != NONE ->
           committed(over[j]);
           extends(view[me], over[j], yes);
           assert(n == ALL && (yes || view[me] == 0))
        :: else -> skip
        fi;
        /* 8.2: two commits, or two reveals, are a proof without any log */
        assert(PROPERTY != 3 || (over[M(me, 0, 1)] == NONE && over[M(me, 1, 1)] == NONE));
        tidy()
    }
}

proctype Seat(byte me) {
    byte e;
end:
    do
    :: atomic { tell[me] ? e ->
       if
       :: e == RESTART ->
          d_step {
              view[me] = 0; start[me] = NONE; said[me] = 0; gone[me] = 0;
              if
              :: FORGETS ->
                 head[me] = NONE; stored[2*me] = NONE; stored[2*me + 1] = NONE;
                 stored_over[2*me] = NONE; stored_over[2*me + 1] = NONE
              :: else -> skip
              fi
          }
       :: else -> d_step { receive(me, e) }
       fi;
       e = 0 }
    :: atomic { CAN_COMMIT(me) -> d_step { may_sign(me, 0, start[me]); sent = fits };
       if
       :: sent -> sign(me, 0, start[me], 1)
       :: sent && SENDS_FIRST -> sign(me, 0, start[me], 0); d_step { view[me] = 0; start[me] = NONE; said[me] = 0; gone[me] = 0 }
       :: !sent -> skip
       fi;
       said_now(me) }
    :: atomic { NO_HOUSE && !court && view[me] == 0 -> d_step { may_sign(me, 0, 0); sent = fits };
       if
       :: sent -> sign(me, 0, 0, 1)
       :: !sent -> skip
       fi;
       said_now(me) }
    :: atomic { CAN_REVEAL(me) -> d_step { may_sign(me, 1, view[me]); sent = fits };
       if
       :: sent && !PREFIX -> sign(me, 1, view[me], 1)
       :: sent && PREFIX -> sign(me, 1, BEFORE(view[me]), 1)
       :: !sent -> skip
       fi;
       said_now(me) }
    :: atomic { EARLY && !court && (said[me] & BIT(me + 1)) -> d_step { may_sign(me, 1, view[me]); sent = fits };
       if
       :: sent -> sign(me, 1, view[me], 1)
       :: !sent -> skip
       fi;
       said_now(me) }
    od
}

/* -- the court ----------------------------------------------------------------------------------------
 * The adversary composes a file entry by entry from all it knows; the verifier judges each as it
 * comes. For properties 1 and 2 only logs that can still become valid are followed.
 */
#define VALID_ONLY (PROPERTY != 3)
/* Seat 0 is judged. A second honest seat is in court like one of the adversary's, which may say there
 * what it said and anything else: that is more than it can be made to say. Seats 0 and 1 are alike. */
#define JUDGED 1
#define CLAIMS (4*JUDGED)
int path;                 /* the hash of the last entry; NONE: no honest `seen` is there or after it */
bool broken;              /* 7.2.1: the chain was broken, what comes now is not rooted */
byte jsaid, jgone, jrevealers, jrevealed;
bool ended, closed, astray;
byte pos[CLAIMS];       /* where its `seen` stands: 0 nowhere (yet), else */
#define RIGHT 1           /* where it was for that seat to say this */
#define WRONG 2           /* where it was not */
#define LATE 3            /* at or after what led the log astray */
bool unrooted[CLAIMS];  /* the `seen` stands on a broken chain */
bool due[CLAIMS];       /* the `seen` is what 4.1 asks for now */
bool put[CLAIMS];       /* it stands in this log already */
bool put_known[CLAIMS]; /* and its `seen` stood before it */
bool forged[2*JUDGED];    /* an unsigned commit or reveal in that seat's name stands in this log */
bool accused[JUDGED];     /* a finding would blame the author of a forged entry */
bool covers[JUDGED];      /* the seat has signed over a forged entry: now it is its word */
bool named;
bool cleared;             /* something deviates in an honest seat's message, and nobody is named */
byte held[4];             /* the commitments of this log, by shuffler */
byte first[4];            /* of the valid log before, and the honest seats that revealed in it */
byte first_revealed;
byte again;

/* Property 3: an honest seat has seen nothing of this log from here on, or its chain is broken. What
 * phase the log is in now can only matter to others, so it is forgotten: from then on every entry
 * may fit or not, and astray is forgotten too, which only ever clears somebody. */
#define LOST (!VALID_ONLY && (path == NONE || broken))
#define IN_REVEAL (jsaid == ALL && jrevealed != jrevealers)
#define IN_DEAL   (jsaid == ALL && jrevealed == jrevealers)
#define PERSON(s) (!(jgone & BIT(s)))

inline fits_commit(s) {
    fits = (!ended && !(jsaid & BIT(s + 1)) && ((jsaid & 1) || !PERSON(s)))
}
inline fits_reveal(s) {
    fits = (!ended && IN_REVEAL && PERSON(s) && (jrevealers & BIT(s)) && !(jrevealed & BIT(s)))
}

inline reachable_path() {
    i = 0; yes = 0;
    do
    :: i < CLAIMS && path != NONE && !yes ->
       if
       :: over[i] != NONE -> extends(over[i], path, yes)
       :: else -> skip
       fi;
       i++
    :: else -> break
    od;
    path = (yes -> path : NONE)
}

/* The next entry has digit `d`; 0: it is in no log that an honest seat takes. */
inline append() {
    if
    :: path != NONE && d != 0 -> path = THEN(path, d)
    :: else -> path = NONE
    fi;
    reachable_path()
}

/* After its effect. step: 0, or with this entry it is for persons to 1 commit, 2 reveal. */
inline settle(step) {
    m = 0;
    do
    :: m < CLAIMS ->
       if
       :: step != 0 -> due[m] = 0
       :: else -> skip
       fi;
       if
       :: over[m] != NONE && path == over[m] ->
          if
          :: pos[m] == 0 -> unrooted[m] = broken
          :: else -> astray = 1      /* one hash twice is one message twice: 6.1 */
          fi;
          if
          :: astray && !NO_ASTRAY -> pos[m] = LATE
          :: else ->
             n = SEAT_OF(m);
             if
             :: step == 1 && TYPE_OF(m) == 0 && PERSON(n) && !(jsaid & BIT(n + 1)) -> pos[m] = RIGHT
             :: step == 2 && TYPE_OF(m) == 1 && PERSON(n) && (jrevealers & BIT(n)) -> pos[m] = RIGHT
             :: else -> pos[m] = WRONG
             fi;
             due[m] = (step != 0)
          fi
       :: else -> skip
       fi;
       m++
    :: else -> break
    od
}

inline forget() {
    if
    :: LOST ->
       jsaid = 0; jrevealers = 0; jrevealed = 0; ended = 0; closed = 0; astray = 0;
       jgone = jgone & (BIT(JUDGED) - 1);
       m = 0;
       do :: m < CLAIMS -> due[m] = 0; m++ :: else -> break od
    :: else -> skip
    fi
}

inline take_commit(s, digit) {
    jsaid = jsaid | BIT(s + 1);
    if
    :: PERSON(s) -> jrevealers = jrevealers | BIT(s)
    :: else -> skip
    fi;
    held[s + 1] = (VALID_ONLY -> COMMITMENT(digit) : 0)
}

/* An entry of the server's side, or in a seat's name: judged, applied, its place in the file settled.
 * kind 0 house, 1 commit of seat s, 2 reveal of seat s, 3 replace of seat s, 4 end.
 * good: it saw what 4.1 asks for. applied: if it is not good, whether it takes effect where it fits. */
inline take(kind, s, digit, good, applied) {
    d_step {
        y = 0;
        if
        :: kind == 0 -> fits = (!ended && !(jsaid & 1) && jsaid != ALL)
        :: kind == 1 -> fits_commit(s)
        :: kind == 2 -> fits_reveal(s)
        :: kind == 3 -> fits = (!ended && PERSON(s))
        :: kind == 4 -> fits = !ended
        fi;
        fits = (LOST -> applied : fits);
        astray = (astray || !fits || !good);
        if
        :: fits && (good || applied) ->
           if
           :: kind == 0 -> jsaid = jsaid | 1; held[0] = (VALID_ONLY -> COMMITMENT(digit) : 0); y = 1
           :: kind == 1 -> take_commit(s, digit)
           :: kind == 2 -> jrevealed = jrevealed | BIT(s)
           :: kind == 3 -> jgone = jgone | BIT(s)
           :: kind == 4 ->
              closed = (IN_DEAL && digit == 0); ended = 1
           fi;
           if
           :: kind < 2 && jsaid == ALL -> y = 2
           :: else -> skip
           fi
        :: else -> skip
        fi;
        d = (good && kind != 4 -> digit : 0);
        append();
        settle(y);
        forget();
        tidy()
    }
}

/* An entry in the name of the honest seat s, a person in this log, that this seat did not sign. */
inline forge(t, s, v, good, applied) {
    d_step {
        yes = (put[M(s, t, 0)] || put[M(s, t, 1)]);
        if
        :: yes || !good -> accused[s] = 1              /* 6.3 or 7.1, if it were the seat's word */
        :: else -> skip
        fi;
        named = (named || (NO_AUTHENTIC && accused[s]) || (accused[s] && covers[s]));
        forged[2*s + t] = 1;
        sent = yes
    };
    take(1 + t, s, MADE(s, v)*(1 - t), (good && !sent), (applied && !sent))
}

/* Whether the log holds a commit in the name of seat s, a person then, that s did not sign. */
inline own_name(log, s) {
    x = log; j = 0;
    do
    :: x > 0 ->
       if
       :: LAST(x) == MADE(s, 0) || LAST(x) == MADE(s, 1) -> j = 1
       :: LAST(x) == GONE(s) -> j = 0
       :: else -> skip
       fi;
       x = BEFORE(x)
    :: else -> break
    od;
    covers[s] = (covers[s] || j == 1)
}

/* Message m, as the honest seat signed it. `clash`: a forged one of its type is beside it in 7.1. */
inline put_own(m_, clash, odd) {
    d_step {
        n = SEAT_OF(m_);
        y = 0;
        sent = 0;          /* whether 6.1 or 7.1 fails: then it takes no effect */
        yes = 1;           /* whether nothing deviates */
        if
        :: TYPE_OF(m_) == 0 -> fits_commit(n)
        :: else -> fits_reveal(n)
        fi;
        fits = (LOST -> odd : fits);
        if
        :: !PERSON(n) -> yes = !odd && fits        /* the key is the server's now: signature-invalid */
        :: PERSON(n) && put[m_] ->                 /* 6.1 */
           sent = 1; yes = 0;
           named = (named || REPEAT_BLAMED)
        :: PERSON(n) && !put[m_] && put[TWIN_OF(m_)] &&
           (over[m_] == over[TWIN_OF(m_)] || (pos[m_] != 0 && put_known[TWIN_OF(m_)])) ->   /* 7.1 */
           sent = 1; yes = 0;
           named = (named || over[m_] == over[TWIN_OF(m_)] || NO_ROOTED
                    || !(unrooted[m_] || unrooted[TWIN_OF(m_)]))
        :: PERSON(n) && !put[m_] && clash && forged[2*n + TYPE_OF(m_)] ->                   /* 7.1 */
           sent = 1; yes = 0;
           accused[n] = 1
        :: else ->
           if
           :: NO_SEEN -> yes = fits
           :: !NO_SEEN && pos[m_] == 0 ->          /* 6.2: it saw another log */
              yes = 0;
              named = (named || UNKNOWN_BLAMED)
           :: !NO_SEEN && pos[m_] == LATE -> yes = fits
           :: !NO_SEEN && pos[m_] == WRONG ->      /* 6.3 */
              yes = 0;
              named = (named || !unrooted[m_] || NO_ROOTED)
           :: !NO_SEEN && pos[m_] == RIGHT ->
              yes = (fits && due[m_]);             /* 6.4: blame the place */
              named = (named || (BY_PLACE && !yes))
           fi
        fi;
        astray = (astray || !yes);
        cleared = (WITNESS == 3 && (cleared || (PERSON(n) && !yes && !named)));
        if
        :: PERSON(n) ->
           if
           :: !put[m_] && !sent -> put[m_] = 1; put_known[m_] = (pos[m_] != 0)
           :: else -> skip
           fi;
           /* 3.2: it covers what is in its name up to its `seen` */
           if
           :: pos[m_] != 0 && !unrooted[m_] -> own_name(over[m_], n)
           :: else -> skip
           fi;
           named = (named || (accused[n] && (covers[n] || NO_AUTHENTIC)))
        :: else -> skip
        fi;
        if
        :: fits && !sent ->
           if
           :: TYPE_OF(m_) == 0 ->
              take_commit(n, OWN(n, m_ % 2));
              y = (jsaid == ALL -> 2 : 0)
           :: else -> jrevealed = jrevealed | BIT(n)
           fi
        :: else -> skip
        fi;
        d = (TYPE_OF(m_) == 0 -> OWN(n, m_ % 2) : 0);
        append();
        settle(y);
        forget();
        tidy()
    }
}

/* The chain is broken here: the next entry names another one before it, which may be anywhere. */
inline break_chain(log) {
    d_step {
        broken = 1; path = log;
        if
        :: path != NONE -> reachable_path()
        :: else -> skip
        fi;
        forget();
        tidy()
    }
}

inline new_log() {
    d_step {
        path = 0; broken = 0; jsaid = 0; jgone = 0; jrevealers = 0; jrevealed = 0;
        ended = 0; closed = 0; astray = 0;
        i = 0;
        do
        :: i < CLAIMS ->
           /* over `open` it is for nobody to say anything: the house comes first */
           pos[i] = (over[i] == 0 -> WRONG : 0);
           unrooted[i] = 0; due[i] = 0; put[i] = 0; put_known[i] = 0;
           i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < JUDGED ->
           forged[2*i] = 0; forged[2*i + 1] = 0; accused[i] = 0; covers[i] = 0;
           i++
        :: else -> break
        od;
        i = 0;
        do :: i < 4 -> held[i] = 0; i++ :: else -> break od;
        reachable_path();
        tidy()
    }
}

/* A log that verifies as valid: what must hold of it, alone and beside the one before. */
inline judge_valid() {
    d_step {
        n = 0; m = 0;
        do
        :: m < CLAIMS ->
           if
           :: TYPE_OF(m) == 1 && put[m] ->
              n = n | BIT(SEAT_OF(m));
              /* every commitment of this log was in the log that the seat had seen */
              x = over[m]; j = 0;
              do
              :: x > 0 ->
                 if
                 :: IS_COMMIT(LAST(x)) && held[SHUFFLER(LAST(x))] == COMMITMENT(LAST(x)) ->
                    j = j | BIT(SHUFFLER(LAST(x)))
                 :: else -> skip
                 fi;
                 x = BEFORE(x)
              :: else -> break
              od;
              assert(PROPERTY != 1 || j == ALL)
           :: else -> skip
           fi;
           m++
        :: else -> break
        od;
        yes = (held[0] == first[0] && held[1] == first[1] && held[2] == first[2] && held[3] == first[3]);
        assert(!(PROPERTY == 2 && again == 1 && (n & first_revealed) && !yes));
        assert(WITNESS != 1 || n != BIT(JUDGED) - 1);
        assert(WITNESS != 2 || !(again == 1 && first_revealed == BIT(JUDGED) - 1 && !yes));
        i = 0;
        do :: i < 4 -> first[i] = (again == 0 -> held[i] : 0); i++ :: else -> break od;
        first_revealed = (again == 0 -> n : 0);
        again++;
        tidy()
    }
}

/* Where no honest seat has seen anything of it, an entry of the server's side changes nothing. */
#define NOTED (VALID_ONLY || path != NONE)
#define ANY_SEAT(s) if :: s = 0 :: s = 1 :: s = 2 fi
/* An entry without a signature is in a valid log only if the seat has signed over it (5.1). */
#define FORGED(s) (s < JUDGED && PERSON(s) && (!VALID_ONLY || UNSIGNED))

proctype Adversary() {
    byte s, v, e; bool good, applied;

    /* live: show any seat any entry, as often as it likes; start seats again at any time */
live:
    do
    :: atomic { ANY_SEAT(s);
       if
       :: s < HONEST -> skip
       :: else -> s = 0
       fi;
       if
       :: v = 0 :: v = 1
       fi;
       if
       :: e = HOUSE(0) :: e = HOUSE(1)
       :: HOUSES > 2 -> e = HOUSE(2)
       :: e = MADE(0, v) :: e = MADE(1, v) :: e = MADE(2, v)
       :: e = OWN(0, v)
       :: HONEST == 2 -> e = OWN(1, v)
       :: e = GONE(0) :: e = GONE(1) :: e = GONE(2)
       :: view[s] != 0 -> e = RESTART
       fi;
       v = 0;
       tell[s] ! e; s = 0; e = 0 }
    :: court = 1; break
    od;
    skip;

    d_step {                       /* what the seats know does not matter any more */
        i = 0;
        do
        :: i < HONEST ->
           view[i] = 0; start[i] = NONE; said[i] = 0; gone[i] = 0; head[i] = NONE;
           stored[2*i] = NONE; stored[2*i + 1] = NONE;
           stored_over[2*i] = NONE; stored_over[2*i + 1] = NONE;
           i++
        :: else -> break
        od;
        i = CLAIMS;
        do :: i < MESSAGES -> over[i] = NONE; i++ :: else -> break od;
        tidy()
    };

judge:
    skip; new_log();
    do
    :: atomic { !closed || !VALID_ONLY ->
       ANY_SEAT(s);
       if
       :: good = 1; applied = 1
       :: !VALID_ONLY && LOST -> good = 1; applied = 0
       :: !VALID_ONLY -> good = 0; applied = 1
       :: !VALID_ONLY -> good = 0; applied = 0
       fi;
       if
       :: s == 0 && NOTED ->
          if
          :: take(0, 0, HOUSE(0), good, applied)
          :: good -> take(0, 0, HOUSE(1), good, applied)
          :: good && HOUSES > 2 -> take(0, 0, HOUSE(2), good, applied)
          :: take(4, 0, 0, good, applied)
          :: !VALID_ONLY && good -> take(4, 0, 1, good, applied)           /* void */
          fi
       :: NOTED && (s >= JUDGED || !PERSON(s)) ->
          if
          :: take(1, s, MADE(s, 0), good, applied)
          :: good -> take(1, s, MADE(s, 1), good, applied)
          :: good && s < HONEST && s >= JUDGED && PERSON(s) -> take(1, s, OWN(s, 0), good, applied)
          :: take(2, s, 0, good, applied)
          fi
       :: s < JUDGED || NOTED -> take(3, s, GONE(s), good, applied)
       :: FORGED(s) ->
          if
          :: forge(0, s, 0, good, applied)
          :: good -> forge(0, s, 1, good, applied)
          :: forge(1, s, 0, good, applied)
          fi
       :: s < JUDGED && over[M(s, 0, 0)] != NONE -> put_own(M(s, 0, 0), good, applied)
       :: s < JUDGED && over[M(s, 0, 1)] != NONE -> put_own(M(s, 0, 1), good, applied)
       :: s < JUDGED && over[M(s, 1, 0)] != NONE -> put_own(M(s, 1, 0), good, applied)
       :: s < JUDGED && over[M(s, 1, 1)] != NONE -> put_own(M(s, 1, 1), good, applied)
       :: !VALID_ONLY && s == 0 && good && applied -> break_chain(NONE)
       :: !VALID_ONLY && s < JUDGED && !good && over[M(s, applied, 0)] != NONE ->
          e = 0;                   /* as if some log that the seat has signed over stood here */
          do
          :: over[M(s, applied, 0)] >> (BASE*(e + 1)) > 0 -> e++
          :: break
          od;
          skip;
          break_chain((over[M(s, applied, 0)] >> BASE) >> (BASE*e));
          e = 0
       :: else -> skip
       fi;
       s = 0; good = 0; applied = 0;
       assert(PROPERTY != 3 || !named);
       assert(WITNESS != 3 || !cleared);
       if
       :: VALID_ONLY && astray -> goto done
       :: else -> skip
       fi }
    :: atomic { VALID_ONLY && closed ->
       /* 5.1: what is in a seat's name is covered, or carries its signature */
       d_step {
           i = 0; yes = 1;
           do
           :: i < JUDGED -> yes = (yes && !forged[2*i + 1] && (!forged[2*i] || covers[i])); i++
           :: else -> break
           od;
           sent = yes
       };
       if
       :: sent -> judge_valid()
       :: !sent -> goto done
       fi;
       if
       :: PROPERTY == 2 && again == 1 && (first_revealed || WITNESS == 2) -> goto judge
       :: else -> goto done
       fi }
    od;
done:
    skip;
    d_step {                       /* one last state */
        i = 0;
        do :: i < CLAIMS -> over[i] = NONE; i++ :: else -> break od;
        i = 0;
        do :: i < 4 -> first[i] = 0; i++ :: else -> break od;
        first_revealed = 0; again = 0; named = 0; cleared = 0
    };
    new_log()
}

init {
    atomic {
        run Seat(0);
        if
        :: HONEST == 2 -> run Seat(1)
        :: else -> skip
        fi;
        run Adversary()
    }
}
