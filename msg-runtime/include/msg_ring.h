/* The two files of a ring, for programs in other languages: what lies where, and what the words mean.
 *
 * The rules by which the words are read and written are those of `shm/ring.rs`; the offsets that depend on the number of
 * slots are computed as in `shm/layout.rs`. All numbers are in the machine's own byte order. A test of `shm/layout.rs`
 * compiles this page and compares every figure with the Rust code's.
 *
 * Every word that others may write meanwhile is read and written as an atomic. */
#ifndef MSG_RING_H
#define MSG_RING_H

#include <stdint.h>

#define MSG_RING_VERSION 3
#define MSG_RING_MAX_PER_KIND 64
#define MSG_RING_PARTICIPANTS 128
#define MSG_RING_HOLDS 8
/* entry: (sequence + 1) << 10 | slot; 0 = never used, all ones = sealed */
#define MSG_RING_SLOT_BITS 10

/* The head of the data file; the topic, the type's name and its schema follow it. */
struct msg_ring_data_header {
    uint8_t magic[8]; /* "msg.ring" */
    uint32_t version;
    uint32_t checksum; /* CRC-32 of everything behind it, texts included */
    uint8_t segment[16];
    uint64_t header_bytes;
    uint64_t file_bytes;
    uint32_t slots;
    uint32_t entries;
    uint64_t slot_bytes;
    uint64_t fingerprint;
    uint64_t created;
    uint32_t creator_pid;
    uint32_t topic_bytes;
    uint32_t type_bytes;
    uint32_t schema_bytes;
    uint64_t evict;
    uint64_t reserved[3];
};

/* What goes with the message in a slot. */
struct msg_ring_slot_record {
    uint64_t offset;
    uint64_t len;
    uint64_t publisher;
    uint64_t sent;
    uint64_t header_byte;
    uint64_t origin; /* 0, or the number + 1 that it had with `publisher`, from where a bridge brought it */
    uint64_t unused[2];
};

struct msg_ring_publisher_record {
    uint64_t id;
    uint64_t sent;
    uint64_t bytes;
    uint64_t full;
    uint64_t unused[12];
};

/* A subscriber's words. */
struct msg_ring_reader_record {
    uint64_t cursor;
    uint64_t reading;
    uint64_t holds[MSG_RING_HOLDS];
    uint64_t unused[6];
    uint64_t received;
    uint64_t bytes;
    uint64_t lost;
    uint64_t unused_statistics[13];
};

struct msg_ring_process_record {
    uint32_t pid;
    uint32_t namespaces;
    uint64_t started;
};

/* The readers file. */
struct msg_ring_readers {
    uint8_t magic[8];
    uint32_t version;
    uint32_t unused_version;
    uint8_t segment[16];
    uint64_t unused_head[12];
    uint32_t wake;
    uint32_t unused_wake[31];
    uint32_t space;
    uint32_t unused_space[31];
    uint64_t pinners;
    uint32_t named;
    uint32_t closed;
    uint64_t unused_flags[14];
    uint64_t states[MSG_RING_PARTICIPANTS];
    uint64_t looked; /* when a publisher that waits last looked for the dead, by CLOCK_MONOTONIC */
    uint64_t unused_states[63];
    struct msg_ring_reader_record records[MSG_RING_MAX_PER_KIND];
    struct msg_ring_process_record processes[MSG_RING_PARTICIPANTS];
};

#endif
